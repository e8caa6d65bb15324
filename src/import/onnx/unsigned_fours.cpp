// SPDX-License-Identifier: Apache-2.0
// Constants of UINT4, for which AscendCL has no description: as weights and zero points of
// DequantizeLinear they are read as INT4, both 8 lower, which changes no difference between them.
#include <algorithm>
#include <string>
#include <utility>

#include "import/onnx/graph_builder.h"

namespace anynpu::onnx {

using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

namespace {

constexpr std::byte kMinusEights{0x88};

Status refused(const std::string& name, const std::string& reader) {
  return fail(
      Code::unsupported_dtype,
      "'{}' is of ONNX data type 21 (UINT4) and read by {}; AscendCL has no description for "
      "it, it is taken as constant weights and zero points of DequantizeLinear; export the "
      "model with INT4",
      name, reader);
}

}  // namespace

bool GraphBuilder::is_unsigned_four(ValueId id) const {
  if (id == kNoValue) return false;
  const auto& constant = graph_.values[static_cast<size_t>(id)].constant;
  return constant && model_.source.unsigned_fours.contains(constant.get());
}

// Zeros, 8 lower.
Status GraphBuilder::add_zero_point(Node& node) {
  const Value& scale = graph_.values[static_cast<size_t>(node.inputs[1])];
  if (!scale.constant)
    return refused(graph_.values[static_cast<size_t>(node.inputs[0])].name,
                   "a DequantizeLinear whose scale is not constant");
  Value zero;
  zero.name = node.name + "/zero_point";
  zero.dtype = DType::i4;
  zero.shape = scale.shape;
  zero.has_shape = true;
  const auto count = static_cast<size_t>(element_count(zero.shape));
  zero.constant = copy_constant(std::vector<std::byte>(bytes_of(DType::i4, count), kMinusEights));
  node.inputs.resize(3, kNoValue);
  node.inputs[2] = graph_.add_value(std::move(zero));
  return {};
}

Status GraphBuilder::settle_unsigned_fours() {
  if (model_.source.unsigned_fours.empty()) return {};
  const auto name = [&](ValueId id) { return graph_.values[static_cast<size_t>(id)].name; };
  for (Node& node : graph_.nodes) {
    const bool takes = node.op == "DequantizeLinear" && node.domain.empty() &&
                       node.inputs.size() >= 2 && node.inputs[1] != kNoValue &&
                       is_unsigned_four(node.inputs[0]);
    const bool zero = node.inputs.size() > 2 && node.inputs[2] != kNoValue;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      if (is_unsigned_four(node.inputs[i]) && (!takes || i == 1))
        return refused(name(node.inputs[i]), format("{} '{}'", node.op, node.name));
    }
    if (!takes) continue;
    if (!zero) ANYNPU_TRY(add_zero_point(node));
    if (zero && !is_unsigned_four(node.inputs[2]))
      return refused(name(node.inputs[0]), format("DequantizeLinear '{}' with a zero point of "
                                                  "another type",
                                                  node.name));
  }
  for (ValueId id : graph_.outputs) {
    if (is_unsigned_four(id)) return refused(name(id), "an output of the graph");
  }
  return {};
}

Status GraphBuilder::check_attribute(const graph::Attr& attribute, const Node& node) const {
  const auto* tensor = std::get_if<graph::TensorAttr>(&attribute);
  if (!tensor || !model_.source.unsigned_fours.contains(tensor->data.get())) return {};
  return refused("an attribute", format("{} '{}'", node.op, node.name));
}

}  // namespace anynpu::onnx
