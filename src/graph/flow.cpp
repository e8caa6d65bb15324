// SPDX-License-Identifier: Apache-2.0
#include "graph/flow.h"

#include <algorithm>

namespace anynpu::graph {

namespace {

struct FlowOp {
  std::string_view op;
  std::vector<std::string_view> attrs;
};

const std::vector<FlowOp>& flow_ops() {
  static const std::vector<FlowOp> ops = {{"If", {"then_branch", "else_branch"}},
                                          {"Loop", {"body"}},
                                          {"Scan", {"body"}},
                                          {"SequenceMap", {"body"}}};
  return ops;
}

Status misfit(const Node& node, std::string_view attr, const Graph& graph, size_t inputs,
              size_t outputs) {
  if (graph.inputs.size() == inputs && graph.outputs.size() == outputs) return {};
  return fail(Code::corrupt_model,
              "{} '{}': its graph '{}' has {} inputs and {} outputs, expected {} and {} for a node "
              "with {} inputs ({} of them captured) and {} outputs",
              node.op, node.name, attr, graph.inputs.size(), graph.outputs.size(), inputs, outputs,
              node.inputs.size(), captures_of(node), node.outputs.size());
}

// The attribute num_scan_inputs, within what the node has. The other inputs are states, and each
// comes out again.
Status check_scan(const Node& node, size_t formal) {
  const int64_t scanned = node.int_attr("num_scan_inputs", 0);
  const size_t outputs = node.outputs.size(), least = formal > outputs ? formal - outputs : 1;
  if (scanned >= 1 && static_cast<size_t>(scanned) >= least &&
      static_cast<size_t>(scanned) <= formal)
    return {};
  return fail(Code::corrupt_model,
              "{} '{}': num_scan_inputs is {}, expected {} to {} for {} inputs and {} outputs",
              node.op, node.name, scanned, least, formal, formal, outputs);
}

}  // namespace

std::vector<std::string_view> subgraph_attrs(const Node& node) {
  if (!node.domain.empty()) return {};
  for (const FlowOp& flow : flow_ops()) {
    if (flow.op == node.op) return flow.attrs;
  }
  return {};
}

std::shared_ptr<const Graph> subgraph(const Node& node, std::string_view attr) {
  const auto found = node.attrs.find(std::string(attr));
  if (found == node.attrs.end()) return nullptr;
  const auto* graph = std::get_if<std::shared_ptr<const Graph>>(&found->second);
  return graph ? *graph : nullptr;
}

size_t captures_of(const Node& node) {
  const int64_t count = node.int_attr(kCapturesAttr, 0);
  return std::min(node.inputs.size(), static_cast<size_t>(std::max<int64_t>(count, 0)));
}

size_t formal_inputs(const Node& node) { return node.inputs.size() - captures_of(node); }

Status check_flow(const Node& node) {
  for (std::string_view attr : subgraph_attrs(node)) {
    const auto graph = subgraph(node, attr);
    if (!graph) {
      return fail(Code::corrupt_model, "{} '{}' lacks the graph '{}'", node.op, node.name, attr);
    }
    const size_t formal = formal_inputs(node), captures = captures_of(node);
    const size_t outputs = node.outputs.size();
    if (node.op == "If") {
      if (formal != 1) {
        return fail(Code::corrupt_model, "If '{}' has {} inputs, expected 1", node.name, formal);
      }
      ANYNPU_TRY(misfit(node, attr, *graph, captures, outputs));
    } else if (node.op == "Loop") {
      if (formal < 2 || outputs + 2 < formal) {
        return fail(Code::corrupt_model,
                    "Loop '{}' has {} inputs and {} outputs; expected 2 "
                    "inputs or more and an output for each carried value",
                    node.name, formal, outputs);
      }
      ANYNPU_TRY(misfit(node, attr, *graph, formal + captures, outputs + 1));
    } else {
      // Before opset 9 the first input of a Scan has the lengths of the sequences of a batch.
      const bool lengths = node.op == "Scan" && node.opset < 9;
      if (lengths && formal < 1) {
        return fail(Code::corrupt_model, "Scan '{}' has no inputs", node.name);
      }
      const size_t passed = formal - (lengths ? 1 : 0);
      if (node.op == "Scan") ANYNPU_TRY(check_scan(node, passed));
      ANYNPU_TRY(misfit(node, attr, *graph, passed + captures, outputs));
    }
  }
  return {};
}

void sink_constants(const Graph& graph, Node& node) {
  const size_t formal = formal_inputs(node);
  for (size_t i = node.inputs.size(); i-- > formal;) {
    const ValueId id = node.inputs[i];
    if (id == kNoValue || !graph.values[static_cast<size_t>(id)].constant) continue;
    const Value& value = graph.values[static_cast<size_t>(id)];
    for (std::string_view attr : subgraph_attrs(node)) {
      auto inner = std::make_shared<Graph>(*subgraph(node, attr));
      // The captures are the last inputs of both.
      const size_t at = inner->inputs.size() - (node.inputs.size() - i);
      Value& slot = inner->values[static_cast<size_t>(inner->inputs[at])];
      slot.dtype = value.dtype;
      slot.shape = value.shape;
      slot.has_shape = value.has_shape;
      slot.constant = value.constant;
      inner->inputs.erase(inner->inputs.begin() + static_cast<ptrdiff_t>(at));
      node.attrs[std::string(attr)] = std::shared_ptr<const Graph>(std::move(inner));
    }
    node.inputs.erase(node.inputs.begin() + static_cast<ptrdiff_t>(i));
    node.attrs[kCapturesAttr] = static_cast<int64_t>(node.inputs.size() - formal);
  }
}

}  // namespace anynpu::graph
