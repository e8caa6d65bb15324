// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/quantized.h"
#include "compile/quantized_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using QuantizedTablesTest = QuantizedTest;

TEST_F(QuantizedTablesTest, AFunctionOfOneTensorIsATable) {
  const ValueId x = rounded(g.input("x", {3, 70}));
  const ValueId gate = rounded(node("Sigmoid", {x}), 1.0f / 255, 0);
  EXPECT_THAT(after_within(rounded(node("Mul", {x, gate}), 0.03f, 100), 1e-6f),
              ElementsAre("QuantizeLinear", "ByteTable", "DequantizeLinear"));
}

TEST_F(QuantizedTablesTest, TablesBehindEachOtherAreOne) {
  const ValueId x = rounded(g.input("x", {3, 70}));
  const ValueId y = rounded(node("Div", {x, scalar(1.4142135f)}), 0.04f, 128);
  const ValueId z = rounded(node("Erf", {y}), 2.0f / 255, 128);
  const ValueId one = rounded(node("Add", {z, scalar(1)}), 2.0f / 255, 0);
  EXPECT_THAT(after_within(rounded(node("Mul", {x, one}), 0.03f, 100), 1e-6f),
              ElementsAre("QuantizeLinear", "ByteTable", "DequantizeLinear"));
}

TEST_F(QuantizedTablesTest, FunctionsOfTwoTensorsStay) {
  const ValueId x = rounded(g.input("x", {3, 70})), y = rounded(g.input("y", {3, 70}));
  EXPECT_THAT(after_within(rounded(node("Mul", {x, y}), 0.03f, 100), 1e-6f),
              testing::Not(testing::Contains("ByteTable")));
}

}  // namespace
}  // namespace anynpu::compile
