// SPDX-License-Identifier: Apache-2.0
#include "compile/types.h"

#include <algorithm>

#include "base/text.h"
#include "compile/casts.h"
#include "compile/def_use.h"
#include "compile/passes.h"

namespace anynpu::compile {

using graph::Graph;
using graph::ValueId;

Result<Graph> learn_types(Graph& graph, std::span<const Shape> shapes) {
  Graph sample = graph;
  for (size_t i = 0; i < shapes.size(); ++i) {
    graph::Value& value = sample.values[static_cast<size_t>(sample.inputs[i])];
    value.shape = shapes[i];
    value.has_shape = true;
  }
  ANYNPU_TRY(infer_and_fold(sample));
  for (size_t i = 0; i < graph.values.size(); ++i) graph.values[i].dtype = sample.values[i].dtype;
  return sample;
}

Status feed_in_fp16(const std::vector<std::string>& names, Graph& graph) {
  for (const std::string& name : names) {
    const auto place = std::find_if(graph.inputs.begin(), graph.inputs.end(), [&](ValueId id) {
      return graph.values[static_cast<size_t>(id)].name == name;
    });
    if (place == graph.inputs.end()) {
      std::string all;
      for (ValueId id : graph.inputs)
        all += (all.empty() ? "" : ", ") + graph.values[static_cast<size_t>(id)].name;
      return fail(Code::not_found,
                  "--input_fp16_nodes: the model has no input '{}'; its inputs are: {}", name, all);
    }
    const ValueId full = *place;
    const DType type = graph.values[static_cast<size_t>(full)].dtype;
    if (type == DType::f16) continue;
    if (type != DType::f32) {
      return fail(Code::unsupported_dtype,
                  "--input_fp16_nodes: input '{}' is {}; expected an input of float32", name,
                  name_of(type));
    }
    const ValueId fed = add_typed(graph, full, DType::f16);
    graph.values[static_cast<size_t>(fed)].name = name;
    graph.values[static_cast<size_t>(full)].name = name + "/float32";
    *place = fed;
    graph.nodes.insert(graph.nodes.begin(), cast_node(graph, fed, full));
  }
  return {};
}

Status cast_outputs(const std::vector<DType>& types, Graph& graph) {
  for (size_t i = 0; i < graph.outputs.size(); ++i) {
    const ValueId from = graph.outputs[i];
    const std::string name = graph.values[static_cast<size_t>(from)].name;
    const DType now = graph.values[static_cast<size_t>(from)].dtype;
    if (types[i] == DType::undefined || types[i] == now) continue;
    const ValueId to = add_typed(graph, from, types[i]);
    const bool is_input = contains(graph.inputs, from);
    if (!is_input) {
      graph.values[static_cast<size_t>(from)].name = format("{}/{}", name, name_of(now));
      graph.values[static_cast<size_t>(to)].name = name;
    }
    graph.outputs[i] = to;
    graph.nodes.push_back(cast_node(graph, from, to));
  }
  return {};
}

namespace {

// Every value of `narrow` is one of `wide`.
bool widens(DType narrow, DType wide) {
  if (narrow == wide) return true;
  if (narrow == DType::f16 || narrow == DType::bf16)
    return wide == DType::f32 || wide == DType::f64;
  return narrow == DType::f32 && wide == DType::f64;
}

}  // namespace

Status remove_cast_pairs(Graph& graph) {
  const auto type_of = [&](ValueId id) { return graph.values[static_cast<size_t>(id)].dtype; };
  const auto is_cast = [](const graph::Node& node) {
    return node.op == "Cast" && node.domain.empty() && node.inputs.size() == 1;
  };
  const DefUse def_use(graph);  // who makes a value does not change below
  for (graph::Node& node : graph.nodes) {
    if (!is_cast(node)) continue;
    ValueId source = node.inputs[0];
    const int before = def_use.producer[static_cast<size_t>(source)];
    if (before >= 0 && is_cast(graph.nodes[static_cast<size_t>(before)])) {
      const ValueId first = graph.nodes[static_cast<size_t>(before)].inputs[0];
      if (widens(type_of(first), type_of(source))) source = first;
    }
    // Read the input of the first cast; if nothing is left to do, become a copy.
    node.inputs[0] = source;
    if (type_of(source) != type_of(node.outputs[0]) || type_of(source) == DType::undefined)
      continue;
    node.op = "Identity";
    node.attrs.clear();
  }
  ANYNPU_TRY(remove_identities(graph));
  return remove_dead(graph);
}

}  // namespace anynpu::compile
