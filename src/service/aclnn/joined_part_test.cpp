// SPDX-License-Identifier: Apache-2.0
#include "service/aclnn/joined_part.h"

#include <gtest/gtest.h>

#include "graph/tensor_value.h"

namespace anynpu::service {
namespace {

using graph::ValueId;

struct PartForTest {
  aclnn::Part part;

  ValueId value(const char* name) {
    return part.graph.add_value(graph::tensor_value(name, DType::f32, {8}));
  }
  ValueId input(const char* name) {
    const ValueId id = value(name);
    part.graph.inputs.push_back(id);
    return id;
  }
  ValueId op(const char* name, std::vector<ValueId> inputs) {
    graph::Node node;
    node.op = name;
    node.name = format("n{}", part.graph.nodes.size());
    node.inputs = std::move(inputs);
    node.outputs = {value(node.name.c_str())};
    part.graph.nodes.push_back(node);
    return node.outputs[0];
  }
  std::vector<std::string> best() const {
    std::vector<std::string> names;
    const std::vector<graph::Graph> graphs = joined_graphs(part);
    for (const graph::Node& node : graphs.front().nodes) names.push_back(node.op);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST(JoinedPart, OneResultIsAProgram) {
  PartForTest p;
  const ValueId x = p.input("x"), g = p.input("g");
  p.part.graph.outputs = {p.op("Mul", {g, p.op("Sigmoid", {p.op("Neg", {x})})})};
  EXPECT_EQ(p.best(), Names{"FusedElementwise"});
}

TEST(JoinedPart, MemoryIsReadBeforeItIsOverwritten) {
  PartForTest p;
  const ValueId x = p.input("x"), exp = p.op("Exp", {x}), twice = p.op("Add", {x, x});
  const ValueId late = p.op("Neg", {exp});  // joined with Exp, it would read x behind `twice`
  p.part.graph.outputs = {twice, late};
  EXPECT_EQ(p.best(), (Names{"Add", "FusedElementwise"}));
  p.part.overwrites = {{x, twice, true}};
  EXPECT_EQ(p.best(), (Names{"Exp", "Add", "Neg"}));
}

}  // namespace
}  // namespace anynpu::service
