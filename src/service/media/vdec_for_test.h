// SPDX-License-Identifier: Apache-2.0
// For tests of decoder channels: encoded pictures, packets and outputs in device memory.
#pragma once

#include "media/image.h"
#include "media/vdec_codes.h"
#include "service/media/media_for_test.h"
#include "service/media/vdec_channel.h"

namespace anynpu::media {

using Packets = std::vector<std::vector<uint8_t>>;

// Pictures of 64x48 that become brighter.
inline Packets encoded(uint32_t count) {
  VideoEncoderOptions options;
  options.width = 64;
  options.height = 48;
  options.gop = 30;
  auto encoder = (*video_codec())->make_encoder(options);
  EXPECT_TRUE(encoder.ok());
  Packets packets;
  const auto sink = [&](const EncodedPacket& packet) {
    packets.emplace_back(packet.bytes.begin(), packet.bytes.end());
  };
  const pixel::OwnPicture picture(*pixel::find_format(pixel::kNv12), 64, 48);
  for (uint64_t id = 0; id < count; ++id) {
    for (int p = 0; p < 2; ++p)
      for (uint32_t y = 0; y < picture.view().plane(p).height; ++y)
        std::fill_n(picture.view().plane(p).row(y), 64, static_cast<uint8_t>(60 + 20 * id));
    EXPECT_TRUE((*encoder)->encode(picture.view(), id, false, sink).ok());
  }
  EXPECT_TRUE((*encoder)->flush(sink).ok());
  return packets;
}

class VdecChannelTest : public MediaTest {
 protected:
  static VdecAttr attr_for(CodecType codec, int32_t mode = kSendFrames) {
    VdecAttr attr;
    attr.codec = codec;
    attr.type_number = static_cast<int32_t>(codec);
    attr.mode = mode;
    return attr;
  }
  std::shared_ptr<VdecChannel> open(const VdecAttr& attr) {
    auto opened = VdecChannel::open(attr);
    EXPECT_TRUE(opened.ok()) << opened.status().message();
    return drained_at_end(*opened);
  }
  VdecPacket packet(const std::vector<uint8_t>& content, uint64_t pts = 0) {
    VdecPacket made;
    made.data = bytes_of(content);
    made.bytes = static_cast<uint32_t>(content.size());
    made.pts = pts;
    made.display = true;
    return made;
  }
  PictureSpec output() {
    PictureSpec spec = picture(pixel::kNv12, 64, 48, 0);
    spec.width = spec.height = spec.width_stride = spec.height_stride = 0;
    spec.format = pixel::kUnknown;
    return spec;
  }
};

}  // namespace anynpu::media
