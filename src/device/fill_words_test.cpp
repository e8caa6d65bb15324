// SPDX-License-Identifier: Apache-2.0
#include "device/fill_words.h"

#include <gtest/gtest.h>

#include "device/cpu/cpu_device.h"
#include "device/memory.h"

namespace anynpu::device {
namespace {

CpuDevice& words_device() {
  static CpuDevice cpu(0, 0, size_t{16} << 20);
  return cpu;
}

TEST(FillWords, DeviceMemoryAndPinnedMemoryTakeThem) {
  for (const bool on_device : {true, false}) {
    void* block = on_device ? *allocate_device(words_device(), 64, {}) : *allocate_host(64);
    EXPECT_TRUE(fill_words(block, 16, 0x01020304, 3).ok());
    EXPECT_EQ(static_cast<uint32_t*>(block)[2], 0x01020304u);
    EXPECT_EQ(fill_words(block, 15, 1, 4).code(), Code::invalid_argument);
    EXPECT_EQ(fill_words(block, SIZE_MAX, 1, SIZE_MAX / 4).code(), Code::invalid_address);
    EXPECT_TRUE((on_device ? free_device(block) : free_host(block)).ok());
  }
  uint32_t own[4];
  EXPECT_EQ(fill_words(own, 16, 1, 4).code(), Code::invalid_address);
}

TEST(FillWords, OnAStreamTheyComeInOrder) {
  auto stream = std::make_shared<Stream>(nullptr, std::weak_ptr<Context>(), StreamOptions{});
  auto* block = static_cast<uint32_t*>(*allocate_device(words_device(), 64, {}));
  EXPECT_TRUE(fill_async(block, 64, 1, 64, *stream).ok());
  EXPECT_TRUE(fill_words_async(block, 64, 7, 2, *stream).ok());
  EXPECT_TRUE(stream->synchronize().ok());
  EXPECT_EQ(block[1], 7u);
  EXPECT_EQ(block[2], 0x01010101u);
  EXPECT_TRUE(free_device(block).ok());
}

}  // namespace
}  // namespace anynpu::device
