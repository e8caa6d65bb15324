// SPDX-License-Identifier: Apache-2.0
// Element by element, in either order of channels.
#include "import/tensorflow/lower.h"
#include "ops/dtype_set.h"
#include "tensor/onnx_type.h"

namespace anynpu::tensorflow {

namespace {

// Applies `compute` to the inputs, which are in one order.
template <typename Compute>
void compute_aligned(Builder& b, size_t inputs, Compute&& compute) {
  if (b.input_count() < inputs) {
    b.refuse(Code::corrupt_model, "it has {} inputs, expected {}", b.input_count(), inputs);
    return;
  }
  const Builder::Aligned x = b.aligned();
  if (b.ok()) b.out_aligned(0, compute(x.ids), x);
}

}  // namespace

void lower_cast(Builder& b) {
  const DType to = b.type("DstT", DType::undefined);
  compute_aligned(b, 1, [&](const auto& x) {
    if (ops::kComplex.has(to) || ops::kComplex.has(b.dtype(x[0])))
      return b.node("anynpu.ComplexCast", 1, {x[0]}, {{"to", static_cast<int64_t>(to)}});
    return b.node("Cast", 13, {x[0]}, {{"to", cast_number(to)}});
  });
}

void lower_relu6(Builder& b) {
  compute_aligned(b, 1, [&](const auto& x) {
    const DType type = b.dtype(x[0]);
    return b.node("Clip", 13, {x[0], b.scalar(type, 0), b.scalar(type, 6)});
  });
}

void lower_leaky_relu(Builder& b) {
  const float alpha = b.f("alpha", 0.2f);
  compute_aligned(b, 1, [&](const auto& x) {
    return b.node("LeakyRelu", 6, {x[0]}, {{"alpha", alpha}});
  });
}

void lower_square(Builder& b) {
  compute_aligned(b, 1, [&](const auto& x) { return mul(b, x[0], x[0]); });
}

void lower_rsqrt(Builder& b) {
  compute_aligned(
      b, 1, [&](const auto& x) { return b.node("Reciprocal", 13, {b.node("Sqrt", 13, {x[0]})}); });
}

void lower_squared_difference(Builder& b) {
  compute_aligned(b, 2, [&](const auto& x) {
    const ValueId difference = sub(b, x[0], x[1]);
    return mul(b, difference, difference);
  });
}

void lower_add_n(Builder& b) {
  compute_aligned(b, 1, [&](const auto& x) {
    ValueId sum = x[0];
    for (size_t i = 1; i < x.size(); ++i) sum = add(b, sum, x[i]);
    return sum;
  });
}

// A constant that is added to heads which were split off just before is added in front of that: the
// compiler knows layers and attention in this form.
static bool add_before_split(Builder& b) {
  if (b.input_count() != 2 || b.is_first(0) || b.is_first(1)) return false;
  const ValueId x = b.in(0), bias = b.in(1);
  if (!b.ok() || !b.is_constant(bias) || !b.is_fixed(x) || b.rank(bias) < 2 || b.is_constant(x))
    return false;
  const graph::Node* split = b.maker(x);
  if (!split || split->op != "Reshape") return false;
  const ValueId whole = split->inputs[0], shape = split->inputs[1];
  const auto rank = static_cast<size_t>(b.rank(x));
  if (!b.is_fixed(whole) || b.rank(whole) + 1 != b.rank(x) || rank < 3) return false;
  const Shape s = b.shape(x);
  Shape joined(s.begin(), s.end() - 2);
  joined.push_back(s[rank - 2] * s[rank - 1]);
  if (joined != b.shape(whole) || element_count(b.shape(bias)) != joined.back() ||
      b.shape(bias).back() != s[rank - 1])
    return false;
  const ValueId sum = add(b, whole, b.reshape(bias, {joined.back()}));
  b.out(0, b.node("Reshape", 14, {sum, shape}));
  return true;
}

void lower_add(Builder& b) {
  if (!add_before_split(b) && b.ok()) lower_elementwise(b);
}

void lower_clip(Builder& b) {
  compute_aligned(b, 3, [&](const auto& x) {
    return b.node("Max", 13, {b.node("Min", 13, {x[0], x[2]}), x[1]});
  });
}

// One number for each channel, wherever the channels stand.
void lower_bias_add(Builder& b) {
  const bool last = b.channels_last();
  if (last) return compute_aligned(b, 2, [&](const auto& x) { return add(b, x[0], x[1]); });
  const ValueId x = b.in(0), bias = b.in(1);
  if (!b.has_rank(x, "the value", 2) || !b.has_rank(bias, "the bias", 1, 1)) return;
  Ints shape(static_cast<size_t>(b.rank(x)) - 1, 1);
  shape[0] = -1;
  b.out(0, add(b, x, b.reshape(bias, shape)));
}

}  // namespace anynpu::tensorflow
