// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "ops/test_node.h"

namespace anynpu::ops::attention {
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

// Scores of 0, so that every key that is seen has the same weight.
TestNode flat_attention(int64_t opset, int64_t rows = 2) {
  return TestNode("Attention", opset)
      .floats({1, 1, rows, 1}, Floats(static_cast<size_t>(rows), 0))
      .floats({1, 1, 4, 1}, {1, 1, 1, 1})
      .floats({1, 1, 4, 1}, {1, 2, 4, 8});
}

TEST(Attention, SharesKeysAndValuesAmongTheHeadsOfAGroup) {
  // Four heads of queries over two of keys; each key is alone, so its value is the result.
  EXPECT_EQ(TestNode("Attention", 23)
                .floats({1, 1, 4}, {1, 2, 3, 4})
                .floats({1, 1, 2}, {1, 1})
                .floats({1, 1, 2}, {5, 7})
                .attr("q_num_heads", int64_t{4})
                .attr("kv_num_heads", int64_t{2})
                .evaluate(),
            (Floats{5, 5, 7, 7}));
}

TEST(Attention, MasksByTruthByNumberAndByLength) {
  EXPECT_EQ(flat_attention(23, 1).bools({1, 4}, {1, 0, 0, 1}).evaluate(), (Floats{4.5f}));
  EXPECT_EQ(flat_attention(23, 1).floats({4}, {0, -INFINITY, 0, -INFINITY}).evaluate(),
            (Floats{2.5f}));
  // A mask that is too short shuts out the rest; a row that sees nothing is 0.
  EXPECT_EQ(flat_attention(23, 1).bools({1, 2}, {1, 1}).evaluate(), (Floats{1.5f}));
  EXPECT_EQ(flat_attention(23, 1).bools({1, 4}, {0, 0, 0, 0}).evaluate(), (Floats{0}));
  const auto counted = [](int64_t length) {
    return flat_attention(24).absent().absent().absent().ints({length});
  };
  EXPECT_EQ(counted(3).attr("is_causal", int64_t{1}).evaluate(),
            (Floats{1.5f, static_cast<float>(7.0 / 3)}));
  EXPECT_EQ(counted(1).attr("is_causal", int64_t{1}).evaluate(), (Floats{0, 1}));
}

TEST(Attention, LooksBackAndAheadAsFarAsTheWindowGoes) {
  const auto node = [](int64_t left, int64_t right) {
    return flat_attention(25, 4)
        .attr("left_window_size", left)
        .attr("right_window_size", right)
        .evaluate();
  };
  EXPECT_EQ(node(0, 1), (Floats{1.5f, 3, 6, 8}));
  EXPECT_EQ(node(1, 0), (Floats{1, 1.5f, 3, 6}));
  EXPECT_EQ(node(-1, 0)[2], static_cast<float>(7.0 / 3));
  EXPECT_NE(flat_attention(25).attr("left_window_size", int64_t{-2}).shape_text().find("is -2"),
            std::string::npos);
}

TEST(Attention, JoinsThePastInFrontOfTheGivenKeys) {
  TestNode node("Attention", 23);
  node.floats({1, 1, 1, 1}, {0})
      .floats({1, 1, 1, 1}, {3})
      .floats({1, 1, 1, 1}, {6})
      .absent()
      .floats({1, 1, 2, 1}, {1, 2})
      .floats({1, 1, 2, 1}, {0, 0})
      .attr("is_causal", int64_t{1});
  EXPECT_EQ(node.evaluate(), (Floats{2}));
  node.node.outputs = {1000, 1001, 1002};
  const auto context = node.infer();
  ASSERT_TRUE(context.ok());
  const auto outputs = evaluate(*context);
  ASSERT_TRUE(outputs.ok());
  const auto* keys = reinterpret_cast<const float*>((*outputs)[1].data());
  EXPECT_EQ((Floats{keys[0], keys[1], keys[2]}), (Floats{1, 2, 3}));
}

TEST(Attention, NamesWhatDoesNotFit) {
  const auto text = [](TestNode node) { return node.shape_text(); };
  EXPECT_NE(text(TestNode("Attention", 23).shape({1, 2, 8}).shape({1, 2, 8}).shape({1, 2, 8}))
                .find("with both numbers"),
            std::string::npos);
  EXPECT_NE(text(flat_attention(23).shape({3, 4}, DType::boolean)).find("the mask is 3x4"),
            std::string::npos);
  EXPECT_NE(text(flat_attention(23).absent().shape({1, 1, 2, 1})).find("given together"),
            std::string::npos);
  EXPECT_EQ(text(TestNode("Attention", 23)
                     .shape({-1, 8, -1, 64})
                     .shape({-1, 2, -1, 64})
                     .shape({-1, 2, -1, 32})),
            "?x8x?x32");
}

TEST(Attention, EveryKernelAgreesWithTheReference) {
  check_cases(
      {
          "Attention shape=2x3x17x16,2x3x33x16,2x3x33x24 opset=25",
          "Attention shape=2x4x17x16,2x2x33x16,2x2x33x24 is_causal=1 opset=25",
          "Attention shape=1x19x32,1x19x32,1x19x32 q_num_heads=2 kv_num_heads=2 is_causal=1 "
          "opset=25",
          "Attention shape=1x40x64,1x40x16,1x40x32 q_num_heads=4 kv_num_heads=1 is_causal=1 "
          "left_window_size=5 opset=25",
          "Attention shape=1x40x64,1x40x16,1x40x32 q_num_heads=4 kv_num_heads=1 "
          "left_window_size=3 right_window_size=20 opset=25",
          "Attention shape=2x2x5x16,2x2x7x16,2x2x7x16,5x4 dtype=float32,float32,float32,bool "
          "opset=25",
          "Attention shape=2x2x5x16,2x2x7x16,2x2x7x16,2x1x5x7 softcap=2 opset=25",
          "Attention shape=2x2x5x16,2x2x7x16,2x2x7x16,2x5x7 dtype=float16 softcap=0.5 opset=25",
          "Attention shape=2x2x5x16,2x2x3x16,2x2x3x8,_,2x2x30x16,2x2x30x8 is_causal=1 outputs=3 "
          "opset=25",
          "Attention shape=2x2x5x16,2x2x3x16,2x2x3x8,_,2x2x30x16,2x2x30x8 opset=25",
          "Attention shape=2x3x32,2x3x32,2x3x16,_,2x2x9x16,2x2x9x8 q_num_heads=2 kv_num_heads=2 "
          "dtype=bfloat16 outputs=3 opset=25",
          "Attention shape=2x2x5x16,2x2x7x16,2x2x7x16,_,_,_ ints=6:3,7 is_causal=1 opset=25",
          "Attention shape=2x2x5x16,2x2x7x16,2x2x7x16,_,_,_ ints=6:0,4 is_causal=1 opset=25",
          "Attention shape=1x2x5x16,1x2x7x16,1x2x7x16,5x7 outputs=4 opset=25",
          "Attention shape=1x2x5x16,1x2x7x16,1x2x7x16,5x7 outputs=4 qk_matmul_output_mode=1 "
          "softcap=1 is_causal=1 opset=25",
          "Attention shape=1x2x5x16,1x2x7x16,1x2x7x16,5x7 outputs=4 qk_matmul_output_mode=2 "
          "is_causal=1 dtype=float16 opset=25",
          "Attention shape=1x2x5x16,1x2x7x16,1x2x7x16,5x7 outputs=4 qk_matmul_output_mode=3 "
          "is_causal=1 opset=25",
          "Attention shape=1x2x5x16,1x2x7x16,1x2x7x16 dtype=float64 opset=23",
          "Attention shape=1x8x1x16,1x2x150x16,1x2x150x24 opset=23",
          "Attention shape=2x4x3x20,2x2x200x20,2x2x200x36 dtype=float16 is_causal=1 opset=23",
          "Attention shape=1x4x1x32,1x4x5x32,1x4x5x32,_,1x4x124x32,1x4x124x32 dtype=bfloat16 "
          "outputs=3 opset=23",
          "Attention shape=1x16x1x8,1x1x70x8,1x1x70x8,1x70 softcap=3 opset=23",
          "Attention shape=2x6x1x8,2x1x129x8,2x1x129x8 outputs=4 qk_matmul_output_mode=3 opset=23",
          "Attention shape=1x2x5x16,1x2x0x16,1x2x0x16 opset=23",
          "Attention shape=0x2x5x16,0x2x7x16,0x2x7x16 opset=23",
      },
      34);
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
}  // namespace anynpu::ops::attention
