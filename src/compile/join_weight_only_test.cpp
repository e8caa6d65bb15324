// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "compile/graph_for_test.h"
#include "compile/plan_fusion.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class JoinWeightOnlyTest : public PassTest {
 protected:
  ValueId codes(DType type, const Shape& shape) {
    graph::Value value =
        graph::tensor_value("codes" + std::to_string(g.graph.values.size()), type, shape);
    std::vector<uint8_t> bytes(bytes_of(type, static_cast<size_t>(element_count(shape))));
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    value.constant = graph::constant_of(std::move(bytes));
    return g.graph.add_value(value);
  }
  ValueId scales(const Shape& shape) {
    return g.weight("scales" + std::to_string(g.graph.values.size()), shape, 0.002f, 0.01f);
  }
  ValueId floats(ValueId w, ValueId scale, ValueId zero, int64_t axis, int64_t block = 0) {
    const ValueId made = node("DequantizeLinear", {w, scale, zero});
    last().opset = 21;
    last().attrs["axis"] = axis;
    if (block > 0) last().attrs["block_size"] = block;
    return made;
  }
  // Folds what a compiled model would not hold, joins, and compares the results.
  std::vector<std::string> joined(ValueId output) { return after(join_weight_only, output); }

  std::mt19937 random_{7};
};

TEST_F(JoinWeightOnlyTest, ScalesOfColumnsOfTheWholeMatrixAndOfBlocks) {
  const ValueId x = g.input("x", {2, 3, 40});
  ValueId y = node(
      "MatMul", {x, floats(codes(DType::i8, {40, 48}), scales({48}), codes(DType::i8, {48}), 1)});
  y = node("MatMul", {y, floats(codes(DType::i4, {48, 64}), scales({2, 64}),
                                codes(DType::i4, {2, 64}), -2, 32)});
  y = node("MatMul", {y, floats(codes(DType::u8, {64, 16}), scales({}), graph::kNoValue, 1)});
  EXPECT_THAT(joined(y), ElementsAre("WeightOnlyMatMul", "WeightOnlyMatMul", "WeightOnlyMatMul"));
}

TEST_F(JoinWeightOnlyTest, GemmOfTransposedWeightsWithABias) {
  const ValueId x = g.input("x", {9, 40});
  const ValueId y =
      node("Gemm", {x, floats(codes(DType::i4, {24, 40}), scales({24, 3}), graph::kNoValue, 1, 16),
                    g.weight("bias", {24})});
  last().attrs["transB"] = int64_t{1};
  last().attrs["alpha"] = 0.5f;
  EXPECT_THAT(joined(y), ElementsAre("WeightOnlyMatMul"));
}

TEST_F(JoinWeightOnlyTest, ATransposeOfTheWeightsIsPartOfTheProduct) {
  const ValueId x = g.input("x", {1, 5, 40});
  const ValueId w = floats(codes(DType::i8, {24, 40}), scales({24}), graph::kNoValue, 0);
  g.graph.outputs = {node("MatMul", {x, transpose(w, {1, 0})})};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_matmul(g.graph).ok());
  EXPECT_THAT(joined(g.graph.outputs[0]), ElementsAre("WeightOnlyMatMul"));
}

TEST_F(JoinWeightOnlyTest, WithoutTheFusionTheTransposeIsDoneWhenTheModelIsLoaded) {
  const ValueId x = g.input("x", {1, 5, 40});
  const ValueId w = floats(codes(DType::i8, {24, 40}), scales({24}), graph::kNoValue, 0);
  g.graph.outputs = {node("MatMul", {x, transpose(w, {1, 0})})};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("DequantizeLinear", "Transpose", "MatMul"));
  EXPECT_THAT(after(unpack_weights, g.graph.outputs[0]), ElementsAre("MatMul"));
}

TEST_F(JoinWeightOnlyTest, LeavesWhatItCannotStandFor) {
  const ValueId x = g.input("x", {8, 40});
  // A scale for each row, blocks that are too small, and a factor of the bias.
  ValueId y =
      node("MatMul", {x, floats(codes(DType::i8, {40, 40}), scales({40}), graph::kNoValue, 0)});
  y = node("MatMul",
           {y, floats(codes(DType::i4, {40, 40}), scales({10, 40}), graph::kNoValue, 0, 4)});
  y = node("Gemm", {y, floats(codes(DType::i8, {40, 40}), scales({40}), graph::kNoValue, 1),
                    g.weight("bias", {40})});
  last().attrs["beta"] = 0.5f;
  EXPECT_THAT(joined(y), ElementsAre("DequantizeLinear", "MatMul", "DequantizeLinear", "MatMul",
                                     "DequantizeLinear", "Gemm"));
}

}  // namespace
}  // namespace anynpu::compile
