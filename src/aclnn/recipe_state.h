// SPDX-License-Identifier: Apache-2.0
// What a recipe has built so far. Private to the files of Recipe.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "aclnn/recipe.h"
#include "base/align.h"
#include "graph/tensor_value.h"

namespace anynpu::aclnn {

struct Recipe::State {
  struct Output {
    Feed feed;
    Value value;
  };

  std::vector<TensorView> views;  // of all tensors of the call, as the recipe sees them
  std::vector<ReadValue> read_values;

  // The part that is being built.
  graph::Graph graph;
  std::vector<Feed> inputs;
  std::vector<Output> outputs;
  std::map<uint32_t, Value> read, turned;  // tensors that are inputs of it already
  int names = 0;

  std::vector<Part> parts;
  size_t shared_bytes = 0;  // that parts have in common
  // Reserves aligned bytes there.
  size_t share(size_t bytes) {
    const size_t at = round_up(shared_bytes, size_t{64});
    shared_bytes = at + bytes;
    return at;
  }

  std::string fresh_name() { return format("v{}", names++); }

  const graph::Value& value(Value value) const {
    if (!value) refuse(Code::internal, "the recipe uses an operand that is left out");
    return graph.values[static_cast<size_t>(value.id)];
  }

  bool is_input(Value value) const {
    return std::find(graph.inputs.begin(), graph.inputs.end(), value.id) != graph.inputs.end();
  }

  // Merges the last two nodes into one if they read a view and write it unchanged.
  void join_moves() {
    const size_t count = graph.nodes.size();
    if (count < 2 || graph.nodes[count - 2].op != "MoveView") return;
    graph::Node &from = graph.nodes[count - 2], &to = graph.nodes[count - 1];
    if (from.outputs[0] != to.inputs[0] || from.attrs.count("to_strides") > 0) return;
    const graph::ValueId gone = from.outputs[0];
    for (const Output& output : outputs) {
      if (output.value.id == gone) return;
    }
    for (const char* key : {"from_strides", "from_offset"}) to.attrs[key] = from.attrs[key];
    to.inputs = from.inputs;
    to.name = from.name;
    std::erase_if(read, [&](const auto& known) { return known.second.id == gone; });
    graph.nodes.erase(graph.nodes.end() - 2);
  }

  Value add_input(const Feed& feed, DType dtype, Shape shape) {
    const Value value{graph.add_value(graph::tensor_value(fresh_name(), dtype, std::move(shape)))};
    graph.inputs.push_back(value.id);
    inputs.push_back(feed);
    return value;
  }
};

}  // namespace anynpu::aclnn
