// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "compile/passes.h"
#include "ops/registry.h"

namespace anynpu::compile {

namespace {

using graph::Constant;
using graph::Node;
using graph::Value;

// A folded result larger than this and than its inputs stays a node: a few bytes of file must not
// become gigabytes of weights.
constexpr size_t kFoldLimit = size_t{16} << 20;

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

bool worth_folding(const ops::OpContext& context) {
  size_t input_bytes = 0, output_bytes = 0;
  bool any = false;
  for (const ops::Operand& input : context.inputs) {
    if (!input.present) continue;
    any = true;
    if (context.schema->reads_shapes_only && input.fully_known()) continue;
    if (!input.is_constant) return false;
    input_bytes += input.constant.size();
  }
  for (const ops::Operand& output : context.outputs) {
    if (!output.present) continue;
    if (!output.fully_known() || output.dtype == DType::string) return false;
    const int64_t count = element_count(output.shape);
    if (count > static_cast<int64_t>(kFoldLimit) + static_cast<int64_t>(input_bytes)) return false;
    output_bytes += bytes_of(output.dtype, static_cast<size_t>(count));
  }
  return any && output_bytes <= std::max(kFoldLimit, input_bytes);
}

Status set_output(const ops::Operand& inferred, const Node& node, Value& value) {
  if (inferred.dtype != DType::undefined) value.dtype = inferred.dtype;
  if (inferred.has_shape) {
    value.shape = inferred.shape;
    value.has_shape = true;
  }
  if (value.dtype == DType::undefined || !value.has_shape || !is_static(value.shape)) {
    return fail(
        Code::unsupported_shape,
        "{} '{}': the type and shape of '{}' are {} {} before run time; such models come with "
        "a later release, fix the input shapes with --input_shape",
        node.op, node.name, value.name, name_of(value.dtype),
        value.has_shape ? to_string(value.shape) : "(unknown)");
  }
  return {};
}

// Infers one node; true when its outputs became constants and the node is not needed.
Result<bool> infer_node(graph::Graph& graph, const Node& node) {
  std::vector<ops::Operand> inputs;
  for (graph::ValueId id : node.inputs) inputs.push_back(ops::Operand::of(graph, id));
  ANYNPU_ASSIGN(ops::OpContext context, ops::infer(node, std::move(inputs)));
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == graph::kNoValue) continue;
    Value& value = graph.values[static_cast<size_t>(node.outputs[i])];
    if (!context.outputs[i].has_shape && !value.has_shape)
      find_stated_shape(graph, node.outputs[i]);
    ANYNPU_TRY(set_output(context.outputs[i], node, value));
  }
  if (!worth_folding(context)) return false;
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

}  // namespace

Status infer_and_fold(graph::Graph& graph) {
  std::vector<Node> kept;
  kept.reserve(graph.nodes.size());
  for (Node& node : graph.nodes) {
    ANYNPU_ASSIGN(const bool folded, infer_node(graph, node),
                  "while inferring the shapes of the model");
    if (!folded) kept.push_back(std::move(node));
  }
  graph.nodes = std::move(kept);
  return {};
}

}  // namespace anynpu::compile
