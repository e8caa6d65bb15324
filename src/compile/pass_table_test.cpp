// SPDX-License-Identifier: Apache-2.0
#include "compile/pass_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ctime>
#include <set>
#include <string_view>

#include "compile/graph_for_test.h"

namespace anynpu::compile {
namespace {

using graph::ValueId;
using testing::ElementsAre;

TEST(PassTable, RunsThePassesThatNeedShapesLast) {
  bool known = false;
  for (const Pass& pass : pass_table()) {
    EXPECT_FALSE(known && pass.shapes == PassShapes::unknown) << pass.name;
    known = known || pass.shapes == PassShapes::known;
  }
  EXPECT_TRUE(known);
}

TEST(PassTable, NamesAreUniqueAndSentencesComplete) {
  std::set<std::string_view> names;
  for (const Pass& pass : pass_table()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name;
    EXPECT_TRUE(pass.does.ends_with(".")) << pass.name << ": " << pass.does;
  }
}

graph::Graph identity_and_swish() {
  GraphForTest g;
  const ValueId x = g.node("Identity", {g.input("x", {2, 5})}, "copy");
  g.graph.outputs = {g.node("Mul", {x, g.node("Sigmoid", {x}, "s")}, "y")};
  EXPECT_TRUE(infer_and_fold(g.graph).ok());
  return g.graph;
}

TEST(PassTable, APassRunsUnlessItIsSwitchedOff) {
  const auto after = [](const std::vector<std::string>& off) {
    graph::Graph graph = identity_and_swish();
    EXPECT_TRUE(run_passes(graph, PassShapes::known, off).ok());
    return GraphForTest::ops(graph);
  };
  EXPECT_THAT(after({"fuse_swish"}), ElementsAre("Sigmoid", "Mul"));
  EXPECT_THAT(after({"fuse_gelu"}), ElementsAre("Swish"));
  EXPECT_THAT(after({"ALL"}), ElementsAre("Identity", "Sigmoid", "Mul"));
}

TEST(PassTable, PassesOfTheOtherKindDoNotRun) {
  graph::Graph graph = identity_and_swish();
  ASSERT_TRUE(run_passes(graph, PassShapes::unknown, {}).ok());
  EXPECT_THAT(GraphForTest::ops(graph), ElementsAre("Sigmoid", "Mul"));
}

TEST(PassTable, NodesThatAreKeptAreNotFolded) {
  GraphForTest g;
  const ValueId c = g.node("Conv", {g.input("x", {1, 2, 5, 5}), g.weight("w", {3, 2, 3, 3})}, "c");
  g.graph.outputs = {g.node("Mul", {c, g.weight("k", {3, 1, 1})}, "y")};
  graph::Graph kept = g.graph;
  const auto is_product = [](const graph::Node& node) { return node.op == "Mul"; };
  ASSERT_TRUE(run_passes(kept, PassShapes::unknown, {}, is_product).ok());
  EXPECT_THAT(GraphForTest::ops(kept), ElementsAre("Conv", "Mul"));
  ASSERT_TRUE(run_passes(g.graph, PassShapes::unknown, {}).ok());
  EXPECT_THAT(GraphForTest::ops(g.graph), ElementsAre("Conv"));
}

// A chain with something for every pass.
void add_blocks(GraphForTest& g, int blocks) {
  ValueId x = g.input("x", {1, 4, 4});
  const ValueId w = g.weight("w", {4, 4}), row = g.weight("row", {4});
  const ValueId half = g.weight("half", {}, 0.5f, 0.5f), one = g.weight("one", {}, 1, 1);
  const ValueId root = g.weight("root", {}, 1.41421356f, 1.41421356f);
  int made = 0;
  const auto add = [&](const std::string& op, std::vector<ValueId> inputs) {
    return g.node(op, std::move(inputs), format("{}_{}", op, made++));
  };
  for (int i = 0; i < blocks; ++i) {
    const ValueId linear = add("Add", {add("MatMul", {add("Identity", {x}), w}), row});
    const ValueId erf = add("Erf", {add("Div", {linear, root})});
    const ValueId gelu = add("Mul", {add("Mul", {linear, add("Add", {erf, one})}), half});
    const ValueId turned = add("Relu", {add("Transpose", {gelu})});
    x = add("Add", {add("Transpose", {turned}), x});
  }
  g.graph.outputs = {x};
}

double seconds_of_passes(int blocks) {
  GraphForTest g;
  add_blocks(g, blocks);
  EXPECT_TRUE(g.graph.verify().ok());
  timespec begin, end;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
  EXPECT_TRUE(run_passes(g.graph, PassShapes::unknown, {}).ok());
  EXPECT_TRUE(infer_and_fold(g.graph).ok());
  EXPECT_TRUE(run_passes(g.graph, PassShapes::known, {}).ok());
  EXPECT_TRUE(remove_dead(g.graph).ok());
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
  EXPECT_LE(g.graph.nodes.size(), static_cast<size_t>(3 * blocks));
  return static_cast<double>(end.tv_sec - begin.tv_sec) +
         static_cast<double>(end.tv_nsec - begin.tv_nsec) * 1e-9;
}

TEST(PassTable, TakeTimeInProportionToTheGraph) {
  const double small = std::min(seconds_of_passes(180), seconds_of_passes(180));
  const double large = seconds_of_passes(1800);  // 19,800 nodes
  EXPECT_LT(large, 30 * small) << "ten times the nodes; a hundred times would be quadratic";
}

}  // namespace
}  // namespace anynpu::compile
