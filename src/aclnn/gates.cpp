// SPDX-License-Identifier: Apache-2.0
// Halves of a tensor that gate each other, and activations of this maker.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

Value number(Recipe& r, double value) { return r.constant(kType, value); }
Value mul(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value add(Recipe& r, Value a, Value b) { return r.op("Add", {a, b}); }

struct Halves {
  Value first, second;
  int64_t axis = 0;
};

Halves halves(Recipe& r, Value x, int64_t axis) {
  const int64_t extent = r.extent(x, axis);
  if (extent % 2 != 0) refuse("axis {} has {} elements; expected an even number", axis, extent);
  return {r.slice(x, axis, 0, extent / 2), r.slice(x, axis, extent / 2, extent), axis};
}

Value gelu(Recipe& r, Value x, bool tanh) {
  return r.op("Gelu", {x}, {{"approximate", tanh ? "tanh" : "none"}});
}

// The derivative of gelu.
Value gelu_slope(Recipe& r, Value x, bool tanh) {
  if (!tanh) {
    const Value share =
        mul(r, number(r, 0.5),
            add(r, number(r, 1), r.op("Erf", {mul(r, x, number(r, 0.7071067811865476))})));
    const Value bell = r.op("Exp", {mul(r, mul(r, x, x), number(r, -0.5))});
    return add(r, share, mul(r, mul(r, x, bell), number(r, 0.3989422804014327)));
  }
  const Value square = mul(r, x, x);
  const Value inner = mul(r, mul(r, x, number(r, 0.7978845608028654)),
                          add(r, number(r, 1), mul(r, square, number(r, 0.044715))));
  const Value t = r.op("Tanh", {inner});
  const Value slope = mul(r, number(r, 0.7978845608028654),
                          add(r, number(r, 1), mul(r, square, number(r, 0.134145))));
  const Value rest = mul(r, mul(r, x, r.op("Sub", {number(r, 1), mul(r, t, t)})), slope);
  return mul(r, number(r, 0.5), add(r, add(r, number(r, 1), t), rest));
}

bool left_of(Recipe& r) { return r.has_parameter("activateLeft") && r.flag("activateLeft"); }

// One half times gelu of the other, the second one unless the call says so.
void geglu(Recipe& r) {
  const Halves h = halves(r, r.cast(r.in("self"), kType), r.axis("dim", r.rank("self")));
  const bool left = left_of(r);
  const Value made = gelu(r, left ? h.first : h.second, r.integer("approximate") != 0);
  r.out("out", mul(r, left ? h.second : h.first, made));
  if (r.given("outGelu")) r.out("outGelu", made);
}

void geglu_gradient(Recipe& r) {
  const Halves h = halves(r, r.cast(r.in("self"), kType), r.axis("dim", r.rank("self")));
  const bool left = left_of(r);
  const Value dy = r.cast(r.in("gradOutput"), kType), made = r.cast(r.in("gelu"), kType);
  const Value active = left ? h.first : h.second, other = left ? h.second : h.first;
  const Value of_active =
      mul(r, mul(r, dy, other), gelu_slope(r, active, r.integer("approximate") != 0));
  const Value of_other = mul(r, dy, made);
  r.out("gradInput", r.op("Concat", {left ? of_active : of_other, left ? of_other : of_active},
                          {{"axis", h.axis}}));
}

void gelu_mul(Recipe& r) {
  const Halves h =
      halves(r, r.cast(r.in("input"), kType), static_cast<int64_t>(r.rank("input")) - 1);
  r.out("out", mul(r, gelu(r, h.first, r.text("approximateOptional") == "tanh"), h.second));
}

void fatrelu_mul(Recipe& r) {
  const Halves h =
      halves(r, r.cast(r.in("input"), kType), static_cast<int64_t>(r.rank("input")) - 1);
  const Value bound = r.reshape(r.cast(r.in("threshold"), kType), {});
  const Value kept = r.op("Where", {r.op("Greater", {h.first, bound}), h.first, number(r, 0)});
  r.out("out", mul(r, kept, h.second));
}

// x * sigmoid(beta * x).
struct Swish {
  Value x, beta, share;
};

Swish swish_of(Recipe& r, Value beta) {
  Swish s;
  s.x = r.cast(r.in("self"), kType);
  s.beta = beta;
  s.share = r.op("Sigmoid", {mul(r, s.x, beta)});
  return s;
}

Value beta_of(Recipe& r) {
  return r.given("betaOptional") ? r.number("betaOptional", kType) : number(r, 1);
}

Value swish_slope(Recipe& r, const Swish& s) {
  const Value rest = mul(r, mul(r, s.x, s.beta), r.op("Sub", {number(r, 1), s.share}));
  return mul(r, s.share, add(r, number(r, 1), rest));
}

void swish(Recipe& r) {
  const Swish s = swish_of(r, beta_of(r));
  r.out("out", mul(r, s.x, s.share));
}

void swish_gradient(Recipe& r) {
  r.out("gradInput",
        mul(r, r.cast(r.in("gradOutput"), kType), swish_slope(r, swish_of(r, beta_of(r)))));
}

// A sigmoid in place of the bell's integral.
void fast_gelu(Recipe& r) {
  const Swish s = swish_of(r, number(r, 1.702));
  r.out("out", mul(r, s.x, s.share));
}

void fast_gelu_gradient(Recipe& r) {
  r.out("gradInput",
        mul(r, r.cast(r.in("gradOutput"), kType), swish_slope(r, swish_of(r, number(r, 1.702)))));
}

// relu(self + alpha * other).
void add_relu(Recipe& r) {
  const DType type = computed_in(promote(r.dtype(0), r.dtype(1)));
  Value other = r.cast(r.in(1), type);
  if (!r.equals("alpha", 1)) other = r.op("Mul", {other, r.number("alpha", type)});
  r.out(r.result(), r.op("Relu", {r.op("Add", {r.cast(r.in(0), type), other})}));
}

// Towards 0 by `bias` outside of `lambd`, 0 inside.
void shrink(Recipe& r) {
  const Value x = r.cast(r.in("self"), kType), bound = r.number("lambd", kType),
              bias = r.number("bias", kType);
  const Value below = r.op("Less", {x, r.op("Neg", {bound})}), above = r.op("Greater", {x, bound});
  const Value inside = r.op("Where", {above, r.op("Sub", {x, bias}), number(r, 0)});
  r.out("out", r.op("Where", {below, r.op("Add", {x, bias}), inside}));
}

// self where the mask is not 0, times a number.
void masked_scale(Recipe& r) {
  const Value kept = mul(r, r.cast(r.in(0), kType), r.cast(r.in("mask"), kType));
  r.out("out", mul(r, kept, r.number("scale", kType)));
}

const Row kRows[] = {
    {"aclnnGeGlu", geglu},
    {"aclnnGeGluV3", geglu},
    {"aclnnGeGluBackward", geglu_gradient},
    {"aclnnGeGluV3Backward", geglu_gradient},
    {"aclnnGeluMul", gelu_mul},
    {"aclnnFatreluMul", fatrelu_mul},
    {"aclnnSwish", swish, "", true},
    {"aclnnSwishBackward", swish_gradient, "", true},
    {"aclnnFastGelu", fast_gelu, "", true},
    {"aclnnFastGeluBackward", fast_gelu_gradient, "", true},
    {"aclnnAddRelu", add_relu, "", true},
    {"aclnnInplaceAddRelu", add_relu, "", true},
    {"aclnnShrink", shrink, "", true},
    {"aclnnMaskedScale", masked_scale, "", true},
};

}  // namespace

std::span<const Row> gates_rows() { return kRows; }

}  // namespace anynpu::aclnn
