// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/quantized_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::Contains;
using testing::ElementsAre;
using testing::Not;

using JoinQuantizedTest = QuantizedTest;

TEST_F(JoinQuantizedTest, AConvolutionBetweenBytesComputesWithBytes) {
  const ValueId x = rounded(g.input("x", {1, 16, 9, 9}));
  const ValueId y = node("Conv", {x, weight({24, 16, 3, 3}), g.weight("b", {24})});
  EXPECT_THAT(after_within(rounded(y, 0.04f, 120), 0.04f),
              ElementsAre("QuantizeLinear", "QuantizedConv", "DequantizeLinear"));
}

TEST_F(JoinQuantizedTest, SignedBytesAndActivationsDoToo) {
  for (const DType type : {DType::i8, DType::u8}) {
    g = {};
    const ValueId x = rounded(g.input("x", {1, 16, 9, 9}), 0.05f, 3, type);
    ValueId y = node("Relu", {node("Conv", {x, weight({16, 1, 3, 3}, DType::u8, 128)})});
    g.graph.nodes[g.graph.nodes.size() - 2].attrs["group"] = int64_t{16};
    EXPECT_THAT(after_within(rounded(y, 0.02f, 5, type), 0.02f),
                ElementsAre("QuantizeLinear", "QuantizedConv", "DequantizeLinear"));
  }
}

TEST_F(JoinQuantizedTest, AProductWithAMatrixDoesToo) {
  const ValueId x = rounded(g.input("x", {2, 5, 16}));
  EXPECT_THAT(after_within(rounded(node("MatMul", {x, weight({16, 40})}), 0.03f, 100), 0.03f),
              ElementsAre("QuantizeLinear", "QuantizedMatMul", "DequantizeLinear"));
  g = {};
  const ValueId z =
      node("Gemm", {rounded(g.input("x", {5, 16})), weight({40, 16}), g.weight("b", {40})});
  last().attrs["transB"] = int64_t{1};
  EXPECT_THAT(after_within(z, 1e-5f), ElementsAre("QuantizeLinear", "QuantizedMatMul"));
}

TEST_F(JoinQuantizedTest, AnAdditionBehindAConvolutionJoinsIt) {
  const ValueId x = rounded(g.input("x", {1, 16, 9, 9}));
  const ValueId y = rounded(node("Conv", {x, weight({16, 16, 1, 1})}), 0.04f, 120);
  const ValueId sum = node("Relu", {node("Add", {y, x})});
  EXPECT_THAT(after_within(rounded(sum, 0.06f, 0), 0.06f),
              ElementsAre("QuantizeLinear", "QuantizedConv", "DequantizeLinear"));
}

TEST_F(JoinQuantizedTest, ElementsThatOnlyMoveStayBytes) {
  const ValueId x = rounded(g.input("x", {1, 4, 8, 8}));
  const ValueId pooled = node("MaxPool", {x});
  last().attrs["kernel_shape"] = std::vector<int64_t>{2, 2};
  const ValueId flat = reshape(rounded(pooled), {1, 196});
  EXPECT_THAT(after_within(rounded(flat), 1e-6f),
              ElementsAre("QuantizeLinear", "MaxPool", "Reshape", "DequantizeLinear"));
}

TEST_F(JoinQuantizedTest, ScalesThatDifferOrResultsThatAreReadAgainStay) {
  const ValueId x = rounded(g.input("x", {1, 4, 8, 8}));
  EXPECT_THAT(after_within(rounded(node("Transpose", {x}), 0.07f), 1e-6f), Contains("Transpose"));
  g = {};
  const ValueId y = node("Conv", {rounded(g.input("x", {1, 16, 9, 9})), weight({16, 16, 1, 1})});
  EXPECT_THAT(after_within(node("Add", {rounded(y, 0.04f, 9), y}), 0.04f),
              Contains("QuantizedConv"));
}

TEST_F(JoinQuantizedTest, WeightsWithinMoreThanASignedByteStayFloats) {
  const ValueId x = rounded(g.input("x", {1, 16, 9, 9}));
  const ValueId y = node("Conv", {x, weight({16, 16, 1, 1}, DType::u8, 3)});
  EXPECT_THAT(after_within(rounded(y), 0.05f), Not(Contains("QuantizedConv")));
}

}  // namespace
}  // namespace anynpu::compile
