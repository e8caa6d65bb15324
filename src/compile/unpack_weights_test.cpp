// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/quantized.h"
#include "compile/quantized_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using UnpackWeightsTest = QuantizedTest;

TEST_F(UnpackWeightsTest, WeightsStayBytesInTheFileAndAreUnpackedByPlans) {
  const ValueId x = g.input("x", {2, 16});
  g.graph.outputs = {node("MatMul", {x, weight({16, 40})})};
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("DequantizeLinear", "MatMul"));
  EXPECT_TRUE(has_quantized_weights(g.graph));
  ASSERT_TRUE(unpack_weights(g.graph).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("MatMul"));
}

}  // namespace
}  // namespace anynpu::compile
