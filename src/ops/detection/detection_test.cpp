// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "ops/test_node.h"

namespace anynpu::ops::detection {
namespace {

using Floats = std::vector<float>;
using Ints = std::vector<int64_t>;

TestNode max_roi(Floats roi) {
  TestNode node("MaxRoiPool");
  node.floats({1, 1, 4, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15})
      .floats({1, 5}, std::move(roi))
      .attr("pooled_shape", Ints{2, 2});
  return node;
}

TEST(Detect, MaxRoiPoolTakesTheLargestOfEachBin) {
  EXPECT_EQ(max_roi({0, 0, 0, 3, 3}).evaluate(), (Floats{5, 7, 13, 15}));
  EXPECT_EQ(max_roi({0, 0, 0, 7, 7}).attr("spatial_scale", 0.4f).evaluate(),
            (Floats{5, 7, 13, 15}));
  // Three pixels over two bins: the middle one counts in both.
  EXPECT_EQ(max_roi({0, 1, 1, 3, 3}).evaluate(), (Floats{10, 11, 14, 15}));
  // Outside the image nothing is left.
  EXPECT_EQ(max_roi({0, 9, 9, 12, 12}).evaluate(), (Floats{0, 0, 0, 0}));
}

TEST(Detect, RegionsOfNoImageAreRefused) {
  for (float image : {-1.0f, 1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    auto node = max_roi({image, 0, 0, 3, 3});
    const auto context = node.infer();
    ASSERT_TRUE(context.ok());
    const auto result = evaluate(*context);
    ASSERT_FALSE(result.ok());
    EXPECT_NE(result.status().to_string().find("region 0"), std::string::npos);
  }
}

TEST(Detect, PsRoiPoolAveragesOneChannelPerBin) {
  TestNode node("PsRoiPool", 1, "anynpu");
  node.floats({1, 4, 2, 2}, {1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 5, 6, 7})
      .floats({1, 5}, {0, 0, 0, 1, 1})
      .attr("output_dim", int64_t{1})
      .attr("group_size", int64_t{2});
  EXPECT_EQ(node.evaluate(), (Floats{1, 2, 3, 7}));
}

TEST(Detect, PsRoiPoolNeedsAChannelForEachBin) {
  TestNode node("PsRoiPool", 1, "anynpu");
  node.shape({1, 5, 2, 2})
      .shape({1, 5})
      .attr("output_dim", int64_t{1})
      .attr("group_size", int64_t{2});
  EXPECT_NE(node.shape_text().find("5 channels"), std::string::npos);
}

// Three priors; the first two overlap. Class 0 is the background.
TestNode detections() {
  TestNode node("DetectionOutput", 1, "anynpu");
  node.floats({1, 12}, Floats(12, 0.0f))
      .floats({1, 6}, {0.1f, 0.9f, 0.2f, 0.8f, 0.3f, 0.7f})
      .floats({1, 2, 12}, {0,    0,    0.4f, 0.4f, 0,    0,    0.4f, 0.5f, 0.6f, 0.6f, 1,    1,  //
                           0.1f, 0.1f, 0.2f, 0.2f, 0.1f, 0.1f, 0.2f, 0.2f, 0.1f, 0.1f, 0.2f, 0.2f})
      .attr("num_classes", int64_t{2})
      .attr("keep_top_k", int64_t{3})
      .attr("nms_threshold", 0.5f)
      .attr("code_type", std::string("CORNER"));
  return node;
}

TEST(Detect, DetectionOutputSuppressesOverlapsAndFillsUp) {
  EXPECT_EQ(detections().evaluate(), (Floats{0,  1, 0.9f, 0,    0,    0.4f, 0.4f,  //
                                             0,  1, 0.7f, 0.6f, 0.6f, 1,    1,     //
                                             -1, 0, 0,    0,    0,    0,    0}));
  EXPECT_EQ(detections().attr("nms_threshold", 0.9f).attr("keep_top_k", int64_t{2}).evaluate(),
            (Floats{0, 1, 0.9f, 0, 0, 0.4f, 0.4f, 0, 1, 0.8f, 0, 0, 0.4f, 0.5f}));
  EXPECT_EQ(
      detections().attr("confidence_threshold", 0.95f).attr("keep_top_k", int64_t{1}).evaluate(),
      (Floats{-1, 0, 0, 0, 0, 0, 0}));
}

TEST(Detect, DetectionOutputKeepsEveryBoxWithoutAnUpperNumber) {
  EXPECT_EQ(detections().attr("keep_top_k", int64_t{-1}).shape_text(), "1x1x3x7");
  EXPECT_NE(detections().attr("keep_top_k", int64_t{0}).shape_text().find("keep_top_k 0"),
            std::string::npos);
  EXPECT_NE(detections().attr("num_classes", int64_t{3}).shape_text().find("3 confidences"),
            std::string::npos);
}

TEST(RoiAlign, FailsOnABatchThatIsNotThere) {
  TestNode node("RoiAlign", 16);
  const auto context =
      node.floats({1, 1, 2, 2}, {1, 2, 3, 4}).floats({1, 4}, {0, 0, 2, 2}).ints({1}).infer();
  ASSERT_TRUE(context.ok()) << context.status().to_string();
  EXPECT_FALSE(evaluate(*context).ok());
}

TestNode roi_gradient(Ints picture, Ints input_shape) {
  TestNode node("RoiAlignGrad", 1, "anynpu");
  node.floats({1, 1, 2, 2}, {4, 8, 12, 16})
      .floats({1, 4}, {0, 0, 4, 4})
      .ints(std::move(picture))
      .attr("input_shape", std::move(input_shape))
      .attr("sampling_ratio", int64_t{2});
  return node;
}

TEST(RoiAlign, TheGradientGivesEachPixelItsShareOfTheMeans) {
  const Floats quarters{1, 1, 2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 3, 3, 4, 4};
  EXPECT_EQ(roi_gradient({0}, {1, 1, 4, 4}).evaluate(), quarters);
  Floats second(16, 0.0f);
  second.insert(second.end(), quarters.begin(), quarters.end());
  EXPECT_EQ(roi_gradient({1}, {2, 1, 4, 4}).evaluate(), second);
}

TEST(RoiAlign, TheGradientChecksShapesAndPictures) {
  EXPECT_NE(roi_gradient({0}, {1, 2, 4, 4}).shape_text().find("input_shape 1x2x4x4"),
            std::string::npos);
  EXPECT_NE(roi_gradient({0}, {1, 1, 4}).shape_text().find("expected R, C, h, w"),
            std::string::npos);
  auto node = roi_gradient({3}, {1, 1, 4, 4});
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  EXPECT_FALSE(evaluate(*context).ok());
}

}  // namespace
}  // namespace anynpu::ops::detection
