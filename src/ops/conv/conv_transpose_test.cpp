// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::conv {
namespace {

using Floats = std::vector<float>;

TEST(ConvTranspose, SpreadsEachInput) {
  EXPECT_EQ(TestNode("ConvTranspose")
                .floats({1, 1, 2}, {1, 2})
                .floats({1, 1, 2}, {10, 1})
                .attr("strides", Ints{2})
                .evaluate(),
            (Floats{10, 1, 20, 2}));
  EXPECT_EQ(TestNode("ConvTranspose")
                .shape({1, 1, 3, 3})
                .shape({1, 2, 3, 3})
                .attr("pads", Ints{1, 1, 1, 1})
                .attr("strides", Ints{2, 2})
                .attr("output_padding", Ints{1, 1})
                .shape_text(),
            "1x2x6x6");
}

TEST(ConvTranspose, PhasesAgreeWithTheSumOverEveryTap) {
  check_cases(
      {
          "ConvTranspose shape=1x64x8x8,64x32x2x2,32 strides=2,2 const=1,2",
          "ConvTranspose shape=2x6x5x7,6x4x3x3,8 strides=2,3 group=2 pads=1,0,1,1 dilations=2,1 "
          "output_padding=1,0",
          "ConvTranspose shape=1x17x9x6,17x33x4x4 strides=2,2 pads=1,1,1,1 const=1",
          "ConvTranspose shape=1x5x4x4,5x3x5x5,3 pads=3,3,3,3",  // stride 1
          "ConvTranspose shape=1x3x6x5,3x2x2x3 strides=4,5",     // phases without taps
          "ConvTranspose shape=1x3x1x1,3x40x7x7 strides=3,3",    // one input
          "ConvTranspose shape=1x4x5x6,4x4x3x3 strides=2,2 auto_pad=SAME_UPPER",
          "ConvTranspose shape=1x4x5x6,4x4x3x3 strides=2,2 output_shape=8,14",
          "ConvTranspose shape=1x2x3,2x2x2 strides=2 dilations=2",  // every second output is empty
          "ConvTranspose shape=1x8x100,8x16x16,16 strides=8 pads=4,4 const=1",
          "ConvTranspose shape=1x3x3x4x3,3x5x3x2x3,5 strides=2,1,3 pads=1,0,1,0,1,1 const=1,2",
          "ConvTranspose shape=3x8x6x6,8x2x3x3,8 group=4 strides=2,2 dtype=float16",
          // Few output channels: one product, then the sum of what overlaps.
          "ConvTranspose shape=1x40x37,40x1x64,1 strides=16 pads=24,24 const=1,2",
          "ConvTranspose shape=2x9x300,9x2x20 strides=10 dilations=2 pads=3,1 const=1",
          "ConvTranspose shape=2x20x6x7,20x3x4x4,3 strides=2,2 pads=1,1,1,1 const=1,2",
          "ConvTranspose shape=1x5x3x4x3,5x2x3x2x3,2 strides=2,1,3 pads=1,0,1,0,1,1 const=1,2",
          "ConvTranspose shape=1x2x4x4,2x2x2x2 strides=40,40",  // more phases than it takes
      },
      40);
}

TEST(ConvTranspose, PadsAtTheEndsOfTheirTypeAreRefused) {
  for (const int64_t pad : {INT64_MIN, INT64_MAX}) {
    const std::string said = TestNode("ConvTranspose", 11)
                                 .shape({1, 1, 3, 3})
                                 .shape({1, 1, 3, 3})
                                 .attr("pads", std::vector<int64_t>{pad, 0, 0, 0})
                                 .shape_text();
    EXPECT_NE(said.find("do not fit"), std::string::npos) << said;
  }
}

}  // namespace
}  // namespace anynpu::ops::conv
