// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// A constant of the type of `like`, for broadcasting with it.
// The factor may be of another type.
ValueId factor_of(Builder& b, size_t index) {
  const ValueId x = b.in(0);
  return b.ok() ? b.cast(b.in(index), b.dtype(x)) : kNoValue;
}

ValueId shape_of(Builder& b, ValueId x) {
  return b.ok() && is_static(b.shape(x)) ? b.list(b.shape(x)) : b.node("Shape", 13, {x});
}

// x * scale + shift, without the steps that change nothing.
ValueId scaled(Builder& b, ValueId x, float scale, float shift) {
  if (scale != 1) x = mul(b, x, number(b, x, scale));
  return shift != 0 ? add(b, x, number(b, x, shift)) : x;
}

}  // namespace

void lower_square(Builder& b) { b.out(0, mul(b, b.in(0), b.in(0))); }
void lower_rsqrt(Builder& b) {
  b.out(0, b.node("Reciprocal", 13, {b.node("Sqrt", 13, {b.in(0)})}));
}
void lower_expm1(Builder& b) {
  // tanh(x / 2) * (exp(x) + 1): nothing cancels where x is small.
  const ValueId x = b.in(0), e = b.node("Exp", 13, {x});
  const ValueId half = b.node("Tanh", 13, {mul(b, x, number(b, x, 0.5))});
  b.out(0, mul(b, half, add(b, e, number(b, e, 1))));
}
void lower_log1p(Builder& b) {
  // 2 * atanh(x / (2 + x)) where 1 + x would lose the end of x.
  const ValueId x = b.in(0);
  const ValueId ratio = div(b, x, add(b, x, number(b, x, 2)));
  const ValueId small = mul(b, b.node("Atanh", 9, {ratio}), number(b, x, 2));
  const ValueId large = b.node("Log", 13, {add(b, x, number(b, x, 1))});
  const ValueId is_small = b.node("Less", 13, {b.node("Abs", 13, {x}), number(b, x, 0.5)});
  b.out(0, b.node("Where", 9, {is_small, small, large}));
}
void lower_erfc(Builder& b) {
  // 1 - erf(x) has no digits left where erf is near 1. There: t * exp(p(t) - x * x) with
  // t = 1 / (1 + x / 2) and Chebyshev's p, within 1.2e-7 of the value for all x >= 0.
  constexpr double kTerms[] = {0.17087277,  -0.82215223, 1.48851587, -1.13520398, 0.27886807,
                               -0.18628806, 0.09678418,  0.37409196, 1.00002368,  -1.26551223};
  const ValueId x = b.in(0), one = number(b, x, 1);
  const ValueId t = div(b, one, add(b, one, mul(b, x, number(b, x, 0.5))));
  ValueId sum = number(b, x, kTerms[0]);
  for (size_t i = 1; i < std::size(kTerms); ++i) {
    sum = add(b, mul(b, sum, t), number(b, x, kTerms[i]));
  }
  const ValueId tail = mul(b, t, b.node("Exp", 13, {sub(b, sum, mul(b, x, x))}));
  const ValueId near = sub(b, one, b.node("Erf", 13, {x}));
  const ValueId is_far = b.node("Greater", 13, {x, number(b, x, 0.5)});
  b.out(0, b.node("Where", 9, {is_far, tail, near}));
}

// base ** (x * scale + shift); a base of -1 is e.
void lower_exp(Builder& b) {
  const float base = b.f("base", -1), scale = b.f("scale", 1), shift = b.f("shift", 0);
  ValueId x = scaled(b, b.in(0), scale, shift);
  if (base > 0) x = mul(b, x, number(b, x, std::log(base)));
  b.out(0, b.node("Exp", 13, {x}));
}

void lower_log(Builder& b) {
  const float base = b.f("base", -1), scale = b.f("scale", 1), shift = b.f("shift", 0);
  ValueId x = b.node("Log", 13, {scaled(b, b.in(0), scale, shift)});
  if (base > 0) x = mul(b, x, number(b, x, 1 / std::log(base)));
  b.out(0, x);
}

// (x * scale + shift) ** power
void lower_power(Builder& b) {
  const float power = b.f("power", 1), scale = b.f("scale", 1), shift = b.f("shift", 0);
  ValueId x = scaled(b, b.in(0), scale, shift);
  if (power != 1) x = b.node("Pow", 13, {x, number(b, x, power)});
  b.out(0, x);
}

void lower_fast_gelu(Builder& b) {
  const ValueId x = b.in(0);
  b.out(0, mul(b, x, b.node("Sigmoid", 13, {mul(b, x, number(b, x, 1.702))})));
}

void lower_gelu(Builder& b) {
  const std::string how = b.type() == "Gelu" ? "tanh" : b.s("approximate", "none");
  b.out(0, b.node("Gelu", 20, {b.in(0)}, {{"approximate", how}}));
}

void lower_swish(Builder& b) {
  const ValueId x = b.in(0);
  const float scale = b.f("scale", 1);
  b.out(0, mul(b, x, b.node("Sigmoid", 13, {scaled(b, x, scale, 0)})));
}

