// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>

#include "compile/def_use.h"
#include "compile/graph_edit.h"
#include "compile/quantized.h"
#include "graph/tensor_value.h"

namespace anynpu::compile {

namespace {

using graph::kNoValue;
using graph::Node;
using graph::Value;
using graph::ValueId;

// The zero point of a node whose quantised tensor is of `type`; -1: no constant of one element.
int zero_of(const graph::Graph& graph, const Node& node, DType type) {
  if (node.inputs.size() < 3 || node.inputs[2] == kNoValue) return type == DType::u8 ? 0 : 128;
  const Value& zero = graph.values[static_cast<size_t>(node.inputs[2])];
  if (!zero.constant || zero.dtype != type || zero.constant->bytes.size() != 1) return -1;
  const auto byte = static_cast<uint8_t>(zero.constant->bytes[0]);
  return type == DType::u8 ? byte : byte ^ 0x80;  // as unsigned
}

}  // namespace

std::optional<ByteScale> byte_scale(const graph::Graph& graph, const Node& node) {
  const bool quantizes = node.op == "QuantizeLinear";
  const ValueId bytes = quantizes ? node.outputs[0] : node.inputs[0];
  if (graph.values[static_cast<size_t>(bytes)].dtype != DType::u8) return std::nullopt;
  const auto scale = constant_elements<float>(graph, node.inputs[1]);
  const int zero = zero_of(graph, node, DType::u8);
  if (scale.size() != 1 || !(scale[0] > 0) || zero < 0) return std::nullopt;
  return ByteScale{scale[0], zero};
}

void make_bytes_unsigned(graph::Graph& graph) {
  const DefUse uses(graph);
  std::map<int, ValueId> zeros;
  const auto unsigned_zero = [&](int zero) {
    const auto [found, fresh] = zeros.try_emplace(zero, kNoValue);
    if (fresh) {
      Value value = graph::tensor_value("zero_of_bytes_" + std::to_string(zero), DType::u8, {});
      value.constant = graph::constant_of(std::vector<uint8_t>{static_cast<uint8_t>(zero)});
      found->second = graph.add_value(std::move(value));
    }
    return found->second;
  };
  for (size_t n = 0; n < uses.producer.size() && n < graph.values.size(); ++n) {
    const int maker = uses.producer[n];
    if (maker < 0 || graph.values[n].dtype != DType::i8 || uses.is_output[n]) continue;
    std::vector<int> nodes = uses.users[n];
    nodes.push_back(maker);
    const bool fits = std::all_of(nodes.begin(), nodes.end(), [&](int at) {
      const Node& node = graph.nodes[static_cast<size_t>(at)];
      const char* op = at == maker ? "QuantizeLinear" : "DequantizeLinear";
      return node.op == op && node.domain.empty() && zero_of(graph, node, DType::i8) >= 0 &&
             element_count(graph.values[static_cast<size_t>(node.inputs[1])].shape) == 1;
    });
    if (!fits) continue;
    for (const int at : nodes) {
      const int zero = zero_of(graph, graph.nodes[static_cast<size_t>(at)], DType::i8);
      const ValueId id = unsigned_zero(zero);
      Node& node = graph.nodes[static_cast<size_t>(at)];
      node.inputs.resize(3, kNoValue);
      node.inputs[2] = id;
      node.attrs.erase("output_dtype");
    }
    graph.values[n].dtype = DType::u8;
  }
}

}  // namespace anynpu::compile
