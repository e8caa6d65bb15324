// SPDX-License-Identifier: Apache-2.0
#include "compile/casts.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tensor/half.h"
#include "tensor/onnx_type.h"

namespace anynpu::compile {

namespace {

constexpr float kLargestF16 = 65504.0f;

uint16_t shorten(float element, DType to, bool clip) {
  if (to == DType::bf16) return to_bf16(element).bits;
  if (clip && std::isfinite(element)) element = std::clamp(element, -kLargestF16, kLargestF16);
  return to_f16(element).bits;
}

}  // namespace

graph::Node cast_node(const graph::Graph& graph, graph::ValueId from, graph::ValueId to) {
  graph::Node node;
  node.op = "Cast";
  node.opset = 13;
  node.name = graph.values[static_cast<size_t>(to)].name + "/cast";
  node.inputs = {from};
  node.outputs = {to};
  node.attrs["to"] = cast_number(graph.values[static_cast<size_t>(to)].dtype);
  return node;
}

graph::ValueId add_typed(graph::Graph& graph, graph::ValueId id, DType dtype) {
  graph::Value value = graph.values[static_cast<size_t>(id)];
  value.name = format("{}/{}", value.name, name_of(dtype));
  value.dtype = dtype;
  value.constant = nullptr;
  return graph.add_value(std::move(value));
}

namespace {

template <typename T, typename Convert>
graph::ValueId convert(graph::Graph& graph, graph::ValueId id, DType to, const Convert& one) {
  const graph::ValueId made = add_typed(graph, id, to);
  const auto source = graph.values[static_cast<size_t>(id)].constant->bytes;
  auto owner = std::make_shared<std::vector<T>>(source.size() / sizeof(float));
  for (size_t i = 0; i < owner->size(); ++i) {
    float element;
    std::memcpy(&element, source.data() + i * sizeof(float), sizeof element);
    (*owner)[i] = one(element);
  }
  const auto bytes = std::as_bytes(std::span(*owner));
  graph.values[static_cast<size_t>(made)].constant =
      std::make_shared<const graph::Constant>(graph::Constant{std::move(owner), bytes});
  return made;
}

}  // namespace

graph::ValueId convert_constant(graph::Graph& graph, graph::ValueId id, DType to, bool clip) {
  return convert<uint16_t>(graph, id, to, [=](float x) { return shorten(x, to, clip); });
}

graph::ValueId round_constant(graph::Graph& graph, graph::ValueId id, bool clip) {
  return convert<float>(graph, id, DType::f32,
                        [=](float x) { return to_float(F16{shorten(x, DType::f16, clip)}); });
}

}  // namespace anynpu::compile
