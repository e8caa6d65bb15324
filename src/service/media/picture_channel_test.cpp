// SPDX-License-Identifier: Apache-2.0
#include "service/media/picture_channel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace anynpu::media {
namespace {

TEST(PictureChannelTest, it_is_used_between_open_and_close_alone) {
  auto channel = std::make_shared<PictureChannel>();
  EXPECT_EQ(channel->use().status().code(), Code::bad_call_order);
  EXPECT_EQ(channel->close().code(), Code::bad_call_order);
  EXPECT_TRUE(channel->open().ok());
  EXPECT_EQ(channel->open().code(), Code::already_exists);
  EXPECT_TRUE(channel->use().ok());
  EXPECT_TRUE(channel->close().ok());
  EXPECT_EQ(channel->use().status().code(), Code::bad_call_order);
  EXPECT_TRUE(channel->open().ok()) << "once more";
}

TEST(PictureChannelTest, closing_waits_for_every_use) {
  auto channel = std::make_shared<PictureChannel>();
  ASSERT_TRUE(channel->open().ok());
  auto use = channel->use();
  ASSERT_TRUE(use.ok());
  std::atomic<bool> closed{false};
  std::thread closing([&] {
    EXPECT_TRUE(channel->close().ok());
    closed = true;
  });
  while (channel->is_open()) std::this_thread::yield();
  EXPECT_FALSE(closed);
  { const auto gone = std::move(*use); }
  closing.join();
  EXPECT_TRUE(closed);
}

}  // namespace
}  // namespace anynpu::media
