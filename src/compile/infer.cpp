// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <map>

#include "base/progress.h"
#include "base/text.h"
#include "compile/fold_budget.h"
#include "compile/infer_flow.h"
#include "compile/passes.h"
#include "ops/registry.h"
#include "ops/text/text.h"

namespace anynpu::compile {

namespace {

using graph::Constant;
using graph::Node;
using graph::Value;

std::shared_ptr<const Constant> owned(std::vector<std::byte> bytes) {
  auto owner = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  return std::make_shared<const Constant>(Constant{owner, *owner});
}

// Kernels read elements in place; a view into a protobuf file may start anywhere.
void align_constant(Value& value) {
  const auto address = reinterpret_cast<uintptr_t>(value.constant->bytes.data());
  if (address % alignof(std::max_align_t) == 0) return;
  const auto& bytes = value.constant->bytes;
  value.constant = owned({bytes.begin(), bytes.end()});
}

void set_output(const ops::Operand& inferred, Value& value) {
  if (inferred.dtype != DType::undefined) value.dtype = inferred.dtype;
  if (!inferred.has_shape) return;
  value.shape = inferred.shape;
  value.has_shape = true;
}

// The types that the operator's rule tells when it knows nothing of the shapes that come at run
// time: indices, truth values, the type that a cast names. None where the rule needs them.
std::vector<DType> types_by_rule(const Node& node, std::vector<ops::Operand> operands) {
  for (ops::Operand& operand : operands) {
    if (operand.dtype == DType::undefined && operand.present) return {};
    if (operand.is_constant || operand.fully_known()) continue;
    operand.has_shape = false;
    operand.shape.clear();
  }
  const auto context = ops::infer(node, std::move(operands));
  std::vector<DType> types;
  for (size_t i = 0; context.ok() && i < context->outputs.size(); ++i)
    types.push_back(context->outputs[i].dtype);
  return types;
}

// The shape of an input comes at run time, and with it those of the outputs. Their types follow
// from the types of inputs or from the operator's rule; else the file may state them.
Status infer_unknown_shape(graph::Graph& graph, const Node& node,
                           const std::vector<ops::Operand>& operands) {
  ANYNPU_ASSIGN(const ops::OpSchema* schema, ops::Registry::instance().find(node), "node '{}'",
                node.name);
  const auto formal = [](const std::vector<ops::FormalOperand>& list, size_t index) {
    return list.empty() ? std::string_view{} : list[std::min(index, list.size() - 1)].type_var;
  };
  const std::vector<DType> by_rule = types_by_rule(node, operands);
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const graph::ValueId id = node.outputs[i];
    if (id == graph::kNoValue) continue;
    Value& value = graph.values[static_cast<size_t>(id)];
    if (i < by_rule.size() && by_rule[i] != DType::undefined) value.dtype = by_rule[i];
    if (!contains(graph.outputs, id)) {
      value.has_shape = false;
      value.shape.clear();
    }
    const std::string_view wanted = formal(schema->outputs, i);
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].present && operands[k].dtype != DType::undefined &&
          formal(schema->inputs, k) == wanted) {
        value.dtype = operands[k].dtype;
        break;
      }
    }
  }
  return {};
}

// A node of strings: its outputs become constants, or it fails.
Status fold_text_node(graph::Graph& graph, const Node& node,
                      const std::vector<ops::Operand>& inputs) {
  ANYNPU_ASSIGN(auto results, ops::text::fold_texts(node, inputs));
  for (size_t i = 0; i < node.outputs.size() && i < results.size(); ++i) {
    if (node.outputs[i] == graph::kNoValue) continue;
    Value& value = graph.values[static_cast<size_t>(node.outputs[i])];
    value.dtype = results[i].dtype;
    value.shape = std::move(results[i].shape);
    value.has_shape = true;
    value.constant = owned(std::move(results[i].bytes));
  }
  return {};
}

// Infers one node; true when its outputs became constants and the node is not needed.
Result<bool> infer_node(graph::Graph& graph, Node& node, const std::vector<std::string>& passes_off,
                        FoldBudget& budget, bool stays) {
  std::vector<ops::Operand> inputs;
  bool unknown = false;
  for (graph::ValueId id : node.inputs) {
    inputs.push_back(ops::Operand::of(graph, id));
    const ops::Operand& input = inputs.back();
    unknown =
        unknown || (input.present && (!input.fully_known() || input.dtype == DType::undefined));
  }
  if (ops::text::concerns_texts(node, inputs)) {
    ANYNPU_TRY(fold_text_node(graph, node, inputs));
    return true;
  }
  if (is_flow(graph, node)) {
    ANYNPU_TRY(infer_flow(graph, node, passes_off, budget));
    return false;
  }
  if (unknown) {
    ANYNPU_TRY(infer_unknown_shape(graph, node, inputs));
    return false;
  }
  ANYNPU_ASSIGN(ops::OpContext context, ops::infer(node, std::move(inputs)));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == graph::kNoValue) continue;
    Value& value = graph.values[static_cast<size_t>(node.outputs[i])];
    if (!context.outputs[i].has_shape && !value.has_shape)
      find_stated_shape(graph, node.outputs[i]);
    set_output(context.outputs[i], value);
  }
  if (stays || !budget.take(context)) return false;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    if (node.inputs[i] == graph::kNoValue) continue;
    Value& value = graph.values[static_cast<size_t>(node.inputs[i])];
    if (!value.constant) {  // only its shape is read
      context.inputs[i].is_constant = true;
      continue;
    }
    align_constant(value);
    context.inputs[i].constant = value.constant->bytes;
  }
  auto results = ops::evaluate(context);
  if (!results.ok()) return false;  // no reference kernel for this type: the plan will say so
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == graph::kNoValue) continue;
    graph.values[static_cast<size_t>(node.outputs[i])].constant = owned(std::move((*results)[i]));
  }
  return true;
}