void lower_relu6(Builder& b) {
  const ValueId x = b.in(0);
  b.out(0, b.node("Clip", 13, {x, number(b, x, 0), number(b, x, 6)}));
}

void lower_leaky_relu(Builder& b) {
  b.out(0, b.node("LeakyRelu", 6, {b.in(0)}, {{"alpha", b.f("negative_slope", 0)}}));
}

void lower_elu(Builder& b) {
  const float alpha = b.f("alpha", 1), scale = b.f("scale", 1), input_scale = b.f("input_scale", 1);
  if (input_scale != 1) {
    b.refuse(Code::unsupported_feature, "input_scale is {}, expected 1", input_scale);
    return;
  }
  b.out(0, scaled(b, b.node("Elu", 6, {b.in(0)}, {{"alpha", alpha}}), scale, 0));
}

void lower_celu(Builder& b) {
  const float alpha = b.f(b.type() == "CeluV2" ? "alpha" : "alpha1", 1);
  b.out(0, b.node("Celu", 12, {b.in(0)}, {{"alpha", alpha}}));
}

void lower_hard_sigmoid(Builder& b) {
  const float alpha = b.f("alpha", 0.16666666f), beta = b.f("beta", 0.5f);
  b.out(0, b.node("HardSigmoid", 6, {b.in(0)}, {{"alpha", alpha}, {"beta", beta}}));
}

void lower_shrink(Builder& b) {
  const float lambd = b.f("lambd", 0.5f);
  const float bias = b.type() == "SoftShrink" ? lambd : b.f("bias", 0);
  b.out(0, b.node("Shrink", 9, {b.in(0)}, {{"lambd", lambd}, {"bias", bias}}));
}

// x where it is above the threshold, else the value.
void lower_threshold(Builder& b) {
  const ValueId x = b.in(0);
  const ValueId threshold = b.has(1) ? b.in(1) : number(b, x, b.f("threshold", 0));
  if (b.type() == "Threshold") {  // 1 above it, 0 elsewhere
    b.out(0, b.cast(b.node("Greater", 13, {x, threshold}), b.dtype(x)));
    return;
  }
  const ValueId value = b.has(2) ? b.in(2) : number(b, x, 0);
  b.out(0, b.node("Where", 9, {b.node("Greater", 13, {x, threshold}), x, value}));
}

void lower_clip(Builder& b) {
  const ValueId x = b.in(0);
  if (b.type() == "ClipByValue" || b.type() == "ClipByValueV2") {
    // The bounds may be tensors of the input's shape.
    const ValueId low = b.node("Max", 13, {x, b.in(1)});
    b.out(0, b.node("Min", 13, {low, b.in(2)}));
    return;
  }
  b.out(0, b.node("Clip", 13,
                  {x, number(b, x, b.f("min", -3.4e38f)), number(b, x, b.f("max", 3.4e38f))}));
}

void lower_ones_like(Builder& b) {
  const ValueId x = b.in(0);
  b.out(0, b.node("Expand", 13, {number(b, x, 1), shape_of(b, x)}));
}
void lower_zeros_like(Builder& b) {
  const ValueId x = b.in(0);
  b.out(0, b.node("Expand", 13, {number(b, x, 0), shape_of(b, x)}));
}

void lower_is_finite(Builder& b) {
  const ValueId bad =
      b.node("Or", 7, {b.node("IsNaN", 13, {b.in(0)}), b.node("IsInf", 20, {b.in(0)})});
  b.out(0, b.node("Not", 1, {bad}));
}

void lower_cast(Builder& b) {
  DType to = b.dtype_attr("dst_type", DType::undefined);
  if (to == DType::undefined) to = b.op().outputs[0].dtype;
  if (to == DType::undefined)
    return b.refuse(Code::invalid_argument, "attribute 'dst_type' (int) is missing");
  b.out(0, b.dtype(b.in(0)) == to ? b.node("Identity", 13, {b.in(0)}) : b.cast(b.in(0), to));
}

// Ours takes any number of tensors.
void lower_of_two(Builder& b) {
  b.out(0, b.node(b.type() == "Maximum" ? "Max" : "Min", 13, {b.in(0), b.in(1)}));
}

void lower_not_equal(Builder& b) {
  b.out(0, b.node("Not", 1, {b.node("Equal", 13, {b.in(0), b.in(1)})}));
}

void lower_floor_div(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1);
  if (!b.ok()) return;
  if (is_floating(b.dtype(x))) return b.out(0, b.node("Floor", 13, {div(b, x, y)}));
  // Division of whole numbers cuts towards 0: one too many where the remainders with the signs of
  // divisor and dividend differ.
  const ValueId cut = b.node("Mod", 13, {x, y}, {{"fmod", int64_t{1}}});
  const ValueId same = b.node("Equal", 13, {b.node("Mod", 13, {x, y}), cut});
  b.out(0, sub(b, div(b, x, y), b.cast(b.node("Not", 1, {same}), b.dtype(x))));
}

