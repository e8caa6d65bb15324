// SPDX-License-Identifier: Apache-2.0
#include "compile/graph_edit.h"

#include <cstring>

#include "graph/tensor_value.h"

namespace anynpu::compile {

namespace {

template <typename T>
constexpr DType kTypeOf = DType::undefined;
template <>
constexpr DType kTypeOf<float> = DType::f32;
template <>
constexpr DType kTypeOf<double> = DType::f64;
template <>
constexpr DType kTypeOf<int64_t> = DType::i64;

}  // namespace

template <typename T>
std::vector<T> constant_elements(const graph::Graph& graph, graph::ValueId id) {
  std::vector<T> list;
  if (id == graph::kNoValue) return list;
  const graph::Value& value = graph.values[static_cast<size_t>(id)];
  if (!value.constant || value.dtype != kTypeOf<T>) return list;
  list.resize(value.constant->bytes.size() / sizeof(T));
  if (!list.empty())
    std::memcpy(list.data(), value.constant->bytes.data(), list.size() * sizeof(T));
  return list;
}

NewNames::NewNames(const graph::Graph& graph) {
  for (const graph::Value& value : graph.values) names_.add(value.name);
}

template <typename T>
graph::ValueId add_constant(graph::Graph& graph, const std::string& name, const Shape& shape,
                            std::vector<T> elements, NewNames* names) {
  graph::Value value = graph::tensor_value(names ? names->take(name) : NewNames(graph).take(name),
                                           kTypeOf<T>, shape);
  value.constant = graph::constant_of(std::move(elements));
  return graph.add_value(std::move(value));
}

template std::vector<float> constant_elements(const graph::Graph&, graph::ValueId);
template std::vector<double> constant_elements(const graph::Graph&, graph::ValueId);
template std::vector<int64_t> constant_elements(const graph::Graph&, graph::ValueId);
template graph::ValueId add_constant(graph::Graph&, const std::string&, const Shape&,
                                     std::vector<float>, NewNames*);
template graph::ValueId add_constant(graph::Graph&, const std::string&, const Shape&,
                                     std::vector<double>, NewNames*);
template graph::ValueId add_constant(graph::Graph&, const std::string&, const Shape&,
                                     std::vector<int64_t>, NewNames*);

}  // namespace anynpu::compile
