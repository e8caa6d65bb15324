// SPDX-License-Identifier: Apache-2.0
#include "service/media/memory.h"

#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

class MediaMemoryTest : public MediaTest {};

TEST_F(MediaMemoryTest, it_starts_at_a_multiple_of_128_on_the_device) {
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{4096}}) {
    const auto here = allocate(bytes), there = allocate(0, bytes);
    ASSERT_TRUE(here.ok() && there.ok());
    for (void* memory : {*here, *there}) {
      EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 128, 0u);
      const auto range = device::check_range(memory, bytes, device::Access::write, "memory");
      ASSERT_TRUE(range.ok());
      EXPECT_TRUE(range->on_device());
      EXPECT_TRUE(device::free_device(memory).ok());
    }
  }
}

TEST_F(MediaMemoryTest, no_bytes_and_no_device_are_refused) {
  EXPECT_EQ(allocate(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(allocate(4711, 64).status().code(), Code::invalid_device);
  device::Runtime::instance().reset_all();
  EXPECT_EQ(allocate(64).status().code(), Code::no_context);
}

}  // namespace
}  // namespace anynpu::media
