// SPDX-License-Identifier: Apache-2.0
#include "exec/memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "device/remote_device_for_test.h"

namespace anynpu::exec {
namespace {

using testing::HasSubstr;

uintptr_t address_of(const Memory& memory) { return reinterpret_cast<uintptr_t>(memory.data()); }

TEST(Memory, OwnMemoryIsAlignedAndLargeBlocksAreAlignedForHugePages) {
  for (size_t bytes : {size_t{0}, size_t{1}, size_t{1000}}) {
    const auto memory = Memory::allocate(bytes);
    ASSERT_TRUE(memory.ok()) << memory.status().to_string();
    EXPECT_EQ(address_of(*memory) % 64, 0u);
    EXPECT_FALSE(memory->borrowed());
    std::memset(memory->data(), 1, bytes);
  }
  const auto large = Memory::allocate((size_t{2} << 20) + 5);
  ASSERT_TRUE(large.ok());
  EXPECT_EQ(address_of(*large) % (size_t{2} << 20), 0u);
}

TEST(Memory, ASizeThatNoMachineHasIsRefused) {
  const Status status = Memory::allocate(std::numeric_limits<size_t>::max() - 1).status();
  EXPECT_EQ(status.code(), Code::out_of_memory);
  EXPECT_GT(machine_bytes(), int64_t{1} << 20);
}

TEST(Memory, BorrowedMemoryMustBeLargeEnoughAndAligned) {
  alignas(64) static std::byte bytes[256];
  const auto good = Memory::borrow(bytes, 256, 256, "work");
  ASSERT_TRUE(good.ok()) << good.status().to_string();
  EXPECT_TRUE(good->borrowed());
  EXPECT_EQ(good->data(), bytes);

  const Status small = Memory::borrow(bytes, 255, 256, "work").status();
  EXPECT_EQ(small.code(), Code::invalid_address);
  EXPECT_THAT(small.message(), HasSubstr("work memory has 255 bytes, the model needs 256"));
  const Status odd = Memory::borrow(bytes + 32, 128, 128, "weight").status();
  EXPECT_EQ(odd.code(), Code::unaligned_address);
  EXPECT_THAT(odd.message(), HasSubstr("a multiple of 64"));
}

TEST(Memory, ABlockOfADeviceIsGivenBack) {
  device::RemoteDevice device(0);
  const size_t before = device.memory_used();
  {
    auto block = Memory::allocate_on(device, 5000);
    ASSERT_TRUE(block.ok()) << block.status().to_string();
    const auto memory = device.memory();
    EXPECT_TRUE((*memory)->contains(address_of(*block)));
    EXPECT_GE(device.memory_used(), before + 5000);
    EXPECT_FALSE(block->borrowed());
    const Memory moved = std::move(*block);
    EXPECT_EQ(block->data(), nullptr);
    EXPECT_TRUE((*memory)->contains(address_of(moved)));
  }
  EXPECT_EQ(device.memory_used(), before);
  EXPECT_EQ(Memory::allocate_on(device, 0)->data(), nullptr);
  EXPECT_EQ(Memory::allocate_on(device, size_t{1} << 40).status().code(), Code::out_of_memory);
}

}  // namespace
}  // namespace anynpu::exec
