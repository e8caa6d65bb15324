// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"
#include "compile/passes.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

using FuseSwishTest = PassTest;

TEST_F(FuseSwishTest, AProductWithItsSigmoidBecomesSwish) {
  for (bool first : {false, true}) {
    g = {};
    const ValueId x = g.input("x", {2, 5}), sigmoid = node("Sigmoid", {x});
    const ValueId y = first ? node("Mul", {sigmoid, x}) : node("Mul", {x, sigmoid});
    EXPECT_THAT(after(fuse_swish, y), ElementsAre("Swish"));
  }
  g = {};
  const ValueId x = g.input("x", {2, 5}), z = g.input("z", {2, 5});
  const ValueId y = node("Mul", {x, node("Sigmoid", {z})});
  EXPECT_THAT(after(fuse_swish, y), ElementsAre("Sigmoid", "Mul"));
}

TEST_F(FuseSwishTest, ARateBecomesAlpha) {
  const ValueId x = g.input("x", {2, 5});
  const ValueId y = node("Mul", {x, node("Sigmoid", {node("Mul", {scalar(1.702f), x})})});
  EXPECT_THAT(after(fuse_swish, y), ElementsAre("Swish"));
  EXPECT_FLOAT_EQ(g.graph.nodes[0].float_attr("alpha", 1), 1.702f);
}

}  // namespace
}  // namespace anynpu::compile
