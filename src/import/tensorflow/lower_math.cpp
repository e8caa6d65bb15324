// SPDX-License-Identifier: Apache-2.0
// Arithmetic that is more than one of our operators, element by element.
#include <cmath>
#include <limits>

#include "import/tensorflow/lower.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

namespace {

template <typename Compute>
void by_element(Builder& b, size_t inputs, Compute&& compute) {
  if (b.input_count() < inputs)
    return b.refuse(Code::corrupt_model, "it has {} inputs, expected {}", b.input_count(), inputs);
  const Builder::Aligned x = b.aligned();
  if (b.ok()) b.out_aligned(0, compute(x.ids), x);
}

ValueId number(Builder& b, ValueId like, double value) { return b.scalar(b.dtype(like), value); }

// The remainder with the sign of the divisor.
ValueId floor_mod(Builder& b, ValueId x, ValueId y) {
  if (!is_floating(b.dtype(x))) return b.node("Mod", 13, {x, y});
  const auto fmod = [&](ValueId p, ValueId q) {
    return b.node("Mod", 13, {p, q}, {{"fmod", int64_t{1}}});
  };
  const ValueId rest = fmod(x, y), zero = number(b, x, 0);
  const ValueId same =
      b.node("Equal", 13, {b.node("Less", 13, {x, zero}), b.node("Less", 13, {y, zero})});
  return b.node("Where", 16, {same, rest, fmod(add(b, rest, y), y)});
}

}  // namespace

void lower_floor_mod(Builder& b) {
  by_element(b, 2, [&](const auto& x) { return floor_mod(b, x[0], x[1]); });
}

void lower_truncate_mod(Builder& b) {
  by_element(b, 2, [&](const auto& x) {
    return b.node("Mod", 13, {x[0], x[1]}, {{"fmod", int64_t{1}}});
  });
}

void lower_xor(Builder& b) {
  by_element(b, 2, [&](const auto& x) { return b.node("Xor", 7, {x[0], x[1]}); });
}

void lower_zeros_like(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    if (b.is_fixed(x[0]) && element_count(b.shape(x[0])) <= (1 << 16))
      return b.filled(b.dtype(x[0]), b.shape(x[0]), 0);
    return b.node("Expand", 13, {number(b, x[0], 0), b.shape_of(x[0])});
  });
}

void lower_ones_like(Builder& b) {
  by_element(b, 1, [&](const auto& x) {
    if (b.is_fixed(x[0]) && element_count(b.shape(x[0])) <= (1 << 16))
      return b.filled(b.dtype(x[0]), b.shape(x[0]), 1);
    return b.node("Expand", 13, {number(b, x[0], 1), b.shape_of(x[0])});
  });
}

void lower_shift(Builder& b) {
  const std::string direction = b.type() == "LeftShift" ? "LEFT" : "RIGHT";
  by_element(b, 2, [&](const auto& x) {
    return b.node("BitShift", 11, {x[0], x[1]}, {{"direction", direction}});
  });
}

// Select takes whole rows where the condition has one element for each.
void lower_select(Builder& b) {
  if (b.input_count() != 3) return b.refuse(Code::corrupt_model, "it has no three inputs");
  const ValueId condition = b.in(0), x = b.in(1);
  if (!b.ok()) return;
  if (b.has_shape(condition) && b.has_shape(x) && b.rank(condition) == 1 && b.rank(x) > 1) {
    Ints shape(static_cast<size_t>(b.rank(x)), 1);
    shape[0] = -1;
    return b.out(0, b.node("Where", 16, {b.reshape(condition, shape), x, b.in(2)}));
  }
  by_element(b, 3, [&](const auto& v) { return b.node("Where", 16, {v[0], v[1], v[2]}); });
}

}  // namespace anynpu::tensorflow
