// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "compile/graph_for_test.h"
#include "compile/passes.h"
#include "compile/plan_fusion.h"
#include "tensor/half.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

class WidenShortsTest : public PassTest {
 protected:
  ValueId cast(ValueId x, DType type) {
    const ValueId y = node("Cast", {x});
    last().attrs["to"] = int64_t{type == DType::f16 ? 10 : 1};
    return y;
  }
  ValueId short_weight(const Shape& shape) {
    std::vector<F16> elements(static_cast<size_t>(element_count(shape)));
    for (size_t i = 0; i < elements.size(); ++i)
      elements[i] = to_f16(static_cast<float>(i * 37 % 64) / 64.0f - 0.5f);
    graph::Value value =
        graph::tensor_value("short" + std::to_string(g.graph.values.size()), DType::f16, shape);
    value.constant = graph::constant_of(std::move(elements));
    return g.graph.add_value(value);
  }
  // What is left, and results no further from those before than the roundings between operators.
  std::vector<std::string> after_widening(ValueId output) {
    g.graph.outputs = {output};
    EXPECT_TRUE(infer_and_fold(g.graph).ok());
    const auto before = GraphForTest::run(g.graph);
    const Status status = widen_shorts(g.graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
    const auto now = GraphForTest::run(g.graph);
    EXPECT_EQ(now.size(), before.size());
    for (size_t i = 0; i < std::min(now.size(), before.size()); ++i)
      EXPECT_NEAR(now[i], before[i], 4e-3f) << i;
    return GraphForTest::ops(g.graph);
  }
};

TEST_F(WidenShortsTest, OperatorsAroundAProductComputeInFloat32) {
  const ValueId x = cast(g.input("x", {1, 4, 6, 6}), DType::f16);
  const ValueId y = node("Conv", {x, short_weight({8, 4, 3, 3}), short_weight({8})});
  const ValueId z = node("Sigmoid", {node("Relu", {y})});
  EXPECT_THAT(after_widening(cast(z, DType::f32)),
              ElementsAre("Cast", "Cast", "Conv", "Relu", "Sigmoid", "Cast", "Cast"));
}

TEST_F(WidenShortsTest, ACastThatTheModelStatesRounds) {
  const ValueId x = cast(g.input("x", {3, 4}), DType::f16);
  const ValueId y = node("MatMul", {x, short_weight({4, 5})});
  const ValueId rounded = cast(cast(y, DType::f32), DType::f16);
  EXPECT_THAT(after_widening(cast(node("MatMul", {rounded, short_weight({5, 2})}), DType::f32)),
              ElementsAre("Cast", "Cast", "MatMul", "Cast", "Cast", "Cast", "Cast", "MatMul",
                          "Cast", "Cast"));
}

TEST_F(WidenShortsTest, WithoutAProductNothingChanges) {
  const ValueId x = cast(g.input("x", {3, 4}), DType::f16);
  EXPECT_THAT(after_widening(cast(node("Add", {x, x}), DType::f32)),
              ElementsAre("Cast", "Add", "Cast"));
}

}  // namespace
}  // namespace anynpu::compile
