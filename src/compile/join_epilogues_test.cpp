// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"
#include "compile/plan_fusion.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::Contains;
using testing::ElementsAre;

class JoinEpiloguesTest : public PassTest {
 protected:
  static Status fuse(graph::Graph& graph) {
    ANYNPU_TRY(fuse_conv(graph));
    ANYNPU_TRY(fuse_matmul(graph));
    ANYNPU_TRY(join_elementwise(graph));
    return join_epilogues(graph);
  }
  ValueId conv(ValueId x) { return node("Conv", {x, g.weight("w", {5, 3, 3, 3})}); }
};

TEST_F(JoinEpiloguesTest, ActivationsBehindAConvBecomeAPartOfIt) {
  for (const char* op : {"HardSwish", "HardSigmoid", "LeakyRelu", "Mish", "Sigmoid", "Tanh", "Elu",
                         "Gelu", "Softplus", "Swish"}) {
    g = {};
    const ValueId y = node(op, {conv(g.input("x", {2, 3, 9, 9}))});
    last().opset = 24;
    EXPECT_THAT(after(fuse, y), ElementsAre("FusedConv")) << op;
  }
}

TEST_F(JoinEpiloguesTest, AChainOfNumbersDoesToo) {
  const ValueId y = conv(g.input("x", {2, 3, 9, 9}));
  const ValueId clipped = node("Clip", {node("Add", {y, scalar(3)}), scalar(0), scalar(6)});
  EXPECT_THAT(after(fuse, node("Div", {node("Mul", {y, clipped}), scalar(6)})),
              ElementsAre("FusedConv"));
}

TEST_F(JoinEpiloguesTest, BehindAResidualAndARelu) {
  const ValueId x = g.input("x", {1, 3, 9, 9});
  const ValueId sum = node("Add", {conv(x), g.input("z", {1, 5, 7, 7})});
  EXPECT_THAT(after(fuse, node("Sigmoid", {node("Relu", {sum})})), ElementsAre("FusedConv"));
}

TEST_F(JoinEpiloguesTest, BehindProducts) {
  const ValueId x = g.input("x", {4, 6});
  const ValueId y = node("Gemm", {x, g.weight("w", {6, 7}), g.weight("b", {7})});
  EXPECT_THAT(after(fuse, node("LeakyRelu", {y})), ElementsAre("FusedGemm"));
  g = {};
  const ValueId z = node("MatMul", {g.input("x", {2, 4, 6}), g.weight("w", {6, 7})});
  EXPECT_THAT(after(fuse, node("Sigmoid", {z})), ElementsAre("FusedMatMul"));
}

// Exp of the unused channels of a block may be infinite, and an infinity times 0 is NaN.
TEST_F(JoinEpiloguesTest, StepsThatMayLeaveTheFiniteNumbersStay) {
  const ValueId y = conv(g.input("x", {2, 3, 9, 9}));
  EXPECT_THAT(after(fuse, node("Exp", {y})), Contains("Exp"));
}

TEST_F(JoinEpiloguesTest, AResultThatIsReadTwiceStays) {
  const ValueId y = conv(g.input("x", {2, 3, 9, 9}));
  EXPECT_THAT(after(fuse, node("Add", {node("Tanh", {y}), node("GlobalAveragePool", {y})})),
              Contains("Conv"));
}

}  // namespace
}  // namespace anynpu::compile
