// SPDX-License-Identifier: Apache-2.0
// Small graphs for the tests of this folder.
#pragma once

#include <memory>
#include <string>

#include "graph/flow.h"
#include "graph/tensor_value.h"

namespace anynpu::graph {

inline ValueId add(Graph& graph, const std::string& name) {
  return graph.add_value(tensor_value(name, DType::f32, {1, 4}));
}

inline void add_node(Graph& graph, const std::string& name, ValueId in, ValueId out) {
  Node node;
  node.op = "Relu";
  node.name = name;
  node.inputs = {in};
  node.outputs = {out};
  graph.nodes.push_back(node);
}

inline Graph chain() {
  Graph graph;
  graph.name = "chain";
  const ValueId x = add(graph, "x"), y = add(graph, "y"), z = add(graph, "z");
  graph.inputs = {x};
  graph.outputs = {z};
  add_node(graph, "second", y, z);
  add_node(graph, "first", x, y);
  return graph;
}

// out = cond ? relu(captured) : captured
inline Graph branch(bool relu) {
  Graph graph;
  graph.name = relu ? "then" : "else";
  const ValueId x = add(graph, "x");
  graph.inputs = {x};
  graph.outputs = {x};
  if (relu) {
    graph.outputs = {add(graph, "r")};
    add_node(graph, "relu", x, graph.outputs[0]);
  }
  return graph;
}

inline Graph conditional() {
  Graph graph;
  graph.name = "net";
  const ValueId cond = add(graph, "cond"), x = add(graph, "x"), y = add(graph, "y");
  graph.inputs = {cond, x};
  graph.outputs = {y};
  Node node;
  node.op = "If";
  node.name = "choose";
  node.inputs = {cond, x};
  node.outputs = {y};
  node.attrs[kCapturesAttr] = int64_t{1};
  node.attrs["then_branch"] = std::make_shared<const Graph>(branch(true));
  node.attrs["else_branch"] = std::make_shared<const Graph>(branch(false));
  graph.nodes.push_back(std::move(node));
  return graph;
}

}  // namespace anynpu::graph
