// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/vdec_for_test.h"

namespace anynpu::media {
namespace {

using VdecWorkTest = VdecChannelTest;

TEST_F(VdecWorkTest, bytes_of_a_stream_are_cut_into_pictures) {
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

TEST_F(VdecWorkTest, an_output_that_is_too_small_is_counted) {
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

TEST_F(VdecWorkTest, jpeg_files_are_decoded_into_the_layout_asked_for) {
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

TEST_F(VdecWorkTest, a_picture_that_is_not_displayed_is_decoded_for_the_next_ones) {
  const auto channel = open(attr_for(CodecType::h264));
  channel->start();
  const Packets packets = encoded(2);
  VdecPacket hidden = packet(packets[0], 1);
  hidden.display = false;
  ASSERT_TRUE(channel->send(hidden, output(), -1).ok());
  ASSERT_TRUE(channel->send(packet(packets[1], 2), output(), -1).ok());
  VdecPacket end;
  end.end_of_stream = true;
  ASSERT_TRUE(channel->send(end, {}, -1).ok());
  const auto got = channel->fetch(-1);
  ASSERT_TRUE(got.ok()) << got.status().to_string();
  EXPECT_EQ(got->packet.pts, 2u);
  EXPECT_EQ(got->code, vdec::kOk);
  channel->drain();
  EXPECT_EQ(channel->fetch(0).status().code(), Code::not_complete);
}

}  // namespace
}  // namespace anynpu::media
#endif
