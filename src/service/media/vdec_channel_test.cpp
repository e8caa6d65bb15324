// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/vdec_channel.h"

#include "media/image.h"
#include "media/vdec_codes.h"
#include "service/media/media_for_test.h"

namespace anynpu::media {
namespace {

using Packets = std::vector<std::vector<uint8_t>>;

// Pictures of 64x48 that become brighter.
Packets encoded(uint32_t count) {
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

TEST_F(VdecChannelTest, packets_become_pictures_in_order) {
  const auto channel = open(attr_for(CodecType::h264));
  channel->start();
  uint64_t pts = 100;
  for (const auto& content : encoded(3))
    ASSERT_TRUE(channel->send(packet(content, pts++), output(), -1).ok());
  VdecPacket end;
  end.end_of_stream = true;
  ASSERT_TRUE(channel->send(end, {}, -1).ok());
  for (uint64_t i = 0; i < 3; ++i) {
    const auto got = channel->fetch(-1);
    ASSERT_TRUE(got.ok()) << got.status().message();
    EXPECT_EQ(got->code, vdec::kOk);
    EXPECT_EQ(got->packet.pts, 100 + i);
    EXPECT_EQ(got->number, i);
    EXPECT_EQ(got->spec.width, 64u);
    EXPECT_EQ(got->spec.format, pixel::kNv12);
    EXPECT_NEAR(row(got->spec, 20)[20], 60 + 20 * static_cast<int>(i), 4);
    EXPECT_TRUE(channel->release().ok());
  }
  channel->drain();
  EXPECT_EQ(channel->fetch(0).status().code(), Code::not_complete);
  EXPECT_EQ(channel->release().code(), Code::invalid_argument);
  const VdecStatus status = channel->status();
  EXPECT_EQ(status.decoded_pictures, 3u);
  EXPECT_EQ(status.received_packets, 4u);
  EXPECT_EQ(status.waiting_packets, 0u);
}

TEST_F(VdecChannelTest, bytes_of_a_stream_are_cut_into_pictures) {
  const auto channel = open(attr_for(CodecType::h264, kSendStream));
  channel->start();
  std::vector<uint8_t> all;
  for (const auto& content : encoded(2)) all.insert(all.end(), content.begin(), content.end());
  const std::vector<uint8_t> half(all.begin(), all.begin() + all.size() / 2);
  const std::vector<uint8_t> rest(all.begin() + all.size() / 2, all.end());
  ASSERT_TRUE(channel->send(packet(half), output(), -1).ok());
  VdecPacket last = packet(rest);
  last.end_of_stream = true;
  ASSERT_TRUE(channel->send(last, output(), -1).ok());
  EXPECT_EQ(channel->fetch(-1)->code, vdec::kOk);
  EXPECT_EQ(channel->fetch(-1)->code, vdec::kOk);
  channel->drain();
}

TEST_F(VdecChannelTest, calls_in_the_wrong_order_are_refused) {
  const auto channel = open(attr_for(CodecType::h264));
  const VdecPacket one = packet(encoded(1)[0]);
  EXPECT_EQ(channel->send(one, output(), 0).code(), Code::bad_call_order) << "not started";
  channel->start();
  EXPECT_EQ(channel->reset().code(), Code::bad_call_order);
  EXPECT_EQ(channel->set_attr(channel->attr()).code(), Code::bad_call_order);
  EXPECT_EQ(channel->send({}, output(), 0).code(), Code::invalid_argument) << "no bytes, no end";
  PictureSpec nowhere = output();
  nowhere.data = nullptr;
  EXPECT_FALSE(channel->send(one, nowhere, 0).ok());
  channel->stop();
  EXPECT_TRUE(channel->reset().ok());
  EXPECT_TRUE(channel->set_attr(channel->attr()).ok());
  EXPECT_EQ(channel->set_attr(attr_for(CodecType::h265)).code(), Code::bad_call_order);
  EXPECT_EQ(channel->set_jpeg_precision(0).code(), Code::bad_call_order);
}

TEST_F(VdecChannelTest, an_output_that_is_too_small_is_counted) {
  const auto channel = open(attr_for(CodecType::h264));
  channel->start();
  PictureSpec small = output();
  small.bytes = 64;
  ASSERT_TRUE(channel->send(packet(encoded(1)[0]), small, -1).ok());
  VdecPacket end;
  end.end_of_stream = true;
  ASSERT_TRUE(channel->send(end, {}, -1).ok());
  EXPECT_EQ(channel->fetch(-1)->code, vdec::kOutputSize);
  EXPECT_EQ(channel->status().output_errors, 1);
  channel->drain();
}

TEST_F(VdecChannelTest, channels_and_settings_that_cannot_be_are_refused) {
  EXPECT_EQ(VdecChannel::open(attr_for(CodecType::other)).status().code(), Code::invalid_argument);
  EXPECT_EQ(VdecChannel::open(attr_for(CodecType::h264, 3)).status().code(),
            Code::invalid_argument);
  const auto channel = open(attr_for(CodecType::jpeg));
  const auto refused = [&](auto change) {
    VdecParam param;
    change(param);
    return channel->set_param(param).code() == Code::invalid_argument;
  };
  EXPECT_TRUE(refused([](VdecParam& p) { p.display_frames = 17; }));
  EXPECT_TRUE(refused([](VdecParam& p) { p.alpha = 256; }));
  EXPECT_TRUE(refused([](VdecParam& p) { p.frames = 3; }));
  EXPECT_TRUE(refused([](VdecParam& p) { p.order = 2; }));
  EXPECT_EQ(channel->param().alpha, 255u);
  EXPECT_EQ(channel->set_display_mode(2).code(), Code::invalid_argument);
  EXPECT_TRUE(channel->set_display_mode(1).ok());
  EXPECT_EQ(channel->display_mode(), 1);
  EXPECT_EQ(channel->set_jpeg_precision(3).code(), Code::invalid_argument);
  channel->set_protocol(Record(2, std::byte{4}));
  EXPECT_EQ(channel->protocol().size(), 2u);
}

TEST_F(VdecChannelTest, jpeg_files_are_decoded_into_the_layout_asked_for) {
  const pixel::OwnPicture source(*pixel::find_format(pixel::kNv12), 64, 48);
  for (int p = 0; p < 2; ++p)
    for (uint32_t y = 0; y < source.view().plane(p).height; ++y)
      std::fill_n(source.view().plane(p).row(y), 64, uint8_t{128});
  std::vector<uint8_t> file(65536);
  file.resize(*encode_jpeg(source.view(), 100, {}, file));
  const auto channel = open(attr_for(CodecType::jpeg));
  VdecParam param;
  param.format = pixel::kRgb888;
  ASSERT_TRUE(channel->set_param(param).ok());
  channel->start();
  PictureSpec to = picture(pixel::kRgb888, 128, 48, 0);
  to.format = pixel::kUnknown;
  to.width = to.height = to.width_stride = to.height_stride = 0;
  ASSERT_TRUE(channel->send(packet(file), to, -1).ok());
  const auto got = channel->fetch(-1);
  ASSERT_TRUE(got.ok());
  EXPECT_EQ(got->code, vdec::kOk);
  EXPECT_EQ(got->spec.format, pixel::kRgb888);
  EXPECT_NEAR(row(got->spec, 10)[30], 128, 2);
  ASSERT_TRUE(channel->send(packet({1, 2, 3}), to, -1).ok());
  EXPECT_EQ(channel->fetch(-1)->code, vdec::kDecodeFailed);
  channel->drain();
}

}  // namespace
}  // namespace anynpu::media
#endif
