// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "import/singleop/op_for_test.h"

namespace anynpu::singleop {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

TEST(Layout, TransDataGoesToBlocksAndBack) {
  const OpForTest there = OpForTest("TransData")
                              .in({1, 20, 4, 4}, DType::f16, Format::nchw)
                              .out({1, 2, 4, 4, 16}, DType::f16, Format::nc1hwc0)
                              .attr("src_format", std::string("NCHW"))
                              .attr("dst_format", std::string("NC1HWC0"));
  EXPECT_EQ(there.shape(), (Shape{1, 2, 4, 4, 16}));
  const OpForTest back = OpForTest("TransData")
                             .in({1, 2, 4, 4, 16}, DType::f16, Format::nc1hwc0)
                             .out({1, 20, 4, 4}, DType::f16, Format::nchw)
                             .attr("src_format", std::string("NC1HWC0"))
                             .attr("dst_format", std::string("NCHW"));
  EXPECT_EQ(back.shape(), (Shape{1, 20, 4, 4}));
}

TEST(Layout, FromBlocksToOtherBlocksIsRefused) {
  EXPECT_THAT(OpForTest("TransData")
                  .in({1, 2, 4, 4, 16}, DType::f16, Format::nc1hwc0)
                  .out({2, 1, 16, 16}, DType::f16, Format::fractal_nz)
                  .attr("src_format", std::string("NC1HWC0"))
                  .attr("dst_format", std::string("FRACTAL_NZ"))
                  .message(),
              HasSubstr("go through NCHW or ND"));
}

TEST(Layout, AxesArePermutedBetweenNchwAndNhwc) {
  EXPECT_EQ(OpForTest("TransData")
                .in({1, 3, 4, 5}, DType::f32, Format::nchw)
                .out({1, 4, 5, 3}, DType::f32, Format::nhwc)
                .attr("src_format", std::string("NCHW"))
                .attr("dst_format", std::string("NHWC"))
                .shape(),
            (Shape{1, 4, 5, 3}));
}

}  // namespace
}  // namespace anynpu::singleop
