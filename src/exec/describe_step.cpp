// SPDX-License-Identifier: Apache-2.0
#include "exec/describe_step.h"

#include "base/format.h"

namespace anynpu::exec {

namespace {

// Three lists of one side of a node.
struct Side {
  std::string shapes, types, formats;

  void add(DType dtype, const Shape& shape, Format format) {
    if (!shapes.empty() || !types.empty()) shapes += ';', types += ';', formats += ';';
    for (size_t i = 0; i < shape.size(); ++i) {
      if (i > 0) shapes += ',';
      shapes += std::to_string(shape[i]);
    }
    types += name_of(dtype);
    formats += name_of(format);
  }
  std::string text() const { return shapes + '\t' + types + '\t' + formats; }
};

void add_operands(Side& side, const graph::Graph& graph, const std::vector<graph::ValueId>& ids,
                  const std::vector<ops::Operand>& operands) {
  for (size_t i = 0; i < operands.size() && i < ids.size(); ++i) {
    if (!operands[i].present || ids[i] == graph::kNoValue) continue;
    side.add(operands[i].dtype, operands[i].shape,
             graph.values[static_cast<size_t>(ids[i])].format);
  }
}

}  // namespace

std::string describe_step(const graph::Graph& graph, const graph::Node& node,
                          const ops::OpContext& context, const std::string& kernel) {
  Side inputs, outputs;
  add_operands(inputs, graph, node.inputs, context.inputs);
  add_operands(outputs, graph, node.outputs, context.outputs);
  return format("{}\t{}\t{}\t{}", node.op, kernel, inputs.text(), outputs.text());
}

std::string describe_move(const char* operation, DType dtype, const Shape& shape,
                          Format tensor_format) {
  Side side;
  side.add(dtype, shape, tensor_format);
  return format("{}\t{}\t{}\t{}", operation, operation, side.text(), side.text());
}

}  // namespace anynpu::exec
