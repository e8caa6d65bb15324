// SPDX-License-Identifier: Apache-2.0
// Tensors made in memory: a value with a stated shape, constants that own their elements.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "graph/graph.h"

namespace anynpu::graph {

inline Value tensor_value(std::string name, DType dtype, Shape shape) {
  Value value;
  value.name = std::move(name);
  value.dtype = dtype;
  value.shape = std::move(shape);
  value.has_shape = true;
  return value;
}

template <typename T>
std::shared_ptr<const Constant> constant_of(std::vector<T> elements) {
  auto owner = std::make_shared<const std::vector<T>>(std::move(elements));
  const auto bytes = std::as_bytes(std::span(*owner));
  return std::make_shared<const Constant>(Constant{std::move(owner), bytes});
}

}  // namespace anynpu::graph
