// SPDX-License-Identifier: Apache-2.0
#include "service/memory/memory_query.h"

#include <gtest/gtest.h>

#include "device/memory.h"
#include "device/runtime.h"
#include "device/virtual_memory.h"

namespace anynpu::service {
namespace {

struct MemoryQuery : testing::Test {
  void SetUp() override { ASSERT_TRUE(device::Runtime::instance().set_device(0).ok()); }
  void TearDown() override {
    EXPECT_TRUE(
        device::Runtime::instance().reset_device(0, device::Runtime::Reset::count_down).ok());
  }
  static uint8_t* allocate(size_t bytes) {
    const auto owner = device::Runtime::instance().device(0).value();
    return static_cast<uint8_t*>(device::allocate_device(*owner, bytes, {}).value());
  }
};

TEST_F(MemoryQuery, AnInteriorAddressFindsItsBlock) {
  uint8_t* block = allocate(1000);
  const MemoryBlock found = memory_block(block + 999).value();
  EXPECT_EQ(found.base, block);
  EXPECT_GE(found.bytes, 1000u);
  int own = 0;
  EXPECT_EQ(memory_block(&own).status().code(), Code::invalid_address);
  EXPECT_TRUE(free_device_after_work(block).ok());
  EXPECT_EQ(memory_block(block).status().code(), Code::invalid_address);
  EXPECT_EQ(free_device_after_work(nullptr).code(), Code::invalid_address);
  void* host = device::allocate_host(10).value();
  EXPECT_EQ(memory_block(host)->base, host);
  EXPECT_TRUE(free_host_after_work(host).ok());
}

TEST_F(MemoryQuery, UsersComeLargestFirst) {
  uint8_t* block = allocate(size_t{8} << 20);
  const auto users = memory_users(0).value();
  ASSERT_EQ(users.size(), 2u);
  EXPECT_GE(users[0].bytes, users[1].bytes);
  EXPECT_EQ(users[0].name, "APP");
  EXPECT_GE(users[0].bytes, size_t{8} << 20);
  EXPECT_GE(users[0].peak, users[0].bytes);
  EXPECT_EQ(memory_users(99).status().code(), Code::invalid_device);
  EXPECT_TRUE(device::free_device(block).ok());
}

TEST_F(MemoryQuery, TypesAreThoseOfAllAddresses) {
  uint8_t* block = allocate(64);
  void* reserved = device::reserve_addresses(4096, 0, nullptr).value();
  int own = 0;
  void* const device_only[] = {block, block + 5};
  void* const mixed[] = {block, reserved};
  void* const host[] = {&own};
  EXPECT_TRUE(*are_of_types(device_only, kDeviceMemory));
  EXPECT_FALSE(*are_of_types(mixed, kDeviceMemory));
  EXPECT_TRUE(*are_of_types(mixed, kDeviceMemory | kReservedMemory));
  EXPECT_FALSE(*are_of_types(host, kDeviceMemory));
  EXPECT_EQ(are_of_types(host, 1).status().code(), Code::invalid_argument);
  EXPECT_TRUE(*reaches_host_memory(0, 2));
  EXPECT_FALSE(*reaches_host_memory(0, 5));
  EXPECT_EQ(reaches_host_memory(0, 10).status().code(), Code::invalid_argument);
  EXPECT_TRUE(device::release_addresses(reserved).ok());
  EXPECT_TRUE(device::free_device(block).ok());
}

}  // namespace
}  // namespace anynpu::service
