// SPDX-License-Identifier: Apache-2.0
#include "ops/test_node.h"

namespace anynpu::ops {
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

TEST(GridSample, ReadsBetweenPixels) {
  EXPECT_EQ(TestNode("GridSample", 16)
                .floats({1, 1, 1, 2}, {1, 3})
                .floats({1, 1, 1, 2}, {0, 0})
                .attr("align_corners", int64_t{1})
                .evaluate(),
            (Floats{2}));
}

TEST(RoiAlign, FailsOnABatchThatIsNotThere) {
  TestNode node("RoiAlign", 16);
  const auto context =
      node.floats({1, 1, 2, 2}, {1, 2, 3, 4}).floats({1, 4}, {0, 0, 2, 2}).ints({1}).infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  EXPECT_FALSE(evaluate(*context).ok());
}

}  // namespace
}  // namespace anynpu::ops
