// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_draw.h"

#include "service/media/vpc_for_test.h"

namespace anynpu::media {
namespace {

using VpcDrawTest = VpcWorkTest;

TEST_F(VpcDrawTest, shapes_are_drawn_over_a_copy_of_the_input) {
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

TEST_F(VpcDrawTest, shapes_outside_of_the_picture_and_odd_numbers_are_refused) {
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

TEST_F(VpcDrawTest, shapes_are_drawn_in_their_order) {
  CoverSpec white, black;
  white.color = 0xffffff;
  white.rect = black.rect = {4, 2, 8, 4};
  const CoverSpec covers[] = {white, black};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_covers(job, pair, covers); }).ok());
  EXPECT_EQ(row(pair.to, 2)[4], 0);
}

TEST_F(VpcDrawTest, the_edge_of_a_shape_leaves_its_inside) {
  CoverSpec cover;
  cover.type = CoverSpec::quadrangle;
  cover.color = 0xffffff;
  cover.corners = {{{4, 2}, {20, 2}, {20, 12}, {4, 12}}};
  cover.solid = false;
  cover.thickness = 1;
  ASSERT_TRUE(run([&](VpcJob& job) { return add_covers(job, pair, {&cover, 1}); }).ok());
  EXPECT_EQ(row(pair.to, 2)[10], 255);
  EXPECT_EQ(row(pair.to, 7)[10], 50);
}

}  // namespace
}  // namespace anynpu::media
