// SPDX-License-Identifier: Apache-2.0
// For tests of media services: a device, and pictures in its memory.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/align.h"
#include "device/runtime.h"
#include "media/rules.h"
#include "service/media/media_system.h"
#include "service/media/memory.h"

namespace anynpu::media {

// The channel for one test: drained before it goes, as ChannelTable::remove does.
template <typename Channel>
std::shared_ptr<Channel> drained_at_end(std::shared_ptr<Channel> channel) {
  Channel* raw = channel.get();
  return {raw, [channel = std::move(channel)](Channel*) { channel->drain(); }};
}

class MediaTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(device::Runtime::instance().set_device(0).ok());
    ASSERT_TRUE(start_media_system().ok());
  }
  void TearDown() override {
    stop_media_system();
    (void)device::Runtime::instance().reset_device(0, device::Runtime::Reset::force);
  }

  // Device memory that ends with the test.
  static uint8_t* bytes_of(const std::vector<uint8_t>& content) {
    auto memory = allocate(content.size());
    EXPECT_TRUE(memory.ok()) << memory.status().message();
    std::memcpy(*memory, content.data(), content.size());
    return static_cast<uint8_t*>(*memory);
  }
  // A picture whose bytes are all `value`.
  static PictureSpec picture(int32_t format, uint32_t width, uint32_t height, uint8_t value) {
    const pixel::Format& layout = *pixel::find_format(format);
    PictureSpec spec{
        nullptr, 0, format, width, height, round_up(width, 16) * layout.bytes, round_up(height, 2)};
    spec.bytes =
        static_cast<uint32_t>(pixel::picture_bytes(layout, spec.width_stride, spec.height_stride));
    spec.data = bytes_of(std::vector<uint8_t>(spec.bytes, value));
    return spec;
  }
  static uint8_t* row(const PictureSpec& spec, uint32_t y) {
    return static_cast<uint8_t*>(spec.data) + size_t{y} * spec.width_stride;
  }
};

}  // namespace anynpu::media
