// SPDX-License-Identifier: Apache-2.0
#include "compile/origins.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;
using testing::Pair;

TEST(Origins, ANodeCarriesTheNamesOfWhatItReplaced) {
  GraphForTest g;
  const ValueId x = g.input("x", {2, 5});
  g.graph.outputs = {g.node("Neg", {g.node("Mul", {x, g.node("Sigmoid", {x}, "s")}, "m")}, "y")};
  const SourceNodes source(g.graph);
  ASSERT_TRUE(infer_and_fold(g.graph).ok());
  ASSERT_TRUE(fuse_swish(g.graph).ok());
  EXPECT_THAT(origins(source, g.graph),
              ElementsAre(Pair("Mul_m", ElementsAre("Sigmoid_s", "Mul_m")),
                          Pair("Neg_y", ElementsAre("Neg_y"))));
}

TEST(Origins, ANodeThatTheCompilerAddedStandsForItself) {
  GraphForTest g;
  const ValueId y = g.node("Neg", {g.input("x", {2})}, "y");
  g.graph.outputs = {y};
  const SourceNodes source(g.graph);
  g.graph.outputs = {g.node("Cast", {y}, "cast")};
  EXPECT_THAT(origins(source, g.graph), ElementsAre(Pair("Neg_y", ElementsAre("Neg_y")),
                                                    Pair("Cast_cast", ElementsAre("Cast_cast"))));
}

}  // namespace
}  // namespace anynpu::compile
