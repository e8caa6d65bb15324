// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "compile/passes.h"
#include "graph/flow.h"
#include "ops/text/text.h"

namespace anynpu::compile {

namespace {

using graph::Graph;
using graph::Node;
using graph::ValueId;

bool is_text(const Graph& graph, ValueId id) {
  return id != graph::kNoValue && graph.values[static_cast<size_t>(id)].dtype == DType::string;
}

bool holds_texts(const Graph& graph) {
  if (std::any_of(graph.values.begin(), graph.values.end(),
                  [](const graph::Value& value) { return value.dtype == DType::string; }))
    return true;
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [](const Node& node) {
    if (ops::text::concerns_texts(node, {})) return true;
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      const auto inner = graph::subgraph(node, attr);
      if (inner && holds_texts(*inner)) return true;
    }
    return false;
  });
}

Status refuse_border(const Graph& graph, const std::vector<ValueId>& ids, const char* what) {
  for (ValueId id : ids) {
    if (!is_text(graph, id)) continue;
    return fail(Code::unsupported_dtype,
                "{} '{}' is a tensor of strings, which have no size before the run; expected "
                "numbers: leave strings to the host program and pass ids",
                what, graph.values[static_cast<size_t>(id)].name);
  }
  return {};
}

// What folding has left: strings that loops, branches of a run or sequences would carry.
Status refuse_rest(const Graph& graph) {
  for (const Node& node : graph.nodes) {
    const auto text = [&](ValueId id) { return is_text(graph, id); };
    if (std::any_of(node.inputs.begin(), node.inputs.end(), text) ||
        std::any_of(node.outputs.begin(), node.outputs.end(), text)) {
      return fail(
          Code::unsupported_feature,
          "{} '{}' would carry strings in the run: strings are worked out when the model is "
          "compiled; expected numbers (ids of words) in sequences, loops and branches",
          node.op, node.name);
    }
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      if (const auto inner = graph::subgraph(node, attr)) ANYNPU_TRY(refuse_rest(*inner));
    }
  }
  return {};
}

}  // namespace

Status fold_texts(Graph& graph, const std::vector<std::string>& passes_off) {
  if (!holds_texts(graph)) return {};
  ANYNPU_TRY(refuse_border(graph, graph.inputs, "input"));
  ANYNPU_TRY(refuse_border(graph, graph.outputs, "output"));
  ANYNPU_TRY(infer_and_fold(graph, passes_off));
  ANYNPU_TRY(refuse_border(graph, graph.outputs, "output"));
  ANYNPU_TRY(refuse_rest(graph));
  return graph.verify();
}

}  // namespace anynpu::compile
