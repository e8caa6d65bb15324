// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/plan_fusion.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::SizeIs;

using JoinElementwiseTest = PassTest;

TEST_F(JoinElementwiseTest, AChainBecomesOneNode) {
  const ValueId x = g.input("x", {2, 3, 5}), row = g.weight("row", {5}, 1, 2);
  const ValueId y = node("Div", {node("Sub", {x, row}), g.weight("scale", {3, 1}, 1, 2)});
  const ValueId z = node("Tanh", {node("Mul", {y, scalar(0.5f)})});
  EXPECT_THAT(after(join_elementwise, node("Exp", {z})), ElementsAre("FusedElementwise"));
  EXPECT_THAT(g.graph.nodes[0].inputs, SizeIs(3));  // the number is part of the program
}

TEST_F(JoinElementwiseTest, AResultThatIsReadTwiceInsideIsComputedOnce) {
  const ValueId x = g.input("x", {4, 33});
  const ValueId y = node("Add", {x, scalar(0.25f)});
  const ValueId z = node("Mul", {y, node("Sigmoid", {y})});
  EXPECT_THAT(after(join_elementwise, node("Add", {z, y})), ElementsAre("FusedElementwise"));
  const auto steps = std::get<std::vector<std::string>>(g.graph.nodes[0].attrs.at("steps"));
  EXPECT_THAT(steps, ElementsAre("Add", "Sigmoid", "Mul", "Add"));
}

TEST_F(JoinElementwiseTest, EveryOperatorOfTheListKeepsItsResult) {
  for (const char* op : {"Neg", "Abs", "Exp", "Erf", "Tanh", "Sigmoid", "Softplus", "Relu",
                         "HardSwish", "HardSigmoid", "Mish", "Sin", "Cos", "LeakyRelu", "Elu"}) {
    g = {};
    const ValueId x = g.input("x", {3, 21});
    const ValueId y = node(op, {node("Mul", {x, scalar(3)})});
    last().opset = 18;  // Mish is of 18
    EXPECT_THAT(after(join_elementwise, y), ElementsAre("FusedElementwise")) << op;
  }
  for (const char* op : {"Sqrt", "Log", "Reciprocal"}) {
    g = {};
    const ValueId x = g.input("x", {3, 21});
    const ValueId positive = node("Add", {x, scalar(1.5f)});
    EXPECT_THAT(after(join_elementwise, node(op, {positive})), ElementsAre("FusedElementwise"))
        << op;
  }
  for (const char* op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "PRelu"}) {
    g = {};
    const ValueId x = g.input("x", {3, 21}), b = g.weight("b", {21}, 1, 2);
    EXPECT_THAT(after(join_elementwise, node(op, {node("Neg", {x}), b})),
                ElementsAre("FusedElementwise"))
        << op;
  }
}

TEST_F(JoinElementwiseTest, APowByASmallOrHalfExponentIsProductsAndRoots) {
  for (const float exponent : {1.0f, 2.0f, 3.0f, 4.0f, -1.0f, -2.0f, 0.5f, 1.5f, -0.5f}) {
    g = {};
    const ValueId x = node("Add", {g.input("x", {7, 9}), scalar(2)});
    EXPECT_THAT(after(join_elementwise, node("Pow", {x, scalar(exponent)})),
                ElementsAre("FusedElementwise"))
        << exponent;
  }
  g = {};
  const ValueId x = node("Add", {g.input("x", {7, 9}), scalar(2)});
  EXPECT_THAT(after(join_elementwise, node("Pow", {x, scalar(2.2f)})), ElementsAre("Add", "Pow"));
}

TEST_F(JoinElementwiseTest, WhatOthersReadStays) {
  const ValueId x = g.input("x", {2, 5});
  const ValueId y = node("Neg", {x});
  const ValueId z = node("Exp", {y});
  const ValueId sum = node("ReduceSum", {y});
  last().attrs["keepdims"] = int64_t{1};
  EXPECT_THAT(after(join_elementwise, node("Add", {z, sum})),
              testing::UnorderedElementsAre("Neg", "FusedElementwise", "ReduceSum"));
}

TEST_F(JoinElementwiseTest, SmallerTensorsAreNotComputedForEachElement) {
  const ValueId x = g.input("x", {64, 5}), gate = g.input("gate", {1, 5});
  const ValueId y = node("Mul", {node("Tanh", {x}), node("Sigmoid", {gate})});
  EXPECT_THAT(after(join_elementwise, y),
              testing::UnorderedElementsAre("Sigmoid", "FusedElementwise"));
}

TEST_F(JoinElementwiseTest, LongChainsBecomeSeveral) {
  ValueId x = g.input("x", {2, 5});
  for (int i = 0; i < 40; ++i) x = node(i % 2 ? "Tanh" : "Neg", {x});
  EXPECT_THAT(after(join_elementwise, x), testing::Each("FusedElementwise"));
  EXPECT_THAT(g.graph.nodes, SizeIs(3));
}

TEST_F(JoinElementwiseTest, OneOperatorStays) {
  const ValueId x = g.input("x", {2, 5});
  EXPECT_THAT(after(join_elementwise, node("Tanh", {x})), ElementsAre("Tanh"));
}

// A number of more axes than the tensor gives the result its axes.
TEST_F(JoinElementwiseTest, ButPReluBecomesAProgramThatTakesBlocksOfChannels) {
  const ValueId x = g.input("x", {2, 5, 3, 3});
  EXPECT_THAT(after(join_elementwise, node("PRelu", {x, g.weight("slope", {5, 1, 1})})),
              ElementsAre("FusedElementwise"));
}

TEST_F(JoinElementwiseTest, AResultWithMoreAxesThanItsInputsStays) {
  const ValueId x = g.input("x", {2, 5});
  const ValueId y = node("Neg", {node("Mul", {x, scalar(2, {1, 1, 1})})});
  EXPECT_THAT(after(join_elementwise, y), SizeIs(2));
}

}  // namespace
}  // namespace anynpu::compile
