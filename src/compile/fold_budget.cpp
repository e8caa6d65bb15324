// SPDX-License-Identifier: Apache-2.0
#include "compile/fold_budget.h"

#include <algorithm>

#include "graph/flow.h"

namespace anynpu::compile {

namespace {

constexpr size_t kLargestResult = size_t{16} << 20;  // bytes, unless its inputs have as many
constexpr double kBytes = 256 << 20, kBytesOfConstant = 4;
constexpr double kWork = 4e9, kWorkOfConstant = 16;   // some seconds
constexpr double kFreeBytes = 4096, kFreeWork = 1e5;  // arithmetic on shapes is never refused

double elements(const ops::Operand& operand) {
  return operand.present ? static_cast<double>(element_count(operand.shape)) : 0;
}

// An upper bound, as the reference kernels compute.
double work_of(const ops::OpContext& context) {
  double all = 0, largest = 0, made = 0;
  for (const ops::Operand& input : context.inputs) {
    if (!input.is_constant) continue;  // its shape alone is read
    all += elements(input);
    largest = std::max(largest, elements(input));
  }
  for (const ops::Operand& output : context.outputs) made += elements(output);
  const double bound = (all + made) * std::max(1.0, largest);
  switch (context.schema->traits.cost) {
    case ops::CostClass::linear:
      return all + made;
    case ops::CostClass::product: {
      const Shape& first = context.inputs[0].shape;
      if (first.size() < 2) return bound;
      return all + made * static_cast<double>(std::max(first.back(), first[first.size() - 2]));
    }
    case ops::CostClass::convolution: {
      const ops::Operand& filters = context.inputs[1];
      if (filters.shape[0] <= 0) return bound;
      return all + made * elements(filters) / static_cast<double>(filters.shape[0]);
    }
    case ops::CostClass::undecided:
    case ops::CostClass::unbounded:
      return bound;
  }
  return bound;
}

// Of the graph and of those inside its nodes.
double constant_bytes(const graph::Graph& graph) {
  double bytes = 0;
  for (const graph::Value& value : graph.values) {
    if (value.constant) bytes += static_cast<double>(value.constant->bytes.size());
  }
  for (const graph::Node& node : graph.nodes) {
    if (!graph::has_subgraphs(node)) continue;
    for (std::string_view attr : graph::subgraph_attrs(node)) {
      if (const auto inner = graph::subgraph(node, attr)) bytes += constant_bytes(*inner);
    }
  }
  return bytes;
}

}  // namespace

FoldBudget::FoldBudget(const graph::Graph& graph) {
  const double given = constant_bytes(graph);
  bytes_ = kBytes + kBytesOfConstant * given;
  work_ = kWork + kWorkOfConstant * given;
}

bool FoldBudget::take(const ops::OpContext& context) {
  size_t input_bytes = 0, output_bytes = 0;
  bool any = false;
  const std::byte* last = nullptr;
  for (const ops::Operand& input : context.inputs) {
    if (!input.present) continue;
    any = true;
    if (context.schema->reads_shapes_only && input.fully_known()) continue;
    if (!input.is_constant) return false;
    if (input.constant.data() != last) input_bytes += input.constant.size();  // not one twice
    last = input.constant.data();
  }
  for (const ops::Operand& output : context.outputs) {
    if (!output.present) continue;
    if (!output.fully_known()) return false;
    const int64_t count = element_count(output.shape);
    if (count > static_cast<int64_t>(kLargestResult + input_bytes)) return false;
    output_bytes += bytes_of(output.dtype, static_cast<size_t>(count));
  }
  if (!any || output_bytes > std::max(kLargestResult, input_bytes)) return false;
  const auto bytes = static_cast<double>(output_bytes);
  const double work = work_of(context);
  if (bytes <= kFreeBytes && work <= kFreeWork) return true;
  if (bytes > bytes_ || work > work_) return false;
  bytes_ -= bytes;
  work_ -= work;
  return true;
}

}  // namespace anynpu::compile
