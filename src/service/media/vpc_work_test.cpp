// SPDX-License-Identifier: Apache-2.0
// Filters, drawing and warping: parameters that are refused, and what they do to small pictures.
#include <cmath>

#include "service/media/media_for_test.h"
#include "service/media/picture_strides.h"
#include "service/media/vpc_draw.h"
#include "service/media/vpc_filters.h"
#include "service/media/vpc_warp.h"

namespace anynpu::media {
namespace {

class VpcWorkTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    pair = {picture(pixel::kYuv400, 32, 16, 50), picture(pixel::kYuv400, 32, 16, 0)};
  }
  // Puts one piece of work into a job and runs it.
  template <typename Add>
  Status run(Add&& add) {
    VpcJob job;
    ANYNPU_TRY(add(job));
    job.run();
    return {};
  }
  template <typename Add>
  Code code_of(Add&& add) {
    return run(add).code();
  }

  PicturePair pair;
};

TEST_F(VpcWorkTest, blurs_keep_what_is_even_and_check_their_kernels) {
  row(pair.from, 8)[16] = 59;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_blur(job, pair, {3, 3, -1, -1}, {}); }).ok());
  EXPECT_EQ(row(pair.to, 8)[16], 51);
  EXPECT_EQ(row(pair.to, 8)[18], 50);
  for (const KernelSpec& kernel :
       {KernelSpec{0, 3, -1, -1}, {3, 32, -1, -1}, {3, 3, 3, 0}, {3, 3, 0, -2}})
    EXPECT_EQ(code_of([&](VpcJob& job) { return add_blur(job, pair, kernel, {}); }),
              Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_gaussian_blur(job, pair, {{4, 3, -1, -1}, 1, 1, {}});
            }),
            Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_gaussian_blur(job, pair, {{3, 3, -1, -1}, NAN, 1, {}});
            }),
            Code::invalid_argument);
}

TEST_F(VpcWorkTest, a_median_forgets_a_single_pixel_and_dilation_spreads_it) {
  row(pair.from, 8)[16] = 200;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_median_blur(job, pair, 3); }).ok());
  EXPECT_EQ(row(pair.to, 8)[16], 50);
  for (const uint32_t side : {1u, 4u, 33u})
    EXPECT_EQ(code_of([&](VpcJob& job) { return add_median_blur(job, pair, side); }),
              Code::invalid_argument);
  const MorphSpec cross{{3, 3, -1, -1}, static_cast<int32_t>(MorphShape::cross), 2, {}};
  ASSERT_TRUE(
      run([&](VpcJob& job) { return add_morph(job, pair, cross, pixel::Rank::most); }).ok());
  EXPECT_EQ(row(pair.to, 8)[18], 200) << "two steps away";
  EXPECT_EQ(row(pair.to, 6)[18], 50) << "two steps away in both directions";
  MorphSpec bad = cross;
  bad.shape = 3;
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_morph(job, pair, bad, pixel::Rank::most); }),
            Code::invalid_argument);
  bad = cross;
  bad.iterations = 101;
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_morph(job, pair, bad, pixel::Rank::most); }),
            Code::invalid_argument);
}

TEST_F(VpcWorkTest, filters_take_the_weights_of_the_program) {
  FilterSpec filter;
  filter.kernel = {1, 1, -1, -1};
  filter.weights[0][0] = 2;
  filter.delta = 3;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_filter(job, pair, filter); }).ok());
  EXPECT_EQ(row(pair.to, 0)[0], 103);
  filter.kernel.width = 6;
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_filter(job, pair, filter); }),
            Code::invalid_argument);
}

TEST_F(VpcWorkTest, mirrors_and_turns_check_modes_and_sizes) {
  row(pair.from, 0)[0] = 9;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_flip(job, pair, 0); }).ok());
  EXPECT_EQ(row(pair.to, 0)[31], 9);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_flip(job, pair, 3); }), Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_rotation(job, pair, 3); }),
            Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_rotation(job, pair, 0); }),
            Code::invalid_argument)
      << "a picture of 32x16 turned by 90 degrees is not 32x16";
  ASSERT_TRUE(run([&](VpcJob& job) { return add_rotation(job, pair, 1); }).ok());
  EXPECT_EQ(row(pair.to, 15)[31], 9);
  const PicturePair half_chroma{picture(pixel::kYuv422sp, 32, 32, 0),
                                picture(pixel::kYuv422sp, 32, 32, 0)};
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_rotation(job, half_chroma, 0); }),
            Code::invalid_argument);
}

TEST_F(VpcWorkTest, shapes_are_drawn_over_a_copy_of_the_input) {
  CoverSpec cover;
  cover.color = 0xffffff;
  cover.rect = {4, 2, 8, 4};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_covers(job, pair, {&cover, 1}); }).ok());
  EXPECT_EQ(row(pair.to, 2)[4], 255);
  EXPECT_EQ(row(pair.to, 2)[3], 50);
  EXPECT_EQ(row(pair.from, 2)[4], 50);
  const LineSpec line{{0, 10}, {31, 10}, 1, 0};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_lines(job, pair, {&line, 1}); }).ok());
  EXPECT_EQ(row(pair.to, 10)[15], 0);
  row(pair.from, 0)[0] = 66;
  const MosaicSpec mosaic{{0, 0, 4, 4}, 0};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_mosaics(job, pair, {&mosaic, 1}); }).ok());
  EXPECT_EQ(row(pair.to, 3)[3], 51);
}

