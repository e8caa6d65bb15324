// SPDX-License-Identifier: Apache-2.0
#include "device/memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "base/align.h"
#include "device/cpu/cpu_device.h"

namespace anynpu::device {
namespace {

CpuDevice& device() {
  static CpuDevice cpu(0, 0, size_t{64} << 20);
  return cpu;
}

uint8_t* allocate(size_t bytes) {
  return static_cast<uint8_t*>(*allocate_device(device(), bytes, {}));
}

std::shared_ptr<Stream> make_stream() {
  return std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
}

TEST(Memory, DeviceMemoryStartsOn64AndIsRoundedUpTo32Plus32) {
  for (size_t bytes : {1u, 31u, 32u, 33u, 1000u}) {
    uint8_t* address = allocate(bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % 64, 0u);
    const size_t rounded = round_up(bytes, 32) + 32;
    EXPECT_TRUE(check_range(address, rounded, Access::write, "dst").ok());
    EXPECT_FALSE(check_range(address, rounded + 1, Access::write, "dst").ok());
    EXPECT_TRUE(free_device(address).ok());
  }
}

TEST(Memory, ABlockOfOneMebibyteOrMoreEndsOnAPageOfTwo) {
  const size_t page = size_t{2} << 20;
  uint8_t* large = allocate(1631232);  // a program that copies 1646592 into it works on a card
  EXPECT_TRUE(check_range(large, 1646592, Access::write, "dst").ok());
  EXPECT_TRUE(check_range(large, page, Access::write, "dst").ok());
  EXPECT_FALSE(check_range(large, page + 1, Access::write, "dst").ok());
  uint8_t* small = allocate((1 << 20) - 1);
  EXPECT_FALSE(check_range(small, (1 << 20) + 33, Access::write, "dst").ok());
  EXPECT_TRUE(free_device(large).ok());
  EXPECT_TRUE(free_device(small).ok());
}

TEST(Memory, AFullDeviceStillHasRoomForWhatWasAskedFor) {
  const size_t asked = size_t{33} << 20;  // 34 MiB with its page, of 64
  uint8_t* first = allocate(asked);
  ASSERT_NE(first, nullptr);
  const size_t left = device().memory_total() - device().memory_used() - 64;
  EXPECT_TRUE(free_device(*allocate_device(device(), left, {})).ok());
  EXPECT_TRUE(free_device(first).ok());
}

TEST(Memory, InteriorPointersAreFineForCopiesButNotForFree) {
  uint8_t* address = allocate(1000);
  std::vector<uint8_t> host(100, 7);
  EXPECT_TRUE(copy({address + 500, 100, host.data(), 100, CopyKind::host_to_device}).ok());
  EXPECT_EQ(address[599], 7);
  const Status status = free_device(address + 64);
  EXPECT_EQ(status.code(), Code::invalid_address);
  EXPECT_NE(status.message().find("64 bytes inside"), std::string::npos);
  EXPECT_TRUE(free_device(address).ok());
}

TEST(Memory, FreedAndForeignPointersAreRecognised) {
  uint8_t* address = allocate(100);
  std::vector<uint8_t> host(100);
  EXPECT_TRUE(free_device(address).ok());
  EXPECT_EQ(free_device(address).code(), Code::invalid_address);
  EXPECT_EQ(copy({address, 100, host.data(), 100, CopyKind::host_to_device}).code(),
            Code::invalid_address);
  EXPECT_EQ(free_device(host.data()).code(), Code::invalid_address);
  EXPECT_EQ(
      copy({host.data(), 100, reinterpret_cast<void*>(0x10), 100, CopyKind::by_address}).code(),
      Code::invalid_address);
  void* pinned = *allocate_host(10);
  EXPECT_NE(free_device(pinned).message().find("pinned host memory"), std::string::npos);
  EXPECT_TRUE(free_host(pinned).ok());
}

TEST(Memory, TooMuchIsOutOfMemoryAndSaysWhatIsThere) {
  EXPECT_EQ(allocate_device(device(), size_t{1} << 40, {}).status().code(), Code::out_of_memory);
  EXPECT_EQ(allocate_device(device(), SIZE_MAX, {}).status().code(), Code::out_of_memory);
  EXPECT_EQ(allocate_device(device(), 0, {}).status().code(), Code::invalid_argument);
  EXPECT_EQ(allocate_host(SIZE_MAX).status().code(), Code::out_of_memory);
  std::vector<void*> blocks;
  for (;;) {
    auto block = allocate_device(device(), size_t{10} << 20, {});
    if (!block.ok()) {
      EXPECT_EQ(block.status().code(), Code::out_of_memory);
      break;
    }
    blocks.push_back(*block);
  }
  EXPECT_EQ(blocks.size(), 6u);
  for (void* block : blocks) EXPECT_TRUE(free_device(block).ok());
}

TEST(Memory, ARandomSequenceOfAllocationsNeverOverlapsAndLeavesNothing) {
  std::mt19937 random(7);
  const size_t before = device().memory_used();
  std::vector<std::pair<uint8_t*, size_t>> live;
  for (int i = 0; i < 3000; ++i) {
    if (live.empty() || random() % 100 < 55) {
      const size_t bytes = random() % 20000 + 1;
      uint8_t* address = allocate(bytes);
      std::memset(address, static_cast<int>(live.size() % 251), bytes);
      for (const auto& [other, size] : live) {
        ASSERT_TRUE(address + bytes <= other || other + size <= address);
      }
      live.push_back({address, bytes});
    } else {
      std::swap(live[random() % live.size()], live.back());
      EXPECT_TRUE(free_device(live.back().first).ok());
      live.pop_back();
    }
  }
  for (const auto& block : live) EXPECT_TRUE(free_device(block.first).ok());
  EXPECT_EQ(device().memory_used(), before);
}

TEST(Memory, AQueuedCopyKeepsItsDeviceMemoryUntilItRan) {
  auto stream = make_stream();
  static constinit TaskKind hold{"hold", Engine::control};
  Completion completion;
  std::atomic<bool> held{false};
  ASSERT_TRUE(stream
                  ->submit(hold,
                           [&](TaskRun& run) {
                             completion = run.defer();
                             held = true;
                             return Outcome::pending;
                           })
                  .ok());
  uint8_t* address = allocate(128);
  std::vector<uint8_t> host(128, 9);
  ASSERT_TRUE(copy_async({address, 128, host.data(), 128, CopyKind::host_to_device}, *stream).ok());
  EXPECT_TRUE(free_device(address).ok());
  uint8_t* other = allocate(128);
  EXPECT_NE(other, address);  // not handed out again yet
  while (!held) std::this_thread::yield();
  completion.finish({});
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_TRUE(free_device(other).ok());
}

TEST(Memory, AnAsynchronousHostToHostCopyFailsAtSynchronize) {
  auto stream = make_stream();
  std::vector<uint8_t> a(64), b(64);
  EXPECT_TRUE(copy_async({a.data(), 64, b.data(), 64, CopyKind::host_to_host}, *stream).ok());
  EXPECT_EQ(stream->synchronize().code(), Code::unsupported_feature);
}

TEST(Memory, TwoDimensionalCopiesMoveRowsAndCheckPitches) {
  uint8_t* address = allocate(100);
  std::vector<uint8_t> host(30);
  for (size_t i = 0; i < host.size(); ++i) host[i] = static_cast<uint8_t>(i);
  EXPECT_TRUE(fill(address, 100, 0xff, 100).ok());
  EXPECT_TRUE(copy_2d({address, 20, host.data(), 10, 5, 3, CopyKind::host_to_device}).ok());
  EXPECT_EQ(address[20], 10);
  EXPECT_EQ(address[44], 24);
  EXPECT_EQ(address[25], 0xff);
  EXPECT_EQ(copy_2d({address, 4, host.data(), 10, 5, 3, CopyKind::host_to_device}).code(),
            Code::invalid_argument);
  EXPECT_EQ(
      copy_2d({address, SIZE_MAX / 2, host.data(), 10, 5, 8, CopyKind::host_to_device}).code(),
      Code::invalid_argument);
  EXPECT_TRUE(free_device(address).ok());
}

}  // namespace
}  // namespace anynpu::device
