// SPDX-License-Identifier: Apache-2.0
// What language models call beside products: normalisation by the root of squares, gated
// activations, rotary positions.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// The last axes, as many as gamma has.
std::vector<int64_t> last_axes(Recipe& r, Param x, Param gamma) {
  const size_t rank = r.rank(x), inner = r.rank(gamma);
  if (inner == 0 || inner > rank) refuse("gamma has {} axes, the tensor {}", inner, rank);
  std::vector<int64_t> axes;
  for (size_t i = rank - inner; i < rank; ++i) axes.push_back(static_cast<int64_t>(i));
  return axes;
}

double count_of(const Shape& shape, const std::vector<int64_t>& axes) {
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(shape[static_cast<size_t>(axis)]);
  return count;
}

Value mean_over(Recipe& r, Value x, const std::vector<int64_t>& axes) {
  const Value sum = r.op("ReduceSum", {x, r.constant(axes)}, {{"keepdims", 1}});
  return r.op("Mul", {sum, r.constant(r.dtype(x), 1 / count_of(r.shape(x), axes))});
}

// x / sqrt(mean(x^2) + epsilon) * gamma.
void normalise(Recipe& r, Value x, const std::vector<int64_t>& axes) {
  const DType type = r.dtype(x);
  const Value square = mean_over(r, r.op("Mul", {x, x}), axes);
  const Value inverse =
      r.op("Reciprocal", {r.op("Sqrt", {r.op("Add", {square, r.number("epsilon", type)})})});
  Value gamma = r.cast(r.in("gamma"), type);
  if (r.row().number) gamma = r.op("Add", {gamma, r.constant(type, 1)});
  r.out("yOut", r.op("Mul", {r.op("Mul", {x, inverse}), gamma}));
  if (r.given("rstdOut") && r.tensor("rstdOut").count() > 0)
    r.out("rstdOut", r.reshape(inverse, r.shape("rstdOut")));
}

// number 1: gamma counts from 1.
void rms_norm(Recipe& r) {
  normalise(r, r.cast(r.in("x"), DType::f32), last_axes(r, "x", "gamma"));
}

// The sum of two tensors, rounded as it is stored, then normalised.
void add_rms_norm(Recipe& r) {
  const DType type = r.dtype("x1");
  const Value sum =
      r.cast(r.op("Add", {r.cast(r.in("x1"), DType::f32), r.cast(r.in("x2"), DType::f32)}), type);
  r.out("xOut", sum);
  normalise(r, r.cast(sum, DType::f32), last_axes(r, "x1", "gamma"));
}

void rms_norm_gradient(Recipe& r) {
  const auto axes = last_axes(r, "x", "gamma");
  const DType type = DType::f32;
  const Value dy = r.cast(r.in("dy"), type), x = r.cast(r.in("x"), type);
  const Value gamma = r.cast(r.in("gamma"), type);
  Shape kept = r.shape("x");
  for (int64_t axis : axes) kept[static_cast<size_t>(axis)] = 1;
  const Value inverse = r.reshape(r.cast(r.in("rstd"), type), kept);
  const Value normal = r.op("Mul", {x, inverse}), passed = r.op("Mul", {dy, gamma});
  const Value mean = mean_over(r, r.op("Mul", {passed, normal}), axes);
  r.out("dxOut", r.op("Mul", {inverse, r.op("Sub", {passed, r.op("Mul", {normal, mean})})}));
  std::vector<int64_t> leading;
  for (int64_t i = 0; i < axes.front(); ++i) leading.push_back(i);
  const Value each = r.op("Mul", {dy, normal});
  r.out("dgammaOut",
        leading.empty() ? each : r.op("ReduceSum", {each, r.constant(leading)}, {{"keepdims", 0}}));
}

struct Halves {
  Value first, second;
  int64_t axis;
};

Halves halves(Recipe& r, Value x, int64_t axis) {
  const int64_t extent = r.extent(x, axis);
  if (extent % 2 != 0) refuse("axis {} has {} elements; expected an even number", axis, extent);
  return {r.slice(x, axis, 0, extent / 2), r.slice(x, axis, extent / 2, extent), axis};
}

// silu(first half) * second half.
void swiglu(Recipe& r) {
  const Halves h = halves(r, r.cast(r.in("x"), DType::f32), r.axis("dim", r.rank("x")));
  r.out("out", r.op("Mul", {r.op("Swish", {h.first}), h.second}));
}

void swiglu_gradient(Recipe& r) {
  const DType type = DType::f32;
  const Halves h = halves(r, r.cast(r.in("x"), type), r.axis("dim", r.rank("x")));
  const Value dy = r.cast(r.in("yGrad"), type), one = r.constant(type, 1);
  const Value s = r.op("Sigmoid", {h.first}), silu = r.op("Mul", {h.first, s});
  const Value slope =
      r.op("Mul", {s, r.op("Add", {one, r.op("Mul", {h.first, r.op("Sub", {one, s})})})});
  const Value first = r.op("Mul", {r.op("Mul", {dy, h.second}), slope});
  r.out("out", r.op("Concat", {first, r.op("Mul", {dy, silu})}, {{"axis", h.axis}}));
}

// x turned by a quarter. Halves (mode 0): (-x2, x1). Pairs (mode 1): (-x[1], x[0], -x[3], x[2]
// ...).
Value quarter_turn(Recipe& r, Value x, int64_t mode) {
  const Shape shape = r.shape(x);
  const auto last = static_cast<int64_t>(shape.size()) - 1;
  if (mode == 0) {
    const Halves h = halves(r, x, last);
    return r.op("Concat", {r.op("Neg", {h.second}), h.first}, {{"axis", last}});
  }
  if (mode != 1) refuse("mode is {}; expected 0 (halves) or 1 (pairs)", mode);
  Shape pairs = shape;
  pairs.back() /= 2;
  pairs.push_back(2);
  const Value p = r.reshape(x, pairs);
  const Value first = r.slice(p, last + 1, 0, 1), second = r.slice(p, last + 1, 1, 2);
  return r.reshape(r.op("Concat", {r.op("Neg", {second}), first}, {{"axis", last + 1}}), shape);
}

// x * cos + turned x * sin.
Value rotated(Recipe& r, Value x, int64_t mode) {
  const DType type = r.dtype(x);
  const Value cos = r.cast(r.in("cos"), type), sin = r.cast(r.in("sin"), type);
  return r.op("Add", {r.op("Mul", {x, cos}), r.op("Mul", {quarter_turn(r, x, mode), sin})});
}

void rotary(Recipe& r) {
  r.out("out", rotated(r, r.cast(r.in("x"), DType::f32), r.integer("mode")));
}

void rotary_pair(Recipe& r) {
  for (const char* name : {"queryRef", "keyRef"})
    r.out(name, rotated(r, r.cast(r.in(name), DType::f32), 0));
}

const Row kRows[] = {
    {"aclnnRmsNorm", rms_norm},
    {"aclnnGemmaRmsNorm", rms_norm, "", false, 1},
    {"aclnnAddRmsNorm", add_rms_norm},
    {"aclnnRmsNormGrad", rms_norm_gradient},
    {"aclnnSwiGlu", swiglu},
    {"aclnnSwiGluGrad", swiglu_gradient},
    {"aclnnRotaryPositionEmbedding", rotary},
    {"aclnnApplyRotaryPosEmb", rotary_pair},
};

}  // namespace

std::span<const Row> llm_rows() { return kRows; }

}  // namespace anynpu::aclnn
