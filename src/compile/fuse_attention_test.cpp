// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using FuseAttentionTest = PassTest;

TEST_F(FuseAttentionTest, AttentionWithMaskBecomesOneNode) {
  for (bool twice : {false, true}) {
    g = {};
    const ValueId q = g.input("q", {2, 4, 6}), k = g.input("k", {2, 5, 6}),
                  v = g.input("v", {2, 5, 8}), mask = g.input("mask", {2, 1, 1, 5});
    const ValueId qt = transpose(reshape(q, {2, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId kt =
        twice ? transpose(transpose(reshape(k, {2, 5, 2, 3}), {0, 2, 1, 3}), {0, 1, 3, 2})
              : transpose(reshape(k, {2, 5, 2, 3}), {0, 2, 3, 1});
    const ValueId scores = node("Div", {node("MatMul", {qt, kt}), scalar(1.7f)});
    const ValueId weights = node("Softmax", {node("Add", {scores, mask})});
    const ValueId vt = transpose(reshape(v, {2, 5, 2, 4}), {0, 2, 1, 3});
    const ValueId context = transpose(node("MatMul", {weights, vt}), {0, 2, 1, 3});
    EXPECT_THAT(after(fuse_attention, reshape(context, {2, 4, 8})), ElementsAre("FusedAttention"));
    EXPECT_EQ(g.graph.nodes[0].int_attr("heads", 0), 2);
    EXPECT_EQ(g.graph.nodes[0].inputs.size(), 4u);
  }
}

TEST_F(FuseAttentionTest, AttentionWithANumberAddedToAllScoresHasNoMask) {
  const auto attention = [&](float shift) {
    g = {};
    const ValueId q = g.input("q", {1, 4, 6});
    const ValueId qt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId kt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 3, 1});
    const ValueId vt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId scores = node("Add", {node("MatMul", {qt, kt}), scalar(shift)});
    const ValueId context = node("MatMul", {node("Softmax", {scores}), vt});
    return reshape(transpose(context, {0, 2, 1, 3}), {1, 4, 6});
  };
  EXPECT_THAT(after(fuse_attention, attention(3)), ElementsAre("FusedAttention"));
  EXPECT_EQ(g.graph.nodes[0].inputs.size(), 3u);
  EXPECT_EQ(after(fuse_attention, attention(-3e38f)).size(), 12u) << "the scores vanish in it";
}

// As GPT-2 has it: scores * b - 1e10 * (1 - b).
TEST_F(FuseAttentionTest, ScoresThatOnesAndZerosHideGetAMask) {
  const auto attention = [&](const std::vector<float>& seen) {
    g = {};
    std::vector<float> taken;
    for (float one : seen) taken.push_back(1e10f * (1 - one));
    const ValueId q = g.input("q", {1, 3, 6}), b = add_constant(g.graph, "b", {1, 1, 3, 3}, seen);
    const ValueId hidden = add_constant(g.graph, "hidden", {1, 1, 3, 3}, std::move(taken));
    const ValueId qt = transpose(reshape(q, {1, 3, 2, 3}), {0, 2, 1, 3});
    const ValueId kt = transpose(reshape(q, {1, 3, 2, 3}), {0, 2, 3, 1});
    const ValueId vt = transpose(reshape(q, {1, 3, 2, 3}), {0, 2, 1, 3});
    const ValueId scores = node("Mul", {node("MatMul", {qt, kt}), scalar(0.5f)});
    const ValueId masked = node("Sub", {node("Mul", {scores, b}), hidden});
    const ValueId context = node("MatMul", {node("Softmax", {masked}), vt});
    return reshape(transpose(context, {0, 2, 1, 3}), {1, 3, 6});
  };
  EXPECT_THAT(after(fuse_attention, attention({1, 0, 0, 1, 1, 0, 1, 1, 1})),
              ElementsAre("FusedAttention"));
  EXPECT_EQ(g.graph.nodes[0].inputs.size(), 4u);
  EXPECT_THAT(after(fuse_attention, attention({1, 0, 0, 0, 0, 0, 1, 1, 1})),
              testing::Contains("Softmax"))
      << "a row that sees nothing";
  EXPECT_THAT(after(fuse_attention, attention({1, 0.5f, 0, 1, 1, 0, 1, 1, 1})),
              testing::Contains("Softmax"));
}

TEST_F(FuseAttentionTest, AttentionInMixedPrecisionBecomesOneNodeOfTheShortType) {
  // As mixed precision leaves it: products in bfloat16, mask and Softmax in float32.
  const int64_t bf16 = 16, f32 = 1;
  const auto cast = [&](ValueId x, int64_t to) {
    const ValueId y = node("Cast", {x});
    last().attrs["to"] = to;
    return y;
  };
  const auto heads = [&](const char* name) { return cast(g.input(name, {1, 4, 6}), bf16); };
  const ValueId mask = g.input("mask", {1, 1, 1, 4});
  const ValueId qt = transpose(reshape(heads("q"), {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId kt = transpose(reshape(heads("k"), {1, 4, 2, 3}), {0, 2, 3, 1});
  const ValueId vt = transpose(reshape(heads("v"), {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId scores = cast(node("MatMul", {qt, kt}), f32);
  const ValueId weights = node("Softmax", {node("Add", {scores, mask})});
  const ValueId product = node("MatMul", {cast(weights, bf16), vt});
  const ValueId joined = reshape(transpose(product, {0, 2, 1, 3}), {1, 4, 6});
  g.graph.outputs = {cast(joined, f32)};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  const auto before = GraphForTest::run(g.graph);
  ASSERT_TRUE(fuse_attention(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph),
              ElementsAre("Cast", "Cast", "Cast", "FusedAttention", "Cast"));
  const auto after = GraphForTest::run(g.graph);
  ASSERT_EQ(after.size(), before.size());
  for (size_t i = 0; i < after.size(); ++i) EXPECT_NEAR(after[i], before[i], 1e-2f) << i;
}

TEST_F(FuseAttentionTest, AttentionWhoseHeadsShareKeysOrValuesStays) {
  for (const auto& [of_k, of_v] : {std::pair{1, 1}, std::pair{1, 2}, std::pair{2, 1}}) {
    g = {};
    const ValueId q = g.input("q", {1, 4, 6}), k = g.input("k", {1, 5, 3 * of_k}),
                  v = g.input("v", {1, 5, 4 * of_v});
    const ValueId qt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
    const ValueId kt = transpose(reshape(k, {1, 5, of_k, 3}), {0, 2, 3, 1});
    const ValueId vt = transpose(reshape(v, {1, 5, of_v, 4}), {0, 2, 1, 3});
    const ValueId weights = node("Softmax", {node("MatMul", {qt, kt})});
    const ValueId y = reshape(transpose(node("MatMul", {weights, vt}), {0, 2, 1, 3}), {1, 4, 8});
    EXPECT_EQ(after(fuse_attention, y).size(), 11u) << of_k << " " << of_v;
  }
}

TEST_F(FuseAttentionTest, AttentionWhoseWeightsAreSeenStays) {
  const ValueId q = g.input("q", {1, 4, 6});
  const ValueId qt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId kt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 3, 1});
  const ValueId vt = transpose(reshape(q, {1, 4, 2, 3}), {0, 2, 1, 3});
  const ValueId weights = node("Softmax", {node("MatMul", {qt, kt})});
  const ValueId y = reshape(transpose(node("MatMul", {weights, vt}), {0, 2, 1, 3}), {1, 4, 6});
  g.graph.outputs = {y, weights};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_attention(g.graph).ok());
  EXPECT_EQ(g.graph.nodes.size(), 11u);
}

// --- the core alone: queries and keys that were changed on their way, caches, groups

class FuseAttentionCoreTest : public PassTest {
 protected:
  // softmax(q * k^T * scale + mask) * v of tensors with axes for heads and lengths.
  ValueId core(ValueId q, ValueId k, ValueId v, ValueId mask = graph::kNoValue,
               std::vector<int64_t> perm = {0, 1, 3, 2}) {
    ValueId scores = node("MatMul", {q, transpose(k, std::move(perm))});
    scores = node("Mul", {scores, scalar(0.5f)});
    if (mask != graph::kNoValue) scores = node("Add", {scores, mask});
    const ValueId weights = node("Softmax", {scores});
    last().attrs["axis"] = int64_t{-1};
    return node("MatMul", {weights, v});
  }
  ValueId repeated(ValueId x, int64_t times) {  // each group of heads
    const ValueId axes = integers({2});
    const ValueId wide = node("Unsqueeze", {x, axes});
    const ValueId many = node("Expand", {wide, integers({2, 3, times, 7, 4})});
    return reshape(many, {2, 3 * times, 7, 4});
  }
  ValueId integers(std::vector<int64_t> values) {
    graph::Value value = graph::tensor_value("ints" + std::to_string(g.graph.values.size()),
                                             DType::i64, {static_cast<int64_t>(values.size())});
    value.constant = graph::constant_of(std::move(values));
    return g.graph.add_value(value);
  }
};

TEST_F(FuseAttentionCoreTest, HeadsInFrontOfTheLength) {
  const ValueId q = g.input("q", {2, 3, 5, 4}), k = g.input("k", {2, 3, 7, 4});
  const ValueId v = g.input("v", {2, 3, 7, 6}), mask = g.input("mask", {1, 1, 5, 7});
  EXPECT_THAT(after(fuse_attention, core(q, k, v, mask)), ElementsAre("Attention"));
}

TEST_F(FuseAttentionCoreTest, ThreeAxesAreBatches) {
  const ValueId q = g.input("q", {2, 5, 4}), k = g.input("k", {2, 7, 4}),
                v = g.input("v", {2, 7, 4});
  EXPECT_THAT(after(fuse_attention, core(q, k, v, graph::kNoValue, {0, 2, 1})),
              ElementsAre("Attention"));
}

TEST_F(FuseAttentionCoreTest, KeysAndValuesOfGroupsAreNotRepeated) {
  const ValueId q = g.input("q", {2, 6, 5, 4}), k = g.input("k", {2, 3, 7, 4});
  const ValueId v = g.input("v", {2, 3, 7, 4});
  EXPECT_THAT(after(fuse_attention, core(q, repeated(k, 2), repeated(v, 2))),
              ElementsAre("Attention"));
}

TEST_F(FuseAttentionCoreTest, KeysThatComeFromHeadsBehindTheLength) {
  const ValueId q = g.input("q", {2, 3, 5, 4}), k = g.input("k", {2, 7, 3, 4});
  const ValueId v = g.input("v", {2, 3, 7, 4});
  EXPECT_THAT(after(fuse_attention, core(q, k, v, graph::kNoValue, {0, 2, 3, 1})),
              ElementsAre("Transpose", "Attention"));
}

TEST_F(FuseAttentionCoreTest, ScoresThatAConstantHides) {
  const ValueId q = g.input("q", {2, 3, 5, 4}), k = g.input("k", {2, 3, 5, 4});
  const ValueId v = g.input("v", {2, 3, 5, 4});
  for (bool whole_row : {false, true}) {
    GraphForTest copy = g;
    const ValueId scores = node("MatMul", {q, transpose(k, {0, 1, 3, 2})});
    std::vector<std::byte> truths(25, std::byte{1});
    for (size_t i = 0; i < 5; ++i) {
      for (size_t j = i + 1; j < 5; ++j) truths[i * 5 + j] = std::byte{0};
    }
    if (whole_row) truths[0] = std::byte{0};  // a row that sees nothing: its numbers are all alike
    graph::Value value = graph::tensor_value("seen", DType::boolean, {1, 1, 5, 5});
    value.constant = graph::constant_of(std::move(truths));
    const ValueId hidden = node("Where", {g.graph.add_value(value), scores, scalar(-3.4e38f)});
    const ValueId weights = node("Softmax", {hidden});
    last().attrs["axis"] = int64_t{-1};
    const auto left = after(fuse_attention, node("MatMul", {weights, v}));
    if (whole_row) {
      EXPECT_EQ(left.size(), 5u);
    } else {
      EXPECT_THAT(left, ElementsAre("Attention"));
    }
    g = copy;
  }
}

TEST_F(FuseAttentionCoreTest, ScoresThatTheRunHides) {
  for (const float least : {-3e38f, -1e9f}) {
    g = {};
    const ValueId q = g.input("q", {2, 3, 5, 4}), k = g.input("k", {2, 3, 7, 4});
    const ValueId v = g.input("v", {2, 3, 7, 4}), mask = g.input("mask", {2, 1, 5, 7});
    const ValueId seen = node("Greater", {mask, scalar(0)});
    const ValueId scores = node("MatMul", {q, transpose(k, {0, 1, 3, 2})});
    const ValueId weights = node("Softmax", {node("Where", {seen, scores, scalar(least)})});
    last().attrs["axis"] = int64_t{-1};
    const auto left = after(fuse_attention, node("MatMul", {weights, v}));
    if (least > -1e30f) {
      EXPECT_THAT(left, testing::Contains("Softmax")) << "a row that sees nothing is another";
    } else {
      EXPECT_THAT(left, ElementsAre("Greater", "Where", "Attention"));
    }
  }
}

TEST_F(FuseAttentionCoreTest, KeysThatAreBroadcastStay) {
  const ValueId q = g.input("q", {2, 3, 5, 4}), k = g.input("k", {1, 3, 7, 4});
  const ValueId v = g.input("v", {2, 3, 7, 4});
  EXPECT_EQ(after(fuse_attention, core(q, k, v)).size(), 5u);
}

}  // namespace
}  // namespace anynpu::compile
