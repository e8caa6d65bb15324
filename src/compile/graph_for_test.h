// SPDX-License-Identifier: Apache-2.0
// Small graphs for the tests of the passes, and a fixture that runs a pass on one.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "compile/graph_edit.h"
#include "compile/passes.h"
#include "graph/tensor_value.h"

namespace anynpu::compile {

class GraphForTest {
 public:
  graph::Graph graph;

  graph::ValueId input(const std::string& name, Shape shape) {
    const graph::ValueId id =
        graph.add_value(graph::tensor_value(name, DType::f32, std::move(shape)));
    graph.inputs.push_back(id);
    return id;
  }

  // A constant with drawn elements in [low, high).
  graph::ValueId weight(const std::string& name, const Shape& shape, float low = -1,
                        float high = 1) {
    std::vector<float> elements(static_cast<size_t>(element_count(shape)));
    std::uniform_real_distribution<float> draw(low, high);
    for (float& element : elements) element = draw(random_);
    return add_constant(graph, name, shape, std::move(elements));
  }

  graph::ValueId node(const std::string& op, std::vector<graph::ValueId> inputs,
                      const std::string& output, int64_t opset = 13) {
    graph::Value out;
    out.name = output;
    const graph::ValueId id = graph.add_value(out);
    graph::Node node;
    node.op = op;
    node.opset = opset;
    node.name = op + "_" + output;
    node.inputs = std::move(inputs);
    node.outputs = {id};
    graph.nodes.push_back(node);
    return id;
  }

  // Replaces the inputs by constants and folds everything: the elements of output 0.
  static std::vector<float> run(graph::Graph graph) {
    std::mt19937 random(3);
    std::uniform_real_distribution<float> draw(-1, 1);
    for (graph::ValueId id : graph.inputs) {
      graph::Value& value = graph.values[static_cast<size_t>(id)];
      std::vector<float> elements(static_cast<size_t>(element_count(value.shape)));
      for (float& element : elements) element = draw(random);
      value.constant = graph::constant_of(std::move(elements));
    }
    graph.inputs.clear();
    const Status status = infer_and_fold(graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
    EXPECT_TRUE(graph.nodes.empty()) << graph::print(graph);
    return constant_elements<float>(graph, graph.outputs[0]);
  }

  static std::vector<std::string> ops(const graph::Graph& graph) {
    std::vector<std::string> list;
    for (const graph::Node& node : graph.nodes) list.push_back(node.op);
    return list;
  }

 private:
  std::mt19937 random_{1};
};

inline void expect_near(const std::vector<float>& a, const std::vector<float>& b) {
  ASSERT_EQ(a.size(), b.size());
  ASSERT_FALSE(a.empty());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 2e-5f) << i;
}

class PassTest : public testing::Test {
 protected:
  graph::ValueId scalar(float value, Shape shape = {}) {
    return add_constant(g.graph, "scalar", shape, std::vector<float>{value});
  }
  graph::ValueId node(const std::string& op, std::vector<graph::ValueId> inputs) {
    return g.node(op, std::move(inputs), op + std::to_string(g.graph.nodes.size()));
  }
  graph::Node& last() { return g.graph.nodes.back(); }

  // What is left after `pass`, with the same result as before.
  std::vector<std::string> after(Status (*pass)(graph::Graph&), graph::ValueId output) {
    g.graph.outputs = {output};
    EXPECT_TRUE(infer_and_fold(g.graph).ok());
    const auto before = GraphForTest::run(g.graph);
    const Status status = pass(g.graph);
    EXPECT_TRUE(status.ok()) << status.to_string();
    expect_near(GraphForTest::run(g.graph), before);
    return GraphForTest::ops(g.graph);
  }

  graph::ValueId transpose(graph::ValueId x, std::vector<int64_t> perm) {
    const graph::ValueId y = node("Transpose", {x});
    last().attrs["perm"] = std::move(perm);
    return y;
  }
  graph::ValueId reshape(graph::ValueId x, std::vector<int64_t> shape) {
    graph::Value value = graph::tensor_value("shape" + std::to_string(g.graph.values.size()),
                                             DType::i64, {static_cast<int64_t>(shape.size())});
    value.constant = graph::constant_of(std::move(shape));
    return node("Reshape", {x, g.graph.add_value(value)});
  }

  GraphForTest g;
};

}  // namespace anynpu::compile
