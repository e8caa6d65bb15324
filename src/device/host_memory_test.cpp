// SPDX-License-Identifier: Apache-2.0
#include "device/host_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>
#include <vector>

#include "device/cpu/cpu_device.h"

namespace anynpu::device {
namespace {

TEST(HostMemory, RegisteredMemoryHasADevicePointerUntilUnregistered) {
  std::vector<uint8_t> memory(1000);
  EXPECT_EQ(device_pointer(memory.data()).status().code(), Code::not_registered);
  EXPECT_EQ(*register_host(memory.data(), 1000, Access::write), memory.data());
  EXPECT_EQ(*device_pointer(memory.data() + 10), memory.data() + 10);
  EXPECT_EQ(register_host(memory.data(), 1000, Access::write).status().code(),
            Code::already_registered);
  EXPECT_EQ(register_host(memory.data() + 5, 5, Access::write).status().code(),
            Code::already_registered);
  EXPECT_EQ(describe_pointer(memory.data() + 1).owner, PointerInfo::Owner::host);
  EXPECT_EQ(unregister_host(memory.data() + 1).code(), Code::not_registered);
  EXPECT_TRUE(unregister_host(memory.data()).ok());
  EXPECT_EQ(unregister_host(memory.data()).code(), Code::not_registered);
  EXPECT_EQ(describe_pointer(memory.data()).owner, PointerInfo::Owner::unknown);
}

TEST(HostMemory, MemoryThatWentAwayWhileRegisteredDoesNotCrashCopies) {
  void* page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_TRUE(register_host(page, 4096, Access::write).ok());
  uint8_t byte = 1;
  EXPECT_TRUE(copy({page, 1, &byte, 1, CopyKind::by_address}).ok());
  munmap(page, 4096);
  EXPECT_EQ(copy({page, 1, &byte, 1, CopyKind::by_address}).code(), Code::invalid_address);
  EXPECT_TRUE(unregister_host(page).ok());
}

TEST(HostMemory, PointersSayWhereTheyAre) {
  static CpuDevice cpu(3, 3, size_t{4} << 20);
  auto* block = static_cast<uint8_t*>(*allocate_device(cpu, 100, {}));
  EXPECT_EQ(describe_pointer(block + 5).owner, PointerInfo::Owner::device);
  EXPECT_EQ(describe_pointer(block).device_id, 3);
  EXPECT_EQ(register_host(block, 10, Access::write).status().code(), Code::already_registered);
  EXPECT_TRUE(free_device(block).ok());
  void* pinned = *allocate_host(100);
  EXPECT_EQ(describe_pointer(pinned).owner, PointerInfo::Owner::host);
  EXPECT_EQ(*device_pointer(pinned), pinned);
  EXPECT_TRUE(free_host(pinned).ok());
  EXPECT_EQ(describe_pointer(nullptr).owner, PointerInfo::Owner::unknown);
}

TEST(HostMemory, WhatCannotBeTouchedIsNotRegistered) {
  EXPECT_EQ(register_host(nullptr, 10, Access::write).status().code(), Code::invalid_address);
  EXPECT_EQ(register_host(reinterpret_cast<void*>(4096), 10, Access::write).status().code(),
            Code::invalid_address);
  uint8_t byte = 0;
  EXPECT_EQ(register_host(&byte, 0, Access::write).status().code(), Code::invalid_argument);
  static const uint8_t kConstant[64] = {1};
  EXPECT_TRUE(register_host(const_cast<uint8_t*>(kConstant), 64, Access::read).ok());
  EXPECT_TRUE(unregister_host(const_cast<uint8_t*>(kConstant)).ok());
}

}  // namespace
}  // namespace anynpu::device
