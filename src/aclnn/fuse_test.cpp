// SPDX-License-Identifier: Apache-2.0
#include "aclnn/fuse.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "graph/tensor_value.h"

namespace anynpu::aclnn {
namespace {

const Shape kLarge{64, 128};

// A part made node by node; values are called by number.
struct Maker {
  Part part;

  graph::ValueId value(Shape shape, DType type = DType::f32) {
    auto& graph = part.graph;
    return graph.add_value(
        graph::tensor_value(format("v{}", graph.values.size()), type, std::move(shape)));
  }
  graph::ValueId input(Shape shape) {
    const graph::ValueId id = value(std::move(shape));
    part.graph.inputs.push_back(id);
    return id;
  }
  graph::ValueId op(const char* name, std::vector<graph::ValueId> inputs, Shape shape = kLarge) {
    graph::Node node;
    node.op = name;
    node.name = format("n{}", part.graph.nodes.size());
    node.inputs = std::move(inputs);
    node.outputs = {value(std::move(shape))};
    if (node.op == "Stage") node.domain = "anynpu";
    part.graph.nodes.push_back(node);
    return node.outputs[0];
  }
  std::vector<std::string> fused_ops() {
    std::vector<std::string> names;
    for (const graph::Node& node : fused(part).nodes) names.push_back(node.op);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST(Fuse, JoinsWhatIsBehindEachOther) {
  Maker m;
  const auto x = m.input(kLarge), row = m.input({128});
  const auto y = m.op("Mul", {m.op("Add", {x, row}), x});
  m.part.graph.outputs = {y};
  const graph::Graph made = fused(m.part);
  ASSERT_EQ(made.nodes.size(), 1u);
  EXPECT_EQ(made.nodes[0].op, "TiledElementwise");
  EXPECT_EQ(made.nodes[0].inputs, (std::vector<graph::ValueId>{x, row}));
  EXPECT_EQ(made.nodes[0].outputs, (std::vector<graph::ValueId>{y}));
}

TEST(Fuse, LeavesSmallTensorsAndSingleOperatorsAlone) {
  Maker m;
  const auto x = m.input({8});
  m.part.graph.outputs = {m.op("Mul", {m.op("Neg", {x}, {8}), x}, {8})};
  EXPECT_EQ(m.fused_ops(), (Names{"Neg", "Mul"}));
  Maker one;
  one.part.graph.outputs = {one.op("Neg", {one.input(kLarge)})};
  EXPECT_EQ(one.fused_ops(), (Names{"Neg"}));
}

TEST(Fuse, DoesNotJoinAcrossASum) {
  Maker m;
  const auto x = m.input(kLarge), axes = m.input({1});
  const auto squares = m.op("Mul", {x, x});
  const auto sum = m.op("ReduceSum", {squares, axes}, {64, 1});
  const auto y = m.op("Div", {m.op("Sub", {x, sum}), squares});
  m.part.graph.outputs = {y};
  EXPECT_EQ(m.fused_ops(), (Names{"Mul", "ReduceSum", "TiledElementwise"}));
}

TEST(Fuse, JoinsWhatIsNotBesideEachOther) {
  Maker m;
  const auto x = m.input(kLarge), other = m.input({8});
  const auto a = m.op("Neg", {x});
  const auto b = m.op("Neg", {other}, {8});
  const auto c = m.op("Exp", {a});
  m.part.graph.outputs = {b, c};
  auto names = m.fused_ops();
  std::ranges::sort(names);
  EXPECT_EQ(names, (Names{"Neg", "TiledElementwise"}));
}

TEST(Fuse, AReaderOfWhatIsOverwrittenStaysBefore) {
  Maker m;
  const auto x = m.input(kLarge), axes = m.input({1});
  const auto sum = m.op("ReduceSum", {x, axes}, {64, 1});
  const auto y = m.op("Exp", {m.op("Neg", {x})});
  m.part.graph.outputs = {sum, y};
  m.part.overwrites = {{x, y, true}};
  EXPECT_EQ(m.fused_ops(), (Names{"ReduceSum", "TiledElementwise"}));
}

TEST(Fuse, TensorsOfAnySizeAreJoinedWhereTheCallerSaysSo) {
  Maker m;
  const auto x = m.input({8});
  m.part.graph.outputs = {m.op("Mul", {m.op("Neg", {x}, {8}), x}, {8})};
  EXPECT_EQ(fused(m.part, 1).nodes.size(), 1u);
}

TEST(Fuse, MemoryIsSharedWhereNothingReadsAfterTheWrite) {
  Maker m;
  const auto x = m.input(kLarge), y = m.input(kLarge);
  const auto sum = m.op("Add", {x, y});
  const auto product = m.op("Mul", {sum, y});
  m.part.graph.outputs = {sum, product};
  m.part.overwrites = {{x, sum, true}, {y, product, true}};
  EXPECT_FALSE(reads_before_writing(m.part)) << "two nodes read y";
  m.part.graph = fused(m.part, 1);
  EXPECT_TRUE(reads_before_writing(m.part)) << "tile by tile the product is made last";
  m.part.overwrites = {{y, sum, true}};
  EXPECT_FALSE(reads_before_writing(m.part)) << "the product reads y after the sum is written";
}

TEST(Fuse, ACopyOverWhatIsReadElsewhereIsWhole) {
  Maker m;
  const auto x = m.input(kLarge);
  const auto y = m.op("Stage", {m.op("Exp", {m.op("Neg", {x})})});
  m.part.graph.outputs = {y};
  m.part.overwrites = {{x, y, false}};
  EXPECT_EQ(m.fused_ops(), (Names{"TiledElementwise", "Stage"}));
  m.part.overwrites = {{x, y, true}};
  EXPECT_EQ(m.fused_ops(), (Names{"TiledElementwise"}));
}

}  // namespace
}  // namespace anynpu::aclnn
