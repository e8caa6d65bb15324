// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::norm {
namespace {

using Floats = std::vector<float>;

TEST(LayerNormalization, NormalisesTheLastDimensions) {
  const auto y = TestNode("LayerNormalization", 17)
                     .floats({2, 2}, {1, 3, 10, 30})
                     .floats({2}, {1, 2})
                     .floats({2}, {0, 1})
                     .attr("epsilon", 0.0f)
                     .evaluate();
  ASSERT_EQ(y.size(), 4u);
  EXPECT_NEAR(y[0], -1, 1e-6);
  EXPECT_NEAR(y[1], 3, 1e-6);
  EXPECT_NEAR(y[2], -1, 1e-6);
  EXPECT_NE(
      TestNode("LayerNormalization", 17).shape({2, 3}).shape({2}).shape_text().find("expected 3"),
      std::string::npos);
}

TEST(LayerNormalization, StatisticsHaveTheTypeOfStashType) {
  const auto statistics = [](int64_t stash) {
    TestNode made("LayerNormalization", 17);
    made.shape({2, 3}, DType::f16).shape({3}, DType::f16).attr("stash_type", stash);
    made.node.outputs = {1000, 1001, 1002};
    return made.infer();
  };
  EXPECT_EQ(statistics(1)->outputs[1].dtype, DType::f32);
  EXPECT_EQ(statistics(16)->outputs[2].dtype, DType::bf16);
  EXPECT_EQ(statistics(16)->outputs[0].dtype, DType::f16);
  EXPECT_NE(statistics(10).status().message().find("stash_type is 10, expected 1 (FLOAT) or 16"),
            std::string::npos);
}

TEST(RMSNormalization, DoesNotCentre) {
  const auto y = TestNode("RMSNormalization", 23)
                     .floats({1, 2}, {3, 4})
                     .floats({2}, {1, 1})
                     .attr("epsilon", 0.0f)
                     .evaluate();
  EXPECT_NEAR(y[0], 3 / std::sqrt(12.5), 1e-6);
}

TEST(RMSNormalization, BroadcastsTheScaleAndGivesItsType) {
  const auto y = TestNode("RMSNormalization", 23)
                     .floats({2, 2, 1}, {3, 4, -3, -4})
                     .floats({2, 1, 1}, {1, 10})
                     .attr("axis", int64_t{1})
                     .attr("epsilon", 0.0f)
                     .evaluate();
  const auto root = static_cast<float>(std::sqrt(12.5));
  EXPECT_NEAR(y[1], 4 / root, 1e-6);
  EXPECT_NEAR(y[2], -30 / root, 1e-5);
  const auto mixed =
      TestNode("RMSNormalization", 23).shape({2, 4}, DType::f16).shape({4}, DType::f32).infer();
  ASSERT_TRUE(mixed.ok());
  EXPECT_EQ(mixed->outputs[0].dtype, DType::f32);
}

TEST(GroupNormalization, ScalesByGroupBeforeOpset21AndByChannelAfter) {
  const Floats x = {1, 3, 5, 7};  // 2 channels of 2, one group each
  const auto old = TestNode("GroupNormalization", 18)
                       .floats({1, 2, 2}, x)
                       .floats({2}, {1, 2})
                       .floats({2}, {0, 0})
                       .attr("num_groups", int64_t{2})
                       .attr("epsilon", 0.0f)
                       .evaluate();
  EXPECT_NEAR(old[1], 1, 1e-6);
  EXPECT_NEAR(old[3], 2, 1e-6);
  EXPECT_NE(TestNode("GroupNormalization", 21)
                .shape({1, 4, 2})
                .shape({2})
                .shape({2})
                .attr("num_groups", int64_t{2})
                .shape_text()
                .find("do not fit"),
            std::string::npos);
}

TEST(LayerNormalization, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "LayerNormalization shape=3x768,768,768 opset=17 outputs=3",
          "LayerNormalization shape=2x5x33,33 opset=17",
          "LayerNormalization shape=2x5x33,33 opset=17 outputs=3 stash_type=16",
          "LayerNormalization shape=2x5x6,5x6,5x6 axis=1 opset=17",
          "LayerNormalization shape=2x1,1,1 opset=17 epsilon=0.5",
          "LayerNormalization shape=1x5000,5000,5000 opset=17",
          "LayerNormalization shape=0x8,8 opset=17",
          "LayerNormalization shape=2x9,9,9 opset=17 dtype=float16",
          "RMSNormalization shape=4x50,50 opset=23",
      },
      16);
}

TEST(Norm, ChannelsByVectorsAgreeWithTheReference) {
  check_cases(
      {
          "InstanceNormalization shape=2x5x7x9,5,5",
          "InstanceNormalization shape=1x3x1,3,3 epsilon=0.5",
          "InstanceNormalization shape=2x3x5000,3,3",
          "InstanceNormalization shape=2x0x4,0,0",
          "InstanceNormalization shape=0x3x4,3,3",
          "InstanceNormalization shape=2x3x40,3,3 dtype=bfloat16",
          "GroupNormalization shape=2x6x5x7,6,6 num_groups=3 opset=21",
          "GroupNormalization shape=2x6x5x7,2,2 num_groups=2 opset=18",
          "GroupNormalization shape=1x8x1x1,8,8 num_groups=2 opset=21",
          "GroupNormalization shape=1x4x33,4,4 num_groups=1 opset=21 dtype=float16",
          "MeanVarianceNormalization shape=2x3x5x7",
          "MeanVarianceNormalization shape=1x3x5x7",
          "MeanVarianceNormalization shape=2x3x5x7 axes=2,3",
          "MeanVarianceNormalization shape=2x3x5x7 axes=0,1,2,3",
          "MeanVarianceNormalization shape=2x3x5x7 axes=1,2",
          "MeanVarianceNormalization shape=4x3x21 axes=0,2 dtype=float16",
          "BatchNormalization shape=3x5x3x7,5,5,5,5 training_mode=1 opset=15 outputs=3",
          "BatchNormalization shape=3x5x37,5,5,5,5 training_mode=1 opset=15 dtype=float16",
          "ChannelGradSums shape=3x5x7x9,3x5x7x9,5 domain=anynpu opset=1 outputs=2",
          "ChannelGradSums shape=2x3x2100,2x3x2100,3 domain=anynpu opset=1 outputs=2",
          "ChannelGradSums shape=6x4,6x4,4 domain=anynpu opset=1 outputs=2",
      },
      50);
}

TEST(Norm, ValuesFarFromZeroKeepTheirDifferences) {
  auto op_case = OpCase::parse("InstanceNormalization shape=1x2x3000,2,2");
  ASSERT_TRUE(op_case.ok());
  auto* x = reinterpret_cast<float*>(op_case->data()[0].data());
  for (int i = 0; i < 6000; ++i)
    x[i] = (i < 3000 ? 1e6f : 1e30f) * (1 + 1e-6f * static_cast<float>(i % 9));
  const Status status = check_all_kernels(*op_case);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

TEST(LRN, DividesByTheNeighboursAlongTheChannels) {
  const auto y = TestNode("LRN")
                     .floats({1, 3, 1}, {1, 1, 1})
                     .attr("size", int64_t{3})
                     .attr("alpha", 3.0f)
                     .attr("beta", 1.0f)
                     .evaluate();
  EXPECT_EQ(y, (Floats{1.0f / 3, 0.25f, 1.0f / 3}));
}

}  // namespace
}  // namespace anynpu::ops::norm
