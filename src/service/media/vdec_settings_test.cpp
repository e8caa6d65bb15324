// SPDX-License-Identifier: Apache-2.0
#if defined(ANYNPU_HAS_VIDEO) && defined(ANYNPU_HAS_IMAGE)
#include "service/media/vdec_for_test.h"

namespace anynpu::media {
namespace {

using VdecSettingsTest = VdecChannelTest;

TEST_F(VdecSettingsTest, numbers_out_of_range_are_refused_and_change_nothing) {
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

TEST_F(VdecSettingsTest, parameters_are_given_back_as_they_were_set) {
  const auto channel = open(attr_for(CodecType::jpeg));
  VdecParam param;
  param.display_frames = 16;
  param.format = pixel::kRgb888;
  param.alpha = 7;
  param.record = Record(3, std::byte{1});
  ASSERT_TRUE(channel->set_param(param).ok());
  const VdecParam got = channel->param();
  EXPECT_EQ(got.display_frames, 16u);
  EXPECT_EQ(got.format, pixel::kRgb888);
  EXPECT_EQ(got.alpha, 7u);
  EXPECT_EQ(got.record, param.record);
}

TEST_F(VdecSettingsTest, attributes_change_while_the_channel_is_stopped) {
  const auto channel = open(attr_for(CodecType::h264));
  VdecAttr changed = channel->attr();
  changed.width = 1920;
  changed.height = 1080;
  channel->start();
  EXPECT_EQ(channel->set_attr(changed).code(), Code::bad_call_order);
  channel->stop();
  ASSERT_TRUE(channel->set_attr(changed).ok());
  EXPECT_EQ(channel->attr().width, 1920u);
  changed.codec = CodecType::h265;
  EXPECT_EQ(channel->set_attr(changed).code(), Code::bad_call_order) << "it keeps its codec";
}

}  // namespace
}  // namespace anynpu::media
#endif
