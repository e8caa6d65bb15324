// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops::resize {
namespace {

using Floats = std::vector<float>;

TEST(Resize, NearestRepeatsAndLinearInterpolates) {
  const auto resized = [](const char* mode) {
    return TestNode("Resize", 13)
        .floats({1, 2}, {1, 3})
        .absent()
        .floats({2}, {1, 2})
        .attr("mode", std::string(mode))
        .evaluate();
  };
  EXPECT_EQ(resized("nearest"), (Floats{1, 1, 3, 3}));
  EXPECT_EQ(resized("linear"), (Floats{1, 1.5f, 2.5f, 3}));
}

TEST(Resize, TakesSizesAndRefusesTheWrongNumberOfThem) {
  EXPECT_EQ(
      TestNode("Resize", 13).shape({1, 1, 4, 4}).absent().absent().ints({1, 1, 2, 8}).shape_text(),
      "1x1x2x8");
  EXPECT_NE(TestNode("Resize", 13)
                .shape({1, 4})
                .absent()
                .absent()
                .ints({8})
                .shape_text()
                .find("for 2 axes"),
            std::string::npos);
}

TEST(Resize, RefusesWordsThatAreNone) {
  for (const char* attr :
       {"mode", "coordinate_transformation_mode", "nearest_mode", "keep_aspect_ratio_policy"}) {
    const std::string refused = TestNode("Resize", 18)
                                    .shape({1, 4})
                                    .absent()
                                    .floats({2}, {1, 2})
                                    .attr(attr, std::string("round"))
                                    .shape_text();
    EXPECT_NE(refused.find(std::string(attr) + " is 'round', expected one of"), std::string::npos)
        << refused;
  }
}

TEST(Resize, KnowsTheHalfPixelOfOpset11) {
  const auto resized = [](const char* where) {
    return TestNode("Resize", 11)
        .floats({1, 4}, {0, 1, 2, 3})
        .floats({0}, {})
        .floats({2}, {1, 0.5f})
        .attr("coordinate_transformation_mode", std::string(where))
        .attr("nearest_mode", std::string("floor"))
        .evaluate();
  };
  EXPECT_EQ(resized("half_pixel"), (Floats{0, 2}));
  EXPECT_EQ(resized("tf_half_pixel_for_nn"), (Floats{1, 3}));
}

TEST(GridSample, ReadsBetweenPixels) {
  EXPECT_EQ(TestNode("GridSample", 16)
                .floats({1, 1, 1, 2}, {1, 3})
                .floats({1, 1, 1, 2}, {0, 0})
                .attr("align_corners", int64_t{1})
                .evaluate(),
            (Floats{2}));
}

TEST(GridSample, FloatKernelsAgreeWithTheReference) {
  check_cases(
      {
          "GridSample opset=16 shape=2x3x9x11,2x5x7x2",
          "GridSample opset=16 shape=2x3x9x11,2x5x7x2 align_corners=1",
          "GridSample opset=16 shape=1x5x1x6,1x9x40x2 padding_mode=border",
          "GridSample opset=20 shape=300x1x6x6,300x7x7x2 align_corners=1 padding_mode=border",
          "GridSample opset=20 shape=1x40x16x16,1x16x16x2 padding_mode=zeros",
      },
      5);
}

TEST(GridSample, RefusesAPictureWithoutElements) {
  const std::string refused =
      TestNode("GridSample", 16).shape({1, 1, 0, 2}).shape({1, 3, 3, 2}).shape_text();
  EXPECT_NE(refused.find("1x1x0x2 has no elements to sample"), std::string::npos) << refused;
}

}  // namespace
}  // namespace anynpu::ops::resize
