// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "import/caffe/layers.h"

namespace anynpu::caffe {

namespace {

Status unary(Builder& b, std::string_view op) {
  ANYNPU_TRY(b.expect(1, 1));
  return b.set_top(0, b.add(op, {b.bottom(0)}));
}

// shift + scale * x, without nodes that change nothing.
Result<ValueId> affine(Builder& b, ValueId x, float scale, float shift) {
  if (scale != 1.0f) {
    ANYNPU_ASSIGN(x, b.add("Mul", {x, b.scalar(scale)}));
  }
  if (shift != 0.0f) {
    ANYNPU_ASSIGN(x, b.add("Add", {x, b.scalar(shift)}));
  }
  return x;
}

// The natural logarithm of `base`; base -1 means e.
Result<float> log_of_base(float base) {
  if (base == -1.0f) return 1.0f;
  if (base > 0.0f) return std::log(base);
  return fail(Code::invalid_argument, "base is {}; expected -1 (for e) or a number over 0", base);
}

}  // namespace

Status relu(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "relu_param");
  const float slope = params.real("negative_slope", 0.0f);
  ANYNPU_TRY(params.status());
  if (slope == 0.0f) return b.set_top(0, b.add("Relu", {b.bottom(0)}));
  return b.set_top(0, b.add("LeakyRelu", {b.bottom(0)}, {{"alpha", slope}}));
}

Status relu6(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  return b.set_top(0, b.add("Clip", {b.bottom(0), b.scalar(0.0f), b.scalar(6.0f)}));
}

Status prelu(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "prelu_param");
  const bool shared = params.flag("channel_shared", false);
  ANYNPU_TRY(params.status());
  const ValueId x = b.bottom(0);
  ANYNPU_ASSIGN(const int64_t channels, b.extent(x, 1));
  Shape shape(static_cast<size_t>(b.rank(x) - 1), 1);
  shape[0] = shared ? 1 : channels;
  ANYNPU_ASSIGN(const ValueId slope, b.weight(0, shape));
  return b.set_top(0, b.add("PRelu", {x, slope}));
}

Status elu(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "elu_param");
  const float alpha = params.real("alpha", 1.0f);
  ANYNPU_TRY(params.status());
  return b.set_top(0, b.add("Elu", {b.bottom(0)}, {{"alpha", alpha}}));
}

Status sigmoid(Builder& b) { return unary(b, "Sigmoid"); }
Status tanh_layer(Builder& b) { return unary(b, "Tanh"); }
Status abs_val(Builder& b) { return unary(b, "Abs"); }
Status bnll(Builder& b) { return unary(b, "Softplus"); }

Status exp_layer(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "exp_param");
  ANYNPU_ASSIGN(const float log_base, log_of_base(params.real("base", -1.0f)));
  const float scale = params.real("scale", 1.0f) * log_base;
  const float shift = params.real("shift", 0.0f) * log_base;
  ANYNPU_TRY(params.status());
  ANYNPU_ASSIGN(const ValueId inner, affine(b, b.bottom(0), scale, shift));
  return b.set_top(0, b.add("Exp", {inner}));
}

Status log_layer(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "log_param");
  ANYNPU_ASSIGN(const float log_base, log_of_base(params.real("base", -1.0f)));
  const float scale = params.real("scale", 1.0f);
  const float shift = params.real("shift", 0.0f);
  ANYNPU_TRY(params.status());
  if (log_base == 0.0f)
    return fail(Code::invalid_argument,
                "base is 1; expected another number, since 1 has no logarithm");
  ANYNPU_ASSIGN(const ValueId inner, affine(b, b.bottom(0), scale, shift));
  ANYNPU_ASSIGN(const ValueId natural, b.add("Log", {inner}));
  return b.set_top(0, affine(b, natural, 1.0f / log_base, 0.0f));
}

Status power(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "power_param");
  const float exponent = params.real("power", 1.0f);
  const float scale = params.real("scale", 1.0f);
  const float shift = params.real("shift", 0.0f);
  ANYNPU_TRY(params.status());
  ANYNPU_ASSIGN(const ValueId x, affine(b, b.bottom(0), scale, shift));
  if (exponent == 1.0f) return b.set_top(0, x);
  if (exponent == 2.0f) return b.set_top(0, b.add("Mul", {x, x}));
  if (exponent == 0.5f) return b.set_top(0, b.add("Sqrt", {x}));
  if (exponent == -1.0f) return b.set_top(0, b.add("Reciprocal", {x}));
  return b.set_top(0, b.add("Pow", {x, b.scalar(exponent)}));
}

Status threshold(Builder& b) {
  ANYNPU_TRY(b.expect(1, 1));
  Params params(b.layer(), "threshold_param");
  const float limit = params.real("threshold", 0.0f);
  ANYNPU_TRY(params.status());
  ANYNPU_ASSIGN(const ValueId over, b.add("Greater", {b.bottom(0), b.scalar(limit)}));
  return b.set_top(0, b.add("Cast", {over}, {{"to", int64_t{1}}}));
}

Status pass(Builder& b) {
  ANYNPU_TRY(b.expect_at_least(1, 1));
  for (size_t i = 0; i < b.layer().tops.size(); ++i) ANYNPU_TRY(b.set_top(i, b.bottom(0)));
  return {};
}

}  // namespace anynpu::caffe
