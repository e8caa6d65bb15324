// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops {
namespace {

using Floats = std::vector<float>;

TEST(RotaryEmbedding, TurnsHalvesOrNeighboursOfEachHead) {
  // Angles of 0 and 90 degrees for the two pairs.
  const auto node = [](int64_t interleaved) {
    return TestNode("RotaryEmbedding", 23)
        .floats({1, 1, 1, 4}, {1, 2, 3, 4})
        .floats({1, 1, 2}, {1, 0})
        .floats({1, 1, 2}, {0, 1})
        .attr("interleaved", interleaved)
        .evaluate();
  };
  EXPECT_EQ(node(0), (Floats{1, -4, 3, 2}));
  EXPECT_EQ(node(1), (Floats{1, 2, -4, 3}));
}

TEST(RotaryEmbedding, TakesPositionsAndLeavesWhatIsBehindTheRotaryPart) {
  // Two heads of three elements, two of which turn; the second row of the caches is 90 degrees.
  const auto node = [](int64_t position) {
    return TestNode("RotaryEmbedding", 23)
        .floats({1, 1, 6}, {1, 2, 3, 4, 5, 6})
        .floats({2, 1}, {1, 0})
        .floats({2, 1}, {0, 1})
        .ints({1, 1}, {position})
        .attr("num_heads", int64_t{2})
        .attr("rotary_embedding_dim", int64_t{2});
  };
  EXPECT_EQ(node(1).evaluate(), (Floats{-2, 1, 3, -5, 4, 6}));
  auto far = node(2);
  const auto outside = far.infer();
  ASSERT_TRUE(outside.ok());
  const auto y = evaluate(*outside);
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.status().to_string().find("index 2"), std::string::npos);
  EXPECT_NE(TestNode("RotaryEmbedding", 23)
                .shape({1, 2, 6})
                .shape({1, 2, 3})
                .shape({1, 2, 3})
                .shape_text()
                .find("with num_heads"),
            std::string::npos);
}

TEST(LinearAttention, AddsProductsOfKeysAndValuesToItsState) {
  // One head of size 1: the state is a number, 2 at first; two tokens.
  const auto node = [](const char* rule) {
    return TestNode("LinearAttention", 27)
        .floats({1, 2, 1}, {1, 10})
        .floats({1, 2, 1}, {1, 2})
        .floats({1, 2, 1}, {3, 4})
        .floats({1, 1, 1, 1}, {2})
        .attr("q_num_heads", int64_t{1})
        .attr("kv_num_heads", int64_t{1})
        .attr("update_rule", std::string(rule));
  };
  EXPECT_EQ(node("linear").evaluate(), (Floats{5, 130}));
  // S = 2, then 0.5 * 2 + 3 = 4, then 0.5 * 4 + 8 = 10.
  const auto half = static_cast<float>(std::log(0.5));
  const auto gated = node("gated").floats({1, 2, 1}, {half, half}).evaluate();
  EXPECT_NEAR(gated[0], 4, 1e-5);
  EXPECT_NEAR(gated[1], 100, 1e-4);
  // S = 2 + 0.5 * (3 - 2) = 2.5, then 2.5 + 0.5 * 2 * (4 - 5) = 1.5.
  EXPECT_EQ(node("delta").absent().floats({1, 2, 1}, {0.5f, 0.5f}).evaluate(), (Floats{2.5f, 15}));
  EXPECT_NE(node("gated").shape_text().find("goes with decay"), std::string::npos);
}

TEST(FusedAttention, AveragesTheValuesByTheSoftmaxOfTheScores) {
  // Equal scores: the mean of the values; a mask that shuts one out: the other.
  const auto node = [] {
    return TestNode("FusedAttention", 1, "anynpu")
        .floats({1, 1, 2}, {0, 0})
        .floats({1, 2, 2}, {1, 2, 3, 4})
        .floats({1, 2, 2}, {2, 4, 6, 8});
  };
  EXPECT_EQ(node().evaluate(), (std::vector<float>{4, 6}));
  EXPECT_EQ(node().floats({1, 2}, {0, -1e9f}).evaluate(), (std::vector<float>{2, 4}));
}

TEST(FusedAttention, RefusesHeadsThatDoNotDivideTheWidth) {
  EXPECT_NE(TestNode("FusedAttention", 1, "anynpu")
                .shape({1, 4, 8})
                .shape({1, 4, 8})
                .shape({1, 4, 8})
                .attr("heads", int64_t{3})
                .shape_text()
                .find("3 heads"),
            std::string::npos);
}

TEST(FusedAttention, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "FusedAttention shape=1x128x64,1x128x64,1x128x64 heads=1 scale=0.125 domain=anynpu "
          "opset=1",
          "FusedAttention shape=2x17x48,2x33x48,2x33x24 heads=3 scale=0.5 domain=anynpu opset=1",
          "FusedAttention shape=2x5x32,2x7x32,2x7x32,2x1x1x7 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x5x32,1x7x32,1x7x32,2x5x7 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x5x32,1x7x32,1x7x32,5x1 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x1x5,1x1x5,1x1x3 domain=anynpu opset=1",
          "FusedAttention shape=0x4x8,0x4x8,0x4x8 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x0x8,1x4x8,1x4x8 heads=2 domain=anynpu opset=1",
          "FusedAttention shape=1x3x8,1x4x8,1x4x8 heads=2 dtype=float16 domain=anynpu opset=1",
          "FusedAttention shape=2x17x48,2x33x48,2x33x24 heads=3 scale=0.5 dtype=bfloat16 "
          "domain=anynpu opset=1",
          "FusedAttention shape=2x5x32,2x7x32,2x7x32,2x1x1x7 heads=2 dtype=float16 domain=anynpu "
          "opset=1",
          "FusedAttention shape=2x19x32,2x37x32,2x37x32,2x1x1x37 heads=2 "
          "dtype=bfloat16,bfloat16,bfloat16,float32 domain=anynpu opset=1",
          "FusedAttention shape=2x19x32,2x37x32,2x37x32,2x1x1x37 heads=2 "
          "dtype=float32,float32,float32,bfloat16 domain=anynpu opset=1",
          "FusedAttention shape=1x3x8,1x4x8,1x4x8,3x4 heads=2 "
          "dtype=float16,float16,float16,float64 domain=anynpu opset=1",
      },
      32);
}

}  // namespace
}  // namespace anynpu::ops