TEST_F(VpcWorkTest, shapes_outside_of_the_picture_and_odd_numbers_are_refused) {
  CoverSpec outside;
  outside.rect = {30, 0, 4, 4};
  CoverSpec colour;
  colour.rect = {0, 0, 4, 4};
  colour.color = 0x1000000;
  CoverSpec type = colour;
  type.color = 0;
  type.type = 2;
  CoverSpec thin;
  thin.type = CoverSpec::quadrangle;
  thin.solid = false;
  for (const CoverSpec& cover : {outside, colour, type, thin})
    EXPECT_EQ(code_of([&](VpcJob& job) {
                return add_covers(job, pair, {&cover, 1});
              }),
              Code::invalid_argument);
  const LineSpec line{{0, 0}, {32, 0}, 1, 0};
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_lines(job, pair, {&line, 1});
            }),
            Code::invalid_argument);
  const MosaicSpec mosaic{{0, 0, 4, 4}, 6};
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_mosaics(job, pair, {&mosaic, 1});
            }),
            Code::invalid_argument);
  EXPECT_EQ(check_shape_count(0).code(), Code::invalid_argument);
  EXPECT_EQ(check_shape_count(kMostShapes + 1).code(), Code::invalid_argument);
}

TEST_F(VpcWorkTest, a_matrix_through_three_points_moves_a_picture) {
  PointPairs points;
  points.from = {{{0, 0}, {1, 0}, {0, 1}}};
  points.to = {{{4, 2}, {5, 2}, {4, 3}}};
  points.from_count = points.to_count = 3;
  const auto matrix = affine_through_points(points);
  ASSERT_TRUE(matrix.ok());
  EXPECT_FLOAT_EQ((*matrix)[2], 4);
  EXPECT_FLOAT_EQ((*matrix)[5], 2);
  row(pair.from, 3)[6] = 200;
  ASSERT_TRUE(run([&](VpcJob& job) {
                return add_affine_warp(job, {pair, 2, {0, {}}}, *matrix);
              }).ok());
  EXPECT_EQ(row(pair.to, 5)[10], 200);
  points.to[2] = points.to[1];
  points.from[2] = points.from[1];
  EXPECT_EQ(affine_through_points(points).status().code(), Code::invalid_argument);
  points.from_count = 4;
  EXPECT_EQ(affine_through_points(points).status().code(), Code::invalid_argument);
  EXPECT_EQ(rotation_matrix({0, 0}, NAN, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_affine_warp(job, {pair, 2, {}}, AffineMatrix{});
            }),
            Code::invalid_argument)
      << "a matrix without an inverse";
}

TEST_F(VpcWorkTest, a_table_says_where_each_pixel_comes_from) {
  const auto bytes = warp_table_bytes(32, 16);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(*bytes, 32u * 16 * 8);
  EXPECT_EQ(warp_table_bytes(0, 16).status().code(), Code::invalid_argument);
  WarpTable table{bytes_of(std::vector<uint8_t>(*bytes)), *bytes, 32, 16};
  PointPairs points;
  points.from = {{{0, 0}, {1, 0}, {0, 1}}};
  points.to = {{{1, 0}, {2, 0}, {1, 1}}};
  points.from_count = points.to_count = 3;
  ASSERT_TRUE(fill_affine_table(points, 0, table).ok());
  EXPECT_EQ(fill_affine_table(points, 3, table).code(), Code::invalid_argument);
  EXPECT_EQ(fill_perspective_table(points, 0, table).code(), Code::invalid_argument);
  row(pair.from, 4)[7] = 111;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_table_warp(job, {pair, 2, {}}, table); }).ok());
  EXPECT_EQ(row(pair.to, 4)[8], 111);
  const auto* maps = bytes_of(std::vector<uint8_t>(32 * 16 * 4));
  EXPECT_TRUE(fill_table_from_maps(maps, maps, 32 * 16 * 4, table).ok());
  EXPECT_EQ(fill_table_from_maps(maps, maps, 8, table).code(), Code::invalid_argument);
  table.bytes = 8;
  EXPECT_EQ(fill_affine_table(points, 0, table).code(), Code::invalid_argument);
  table.bytes = *bytes;
  table.width = 16;
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_table_warp(job, {pair, 2, {}}, table);
            }),
            Code::invalid_argument);
}

TEST_F(VpcWorkTest, strides_fit_every_unit_that_uses_the_picture) {
  const Unit units[] = {Unit::vpc, Unit::jpegd};
  const auto both = strides_for(units, pixel::kNv12, 100, 50);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->width_stride, 128u);
  EXPECT_EQ(both->height_stride, 64u);
  EXPECT_EQ(both->bytes, 128u * 64 * 3 / 2);
  EXPECT_EQ(strides_for({units, 1}, pixel::kNv12, 100, 50)->width_stride, 112u);
  EXPECT_EQ(strides_for(units, pixel::kNv12, 0, 50).status().code(), Code::invalid_argument);
  EXPECT_EQ(strides_for(units, 999, 100, 50).status().code(), Code::invalid_argument);
  EXPECT_EQ(*decoded_picture_bytes(100, 50, 0, 1), 112u * 50 * 3 / 2);
  EXPECT_EQ(decoded_picture_bytes(9000, 50, 0, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(motion_buffer_bytes(9000, 50).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
