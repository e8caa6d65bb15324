// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "service/media/venc_settings.h"

namespace anynpu::media {
namespace {

VencSettings settings_for(RateMode mode) {
  VencSettings s;
  const bool h265 = mode >= RateMode::h265_cbr;
  s.attr.codec = h265 ? CodecType::h265 : CodecType::h264;
  s.attr.width = 64;
  s.attr.height = 48;
  s.attr.rate = {mode, 0, 30, 2, 25, 25, 1000, 20, 22, 24};
  return s;
}
Code code_of(const VencSettings& s) { return encoder_options(s).status().code(); }

TEST(VencOptions, each_rate_control_has_its_nearest) {
  using enum RateControl;
  const std::pair<RateMode, RateControl> rows[] = {
      {RateMode::h264_cbr, constant_bits},  {RateMode::h264_vbr, variable_bits},
      {RateMode::h264_avbr, variable_bits}, {RateMode::h264_qvbr, quality_bits},
      {RateMode::h264_cvbr, variable_bits}, {RateMode::h264_fixed_qp, fixed_qp},
      {RateMode::h265_cbr, constant_bits},  {RateMode::h265_qvbr, quality_bits},
      {RateMode::h265_fixed_qp, fixed_qp}};
  for (const auto& [mode, control] : rows) {
    const auto options = encoder_options(settings_for(mode));
    ASSERT_TRUE(options.ok()) << options.status().message();
    EXPECT_EQ(options->rate, control);
    EXPECT_EQ(options->gop, 30u);
    EXPECT_EQ(options->window_ms, 2000u);
  }
  EXPECT_EQ(encoder_options(settings_for(RateMode::h264_fixed_qp))->qp_b, 24);
}

TEST(VencOptions, a_rate_control_of_the_other_codec_is_refused) {
  VencSettings s = settings_for(RateMode::h265_cbr);
  s.attr.codec = CodecType::h264;
  EXPECT_EQ(code_of(s), Code::invalid_argument);
  s = settings_for(RateMode::h264_cbr);
  s.attr.codec = CodecType::h265;
  EXPECT_EQ(code_of(s), Code::invalid_argument);
  s.attr.rate.mode = RateMode::other;
  EXPECT_EQ(code_of(s), Code::invalid_argument);
}

TEST(VencOptions, numbers_out_of_range_are_refused) {
  const VencSettings good = settings_for(RateMode::h264_cbr);
  const auto refused = [&](auto change) {
    VencSettings s = good;
    change(s);
    return code_of(s) == Code::invalid_argument;
  };
  EXPECT_EQ(code_of(good), Code::ok);
  EXPECT_TRUE(refused([](auto& s) { s.attr.rate.gop = 0; }));
  EXPECT_TRUE(refused([](auto& s) { s.attr.rate.target_rate = 241; }));
  EXPECT_TRUE(refused([](auto& s) { s.attr.rate.kbps = 1; }));
  EXPECT_TRUE(refused([](auto& s) { s.attr.profile = 3; }));
  EXPECT_TRUE(refused([](auto& s) { s.rate.first_qp = 52; }));
  EXPECT_TRUE(refused([](auto& s) { s.rate.limits[0] = {40, 30, 0}; }));
  EXPECT_TRUE(refused([](auto& s) { s.regions[3] = {true, false, 3, 5, 0, 0, 65, 48}; }));
  EXPECT_TRUE(refused([](auto& s) { s.regions[3] = {true, false, 3, 52, 0, 0, 64, 48}; }));
  VencSettings fixed = settings_for(RateMode::h265_fixed_qp);
  fixed.attr.rate.qp_p = 52;
  EXPECT_EQ(code_of(fixed), Code::invalid_argument);
}

TEST(VencOptions, what_the_encoders_cannot_do_is_unsupported) {
  VencSettings s = settings_for(RateMode::h264_cbr);
  s.attr.gop_mode = 1;
  EXPECT_EQ(code_of(s), Code::unsupported_feature);
  s = settings_for(RateMode::h264_cbr);
  s.channel.crop = true;
  EXPECT_EQ(code_of(s), Code::unsupported_feature);
  s = settings_for(RateMode::h264_cbr);
  s.regions[0] = {true, true, 0, 30, 0, 0, 64, 48};
  EXPECT_EQ(code_of(s), Code::unsupported_feature);
}

TEST(VencOptions, limits_are_those_of_the_rate_control_in_use) {
  VencSettings s = settings_for(RateMode::h264_vbr);
  s.rate.limits[static_cast<size_t>(RateMode::h264_cbr)] = {10, 20, 5};
  s.rate.limits[static_cast<size_t>(RateMode::h264_vbr)] = {12, 34, 7};
  const auto options = encoder_options(s);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->least_qp, 12);
  EXPECT_EQ(options->most_qp, 34);
  EXPECT_EQ(options->i_to_p, 7u);
}

TEST(VencOptions, b_frames_slices_and_scenes_become_options_of_the_encoder) {
  VencSettings s = settings_for(RateMode::h264_cbr);
  s.attr.gop_mode = VencAttr::bipredictive_b;
  s.attr.b_frames = 9;
  s.slices = {true, 1};
  s.scene = 1;
  const auto options = encoder_options(s);
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->b_frames, 3u);
  EXPECT_EQ(options->profile, "main") << "baseline has no B frames";
  EXPECT_EQ(options->slices, 3u);
  EXPECT_FALSE(options->more.empty());
}

TEST(VencOptions, frame_rates_of_the_channel_go_before_those_of_the_rate_control) {
  VencSettings s = settings_for(RateMode::h264_cbr);
  s.attr.rate.source_rate = 50;
  EXPECT_EQ(frame_rates(s).source, 50u);
  EXPECT_EQ(frame_rates(s).target, 25u);
  s.channel.source_rate = 30;
  s.channel.target_rate = 10;
  EXPECT_EQ(frame_rates(s).source, 30u);
  EXPECT_EQ(frame_rates(s).target, 10u);
}

TEST(VencOptions, tables_of_the_program_are_taken_where_it_wrote_any) {
  VencSettings s;
  EXPECT_EQ(jpeg_tables(s).quant[0], nullptr);
  EXPECT_EQ(jpeg_tables(s).dc[0].bits, nullptr);
  s.jpeg.quant[1][0] = 3;
  s.huffman.dc[1].bits[2] = 12;
  s.huffman.dc[1].room = 12;
  s.huffman.ac[0].bits[2] = 200;
  s.huffman.ac[0].room = 162;
  const JpegTables tables = jpeg_tables(s);
  EXPECT_EQ(tables.quant[1], s.jpeg.quant[1].data());
  EXPECT_EQ(tables.dc[1].count, 12u);
  EXPECT_EQ(tables.ac[0].bits, nullptr) << "more values than a table holds";
}

}  // namespace
}  // namespace anynpu::media