// The results of DequantizeLinear that are nothing but the weights of products with data that comes
// at run time: they stay bytes in the file, and plans may multiply bytes.
std::vector<bool> quantized_weights(const graph::Graph& graph, const std::deque<Node>& nodes) {
  constexpr std::string_view kProducts[] = {"Conv",      "Gemm",      "MatMul",
                                            "FusedConv", "FusedGemm", "FusedMatMul"};
  std::vector<bool> weights(graph.values.size(), false), varies(graph.values.size(), false);
  const bool any = std::any_of(nodes.begin(), nodes.end(), [](const Node& node) {
    return node.op == "DequantizeLinear" && node.domain.empty();
  });
  if (!any) return weights;
  std::vector<int64_t> uses(graph.values.size(), 0);
  const auto place = [](graph::ValueId id) { return static_cast<size_t>(id); };
  for (const graph::ValueId id : graph.inputs) varies[place(id)] = true;
  for (const graph::ValueId id : graph.outputs) ++uses[place(id)];
  std::map<graph::ValueId, graph::ValueId> transposed;  // what each Transpose reads
  for (const Node& node : nodes) {
    if (node.op == "Transpose" && node.domain.empty() && node.inputs.size() == 1)
      transposed[node.outputs[0]] = node.inputs[0];
    bool at_run_time = false;
    for (const graph::ValueId id : node.inputs) {
      if (id == graph::kNoValue) continue;
      ++uses[place(id)];
      at_run_time = at_run_time || varies[place(id)];
    }
    for (const graph::ValueId id : node.outputs) {
      if (id != graph::kNoValue) varies[place(id)] = at_run_time;
    }
  }
  for (const Node& node : nodes) {
    if (std::find(std::begin(kProducts), std::end(kProducts), node.op) == std::end(kProducts))
      continue;
    if (node.inputs.size() < 2 || node.inputs[0] == graph::kNoValue ||
        node.inputs[1] == graph::kNoValue)
      continue;
    const size_t w = place(node.inputs[1]);
    weights[w] = varies[place(node.inputs[0])] && !varies[w] && uses[w] == 1;
    // A product takes a Transpose of them as its own.
    const auto turned = transposed.find(node.inputs[1]);
    if (weights[w] && node.op == "MatMul" && turned != transposed.end() &&
        uses[place(turned->second)] == 1)
      weights[place(turned->second)] = true;
  }
  return weights;
}

}  // namespace

Status infer_and_fold(graph::Graph& graph, const std::vector<std::string>& passes_off) {
  FoldBudget budget(graph);
  return infer_and_fold(graph, passes_off, budget);
}

Status infer_and_fold(graph::Graph& graph, const std::vector<std::string>& passes_off,
                      FoldBudget& budget) {
  std::vector<Node> kept;
  kept.reserve(graph.nodes.size());
  std::deque<Node> waiting(std::make_move_iterator(graph.nodes.begin()),
                           std::make_move_iterator(graph.nodes.end()));
  const std::vector<bool> weights = quantized_weights(graph, waiting);
  const auto is_kept = [&](const Node& node) {
    if (node.op != "DequantizeLinear" || !node.domain.empty()) return false;
    const auto id = static_cast<size_t>(node.outputs[0]);
    return id < weights.size() && weights[id];
  };
  graph.nodes.clear();
  Progress progress("inferring shapes", waiting.size(), "nodes");
  while (!waiting.empty()) {
    progress.step();
    Node node = std::move(waiting.front());
    waiting.pop_front();
    ANYNPU_ASSIGN(std::vector<Node> branch, inline_branch(graph, node, passes_off));
    if (!branch.empty()) {
      waiting.insert(waiting.begin(), std::make_move_iterator(branch.begin()),
                     std::make_move_iterator(branch.end()));
      continue;
    }
    ANYNPU_ASSIGN(const bool folded, infer_node(graph, node, passes_off, budget, is_kept(node)),
                  "while inferring the shapes of the model");
    if (!folded) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return {};
}

}  // namespace anynpu::compile
