// SPDX-License-Identifier: Apache-2.0
// For tests of calls on pictures that programs describe by handles.
#pragma once

#include "service/media/media_for_test.h"
#include "service/media/picture_calls.h"

namespace anynpu::media {

template <typename T>
Handle handle_of(const T& object) {
  return *insert_handle(std::make_shared<T>(object));
}

// A channel, and pictures by handle.
class PictureCallsTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    desc = std::make_shared<ChannelDesc>();
    ASSERT_TRUE(open_picture_channel(*desc).ok());
    call.channel = *insert_handle(desc);
  }
  void TearDown() override {
    if (desc->channel->is_open()) {
      EXPECT_TRUE(desc->channel->close().ok());
    }
    desc.reset();
    MediaTest::TearDown();
  }
  static Handle described(const PictureSpec& spec) {
    PictureDesc picture;
    static_cast<PictureSpec&>(picture) = spec;
    return handle_of(picture);
  }
  // Waits for the default stream.
  static Status finish() {
    ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(0));
    return stream->synchronize();
  }
  Status run(const Status& queued) { return queued.ok() ? finish() : queued; }

  std::shared_ptr<ChannelDesc> desc;
  PictureCall call;
};

}  // namespace anynpu::media
