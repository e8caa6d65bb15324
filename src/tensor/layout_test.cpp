// SPDX-License-Identifier: Apache-2.0
#include "tensor/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Layout, BlocksAreWiderForNarrowTypes) {
  EXPECT_EQ(block_width(DType::f32), 16);
  EXPECT_EQ(block_width(DType::f16), 16);
  EXPECT_EQ(block_width(DType::i8), 32);
  EXPECT_EQ(block_width(DType::i4), 64);
  EXPECT_EQ(block_count(33, 16), 3);
  EXPECT_EQ(block_count(-1, 16), -1) << "a dynamic extent stays";
}

TEST(Layout, AxesAreReorderedBetweenFormatsOfTheSameAxes) {
  EXPECT_THAT(axis_order(Format::nchw, Format::nhwc), ElementsAre(0, 2, 3, 1));
  EXPECT_THAT(axis_order(Format::ndhwc, Format::ncdhw), ElementsAre(0, 4, 1, 2, 3));
  EXPECT_THAT(axis_order(Format::nchw, Format::ncdhw), IsEmpty());
  EXPECT_THAT(*shape_in_format({2, 3, 4, 5}, Format::nchw, Format::hwcn, DType::f32),
              ElementsAre(4, 5, 3, 2));
}

TEST(Layout, ChannelsAreSplitIntoBlocks) {
  EXPECT_THAT(*shape_in_format({1, 35, 4, 5}, Format::nchw, Format::nc1hwc0, DType::f16),
              ElementsAre(1, 3, 4, 5, 16));
  EXPECT_THAT(*shape_in_format({1, 4, 5, 35}, Format::nhwc, Format::nc1hwc0, DType::i8),
              ElementsAre(1, 2, 4, 5, 32));
  EXPECT_THAT(*shape_in_format({20, 16, 3, 3}, Format::nchw, Format::fractal_z, DType::f16),
              ElementsAre(9, 2, 16, 16));
}

TEST(Layout, MatricesAreSplitIntoBlocksOfRowsAndColumns) {
  EXPECT_THAT(*shape_in_format({7, 20, 40}, Format::nd, Format::fractal_nz, DType::f16),
              ElementsAre(7, 3, 2, 16, 16));
}

TEST(Layout, TheSameFormatAndNdKeepTheExtents) {
  EXPECT_THAT(*shape_in_format({3, 4}, Format::nhwc, Format::nhwc, DType::f32), ElementsAre(3, 4));
  EXPECT_THAT(*shape_in_format({1, 2, 3, 4}, Format::nhwc, Format::nd, DType::f32),
              ElementsAre(1, 2, 3, 4));
}

TEST(Layout, OtherPairsAndRanksAreRefused) {
  EXPECT_FALSE(shape_in_format({3}, Format::nd, Format::fractal_nz, DType::f32).ok());
  EXPECT_FALSE(shape_in_format({3, 4}, Format::nchw, Format::nhwc, DType::f32).ok());
  const Status status =
      shape_in_format({1, 2, 3, 4, 5}, Format::ncdhw, Format::nc1hwc0, DType::f32).status();
  EXPECT_EQ(status.code(), Code::unsupported_shape);
  EXPECT_THAT(status.message(), HasSubstr("1x2x3x4x5 in NCDHW has no NC1HWC0 form"));
}

}  // namespace
}  // namespace anynpu
