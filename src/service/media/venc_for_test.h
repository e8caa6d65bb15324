// SPDX-License-Identifier: Apache-2.0
// For tests of encoder channels: attributes of small channels, frames in device memory.
#pragma once

#include "service/media/media_for_test.h"
#include "service/media/venc_channel.h"

namespace anynpu::media {

inline VencAttr video_attr() {
  VencAttr attr;
  attr.codec = CodecType::h264;
  attr.width = 64;
  attr.height = 48;
  attr.buffer_bytes = 1 << 20;
  attr.whole_frames = true;
  attr.rate = {RateMode::h264_cbr, 1, 30, 1, 25, 25, 1000, 0, 0, 0};
  return attr;
}

inline VencAttr jpeg_attr(uint32_t buffer) {
  VencAttr attr;
  attr.codec = CodecType::jpeg;
  attr.width = 64;
  attr.height = 48;
  attr.buffer_bytes = buffer;
  return attr;
}

class VencChannelTest : public MediaTest {
 protected:
  std::shared_ptr<VencChannel> open(const VencAttr& attr) {
    auto opened = VencChannel::open(attr, Record(1, std::byte{9}), "");
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return drained_at_end(*opened);
  }
  VencFrame frame(uint64_t pts = 0) {
    VencFrame made;
    made.spec = picture(pixel::kNv12, 64, 48, 90);
    made.pts = pts;
    return made;
  }
};

}  // namespace anynpu::media
