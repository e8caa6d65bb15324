// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_warp.h"

#include <cmath>

#include "service/media/vpc_for_test.h"

namespace anynpu::media {
namespace {

using VpcWarpTest = VpcWorkTest;

TEST_F(VpcWarpTest, a_matrix_through_three_points_moves_a_picture) {
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
                return add_affine_warp(job, {pair, 1, {0, {}}}, *matrix);
              }).ok());
  EXPECT_EQ(row(pair.to, 5)[10], 200);
  points.to[2] = points.to[1];
  points.from[2] = points.from[1];
  EXPECT_EQ(affine_through_points(points).status().code(), Code::invalid_argument);
  points.from_count = 4;
  EXPECT_EQ(affine_through_points(points).status().code(), Code::invalid_argument);
  EXPECT_EQ(rotation_matrix({0, 0}, NAN, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_affine_warp(job, {pair, 1, {}}, AffineMatrix{});
            }),
            Code::invalid_argument)
      << "a matrix without an inverse";
}

TEST_F(VpcWarpTest, a_table_says_where_each_pixel_comes_from) {
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
  ASSERT_TRUE(run([&](VpcJob& job) { return add_table_warp(job, {pair, 1, {}}, table); }).ok());
  EXPECT_EQ(row(pair.to, 4)[8], 111);
  const auto* maps = bytes_of(std::vector<uint8_t>(32 * 16 * 4));
  EXPECT_TRUE(fill_table_from_maps(maps, maps, 32 * 16 * 4, table).ok());
  EXPECT_EQ(fill_table_from_maps(maps, maps, 8, table).code(), Code::invalid_argument);
  table.bytes = 8;
  EXPECT_EQ(fill_affine_table(points, 0, table).code(), Code::invalid_argument);
  table.bytes = *bytes;
  table.width = 16;
  EXPECT_EQ(code_of([&](VpcJob& job) {
              return add_table_warp(job, {pair, 1, {}}, table);
            }),
            Code::invalid_argument);
}

TEST_F(VpcWarpTest, a_turn_keeps_its_center) {
  const auto matrix = rotation_matrix({8, 4}, 90, 2);
  ASSERT_TRUE(matrix.ok());
  const AffineMatrix& m = *matrix;
  EXPECT_NEAR(m[0] * 8 + m[1] * 4 + m[2], 8, 1e-4);
  EXPECT_NEAR(m[3] * 8 + m[4] * 4 + m[5], 4, 1e-4);
  EXPECT_NEAR(std::hypot(m[0], m[3]), 2, 1e-5) << "the scale";
  EXPECT_NEAR(m[0], 0, 1e-5) << "cos 90";
}

TEST_F(VpcWarpTest, four_points_fill_a_table_in_perspective) {
  const uint32_t bytes = warp_table_bytes(32, 16).value();
  const WarpTable table{bytes_of(std::vector<uint8_t>(bytes)), bytes, 32, 16};
  PointPairs points;
  points.from = {{{0, 0}, {31, 0}, {31, 15}, {0, 15}}};
  points.to = points.from;
  points.from_count = points.to_count = 4;
  ASSERT_TRUE(fill_perspective_table(points, 0, table).ok());
  const auto* xy = static_cast<const float*>(table.data) + 2 * (5 * 32 + 9);
  EXPECT_NEAR(xy[0], 9, 1e-3);
  EXPECT_NEAR(xy[1], 5, 1e-3);
  EXPECT_EQ(fill_affine_table(points, 0, table).code(), Code::invalid_argument) << "three points";
}

}  // namespace
}  // namespace anynpu::media