void lower_truncate_div(Builder& b) {
  const ValueId x = b.in(0), q = div(b, x, b.in(1));
  if (!b.ok()) return;
  if (!is_floating(b.dtype(x))) return b.out(0, q);
  const ValueId size = b.node("Floor", 13, {b.node("Abs", 13, {q})});
  b.out(0, mul(b, size, b.node("Sign", 13, {q})));
}

void lower_floor_mod(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1);
  if (!b.ok()) return;
  if (!is_floating(b.dtype(x))) return b.out(0, b.node("Mod", 13, {x, y}));
  b.out(0, sub(b, x, mul(b, b.node("Floor", 13, {div(b, x, y)}), y)));
}

void lower_truncate_mod(Builder& b) {
  b.out(0, b.node("Mod", 13, {b.in(0), b.in(1)}, {{"fmod", int64_t{1}}}));
}

void lower_div_no_nan(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1), zero = number(b, y, 0);
  const ValueId by_zero = b.node("Equal", 13, {y, zero});
  const ValueId safe = b.node("Where", 9, {by_zero, number(b, y, 1), y});
  b.out(0, b.node("Where", 9, {by_zero, zero, div(b, x, safe)}));
}

void lower_squared_difference(Builder& b) {
  const ValueId d = sub(b, b.in(0), b.in(1));
  b.out(0, mul(b, d, d));
}

void lower_add_n(Builder& b) {
  b.counts("N", static_cast<int64_t>(b.input_count()), "tensors are described");
  ValueId sum = b.in(0);
  for (size_t i = 1; i < b.input_count(); ++i) sum = add(b, sum, b.in(i));
  b.out(0, sum);
}
void lower_adds(Builder& b) {
  const ValueId x = b.in(0);
  b.out(0, add(b, x, number(b, x, b.f("value"))));
}
void lower_muls(Builder& b) {
  const ValueId x = b.in(0);
  b.out(0, mul(b, x, number(b, x, b.f("value"))));
}
void lower_axpy(Builder& b) {
  const ValueId y = b.in(1);
  b.out(0, add(b, b.in(0), mul(b, y, number(b, y, b.f("alpha")))));
}
void lower_axpy_v2(Builder& b) { b.out(0, add(b, b.in(0), mul(b, b.in(1), b.in(2)))); }
void lower_lerp(Builder& b) {
  b.out(0, add(b, b.in(0), mul(b, b.in(2), sub(b, b.in(1), b.in(0)))));
}
void lower_addcmul(Builder& b) {
  b.out(0, add(b, b.in(0), mul(b, factor_of(b, 3), mul(b, b.in(1), b.in(2)))));
}
void lower_addcdiv(Builder& b) {
  b.out(0, add(b, b.in(0), mul(b, factor_of(b, 3), div(b, b.in(1), b.in(2)))));
}

// The bias goes along the channels, which NHWC has last.
void lower_bias_add(Builder& b) {
  const ValueId x = b.in(0), bias = b.in(1);
  if (!b.ok()) return;
  const Format format = b.op().inputs[0].format;
  const std::string order = b.word("data_format", format == Format::nchw ? "NCHW" : "NHWC",
                                   {"NCHW", "NHWC", "NCDHW", "NDHWC", "ND"});
  const bool last = !order.starts_with("NC");
  if (last || b.rank(x) < 2) return b.out(0, add(b, x, bias));
  Shape shape(static_cast<size_t>(b.rank(x)), 1);
  shape[1] = -1;
  b.out(0, add(b, x, b.reshape(bias, shape)));
}

// y = x * scale (+ bias) from `axis` on, as Caffe has it.
void lower_scale(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t axis = b.axis(b.i("axis", 1), x);
  const auto along = [&](ValueId v) {
    if (!b.ok() || b.rank(v) == 0) return v;
    Shape shape = b.shape(v);
    while (b.rank(x) > axis + static_cast<int64_t>(shape.size())) shape.push_back(1);
    return b.reshape(v, shape);
  };
  if (b.type() == "Bias") return b.out(0, add(b, x, along(b.in(1))));
  ValueId y = mul(b, x, along(b.in(1)));
  if (b.has(2)) y = add(b, y, along(b.in(2)));
  b.out(0, y);
}

void lower_prelu(Builder& b) {
  const ValueId x = b.in(0);
  ValueId slope = b.in(1);
  if (b.ok() && b.rank(slope) == 1 && b.rank(x) > 1) {
    Shape shape(static_cast<size_t>(b.rank(x)) - 1, 1);
    shape[0] = -1;
    slope = b.reshape(slope, shape);
  }
  b.out(0, b.node("PRelu", 9, {x, slope}));
}

// round(x * scale + offset) as int8.
void lower_quant(Builder& b) {
  const ValueId x = b.cast(b.in(0), DType::f32);
  float scale = b.f("scale");
  if (b.flag("sqrt_mode", false)) scale *= scale;
  const ValueId y = b.node("Round", 11, {scaled(b, x, scale, b.f("offset"))});
  b.out(0, b.cast(b.node("Clip", 13, {y, number(b, y, -128), number(b, y, 127)}), DType::i8));
}

}  // namespace anynpu::singleop
