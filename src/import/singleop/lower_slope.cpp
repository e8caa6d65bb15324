// SPDX-License-Identifier: Apache-2.0
// Gradients of functions of one element and of normalisations.
#include <cmath>
#include <numbers>
#include <numeric>

#include "import/singleop/lower.h"
#include "import/singleop/table.h"

namespace anynpu::singleop {

namespace {

ValueId sigmoid(Builder& b, ValueId x) { return b.node("Sigmoid", 13, {x}); }

// x where the condition holds, else 0.
ValueId where(Builder& b, ValueId condition, ValueId x) {
  return b.node("Where", 16, {condition, x, number(b, x, 0)});
}

// The slope of x * sigmoid(factor * x).
ValueId swish_slope(Builder& b, ValueId x, double factor) {
  const ValueId scaled = mul(b, x, number(b, x, factor)), s = sigmoid(b, scaled);
  return add(b, s, mul(b, scaled, mul(b, s, sub(b, number(b, x, 1), s))));
}

// All axes but that of the channels.
std::vector<int64_t> around_channels(Builder& b, ValueId x) {
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < b.rank(x); ++axis) {
    if (axis != 1) axes.push_back(axis);
  }
  return axes;
}

// Numbers of channels, spread over x.
ValueId over(Builder& b, size_t index, ValueId x) {
  if (!b.has_rank(x, "x", 2)) return kNoValue;
  Shape shape(static_cast<size_t>(b.rank(x)), 1);
  shape[1] = b.shape(x)[1];
  return b.reshape(b.cast(b.in(index), b.dtype(x)), shape);
}

double count_around_channels(Builder& b, ValueId x) {
  return b.ok()
             ? static_cast<double>(element_count(b.shape(x))) / static_cast<double>(b.shape(x)[1])
             : 1;
}

ValueId inverse_root(Builder& b, ValueId variance, float epsilon) {
  return b.node("Reciprocal", 13,
                {b.node("Sqrt", 13, {add(b, variance, number(b, variance, epsilon))})});
}

}  // namespace

// The gradient and the argument or the result, as the function of the same name takes them.
void lower_slope(Builder& b) {
  const std::string name = "anynpu." + std::string(find_vendor_op(b.type())->becomes);
  b.out(0, b.node(name.c_str(), 1, {b.in(0), b.in(1)}));
}

// (gradient, x[, y])
void lower_gelu_slope(Builder& b) {
  const ValueId dy = b.in(0), x = b.in(1);
  if (b.has(2)) b.leave(2);
  if (!b.ok()) return;
  if (b.type() == "FastGeluGrad") return b.out(0, mul(b, dy, swish_slope(b, x, 1.702)));
  if (b.type() == "SiluGrad") return b.out(0, mul(b, dy, swish_slope(b, x, 1)));
  const double factor = std::sqrt(2 / std::numbers::pi);
  const ValueId square = mul(b, x, x), one = number(b, x, 1), half = number(b, x, 0.5);
  const ValueId inner =
      mul(b, mul(b, x, number(b, x, factor)), add(b, one, mul(b, square, number(b, x, 0.044715))));
  const ValueId t = b.node("Tanh", 13, {inner});
  const ValueId rise = mul(b, add(b, one, mul(b, square, number(b, x, 0.134145))),
                           mul(b, sub(b, one, mul(b, t, t)), number(b, x, factor)));
  b.out(0, mul(b, dy, mul(b, half, add(b, add(b, one, t), mul(b, x, rise)))));
}

// (x or y, gradient) of arcus and area functions.
void lower_arc_slope(Builder& b) {
  const ValueId x = b.in(0), dy = b.in(1);
  if (!b.ok()) return;
  const ValueId one = number(b, x, 1), square = mul(b, x, x);
  const std::string& type = b.type();
  if (type == "AbsGrad") return b.out(0, mul(b, dy, b.node("Sign", 13, {x})));
  if (type == "AtanGrad") return b.out(0, div(b, dy, add(b, one, square)));
  if (type == "AsinhGrad") return b.out(0, div(b, dy, b.node("Cosh", 9, {x})));
  if (type == "AcoshGrad") return b.out(0, div(b, dy, b.node("Sinh", 9, {x})));
  const ValueId slope = div(b, dy, b.node("Sqrt", 13, {sub(b, one, square)}));
  b.out(0, type == "AcosGrad" ? b.node("Neg", 13, {slope}) : slope);
}

// (gradient, x) of functions that are flat somewhere.
void lower_shrink_slope(Builder& b) {
  const ValueId dy = b.in(0), x = b.in(1);
  if (!b.ok()) return;
  const std::string& type = b.type();
  if (type.ends_with("ShrinkGrad")) {
    const ValueId bound = number(b, x, b.f("lambd", 0.5f));
    return b.out(0, where(b, b.node("Greater", 13, {b.node("Abs", 13, {x}), bound}), dy));
  }
  if (type == "HardSigmoidGrad") {
    const double alpha = b.f("alpha", 1.0f / 6), beta = b.f("beta", 0.5f);
    const ValueId y = add(b, mul(b, x, number(b, x, alpha)), number(b, x, beta));
    const ValueId inside = b.node(
        "And", 7,
        {b.node("Greater", 13, {y, number(b, x, 0)}), b.node("Less", 13, {y, number(b, x, 1)})});
    return b.out(0, where(b, inside, mul(b, dy, number(b, x, alpha))));
  }
  // HardSwish: 0 below -3, 1 from 3 on, x / 3 + 1 / 2 between.
  const ValueId line = add(b, div(b, x, number(b, x, 3)), number(b, x, 0.5));
  const ValueId high = b.node("Greater", 13, {x, number(b, x, 3)});
  const ValueId slope = b.node("Where", 16, {high, number(b, x, 1), line});
  b.out(0, where(b, b.node("Greater", 13, {x, number(b, x, -3)}), mul(b, dy, slope)));
}

// (softmax, gradient), or (gradient, log softmax).
void lower_softmax_slope(Builder& b) {
  const bool log = b.type() == "LogSoftmaxGrad";
  const ValueId first = b.in(0), second = b.in(1);
  if (!b.ok()) return;
  const auto axes = b.axes(b.ints(log ? "axis" : "axes", {-1}), first);
  if (log) {
    return b.out(0, sub(b, first, mul(b, b.node("Exp", 13, {second}), sum(b, first, axes, true))));
  }
  b.out(0, mul(b, sub(b, second, sum(b, mul(b, first, second), axes, true)), first));
}

// The gradient of a bias: all that went to its channel.
void lower_bias_gradient(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "x", 2)) return;
  const bool last = b.s("data_format", "NHWC") == "NHWC" && b.rank(x) != 2;
  const int64_t channels = last ? b.rank(x) - 1 : 1;
  std::vector<int64_t> axes;
  for (int64_t axis = 0; axis < b.rank(x); ++axis) {
    if (axis != channels) axes.push_back(axis);
  }
  b.out(0, sum(b, x, axes, false));
}

// --- batch normalisation in two halves: sums, then results

void lower_bn_sums(Builder& b) {
  const ValueId x = widened(b, b.in_nchw(0));
  if (!b.has_rank(x, "x", 2)) return;
  const auto axes = around_channels(b, x);
  const bool keep = b.output_count() > 0 && b.op().outputs[0].shape.size() > 1;
  b.out(0, sum(b, x, axes, keep));
  b.out(1, sum(b, mul(b, x, x), axes, keep));
}

// x, sum, sum of squares, scale, offset, mean, variance -> y, moved mean and variance, those of the
// batch.
void lower_bn_update(Builder& b) {
  const ValueId given = b.in_nchw(0), x = widened(b, given);
  const float factor = b.f("factor"), epsilon = b.f("epsilon");
  const double count = count_around_channels(b, x);
  const ValueId mean = mul(b, over(b, 1, x), number(b, x, 1 / count));
  const ValueId variance =
      sub(b, mul(b, over(b, 2, x), number(b, x, 1 / count)), mul(b, mean, mean));
  const ValueId normal = mul(b, sub(b, x, mean), inverse_root(b, variance, epsilon));
  b.out_nchw(0, b.cast(add(b, mul(b, normal, over(b, 3, x)), over(b, 4, x)), b.dtype(given)));
  const auto moved = [&](size_t index, ValueId fresh, double scale) {
    return add(b, mul(b, over(b, index, x), number(b, x, 1 - factor)),
               mul(b, fresh, number(b, x, factor * scale)));
  };
  b.out(1, moved(5, mean, 1));
  b.out(2, moved(6, variance, count > 1 ? count / (count - 1) : 1));
  b.out(3, mean);
  b.out(4, variance);
}

// gradient, x, mean and variance of the batch -> gradients of scale and offset.
void lower_bn_update_gradient(Builder& b) {
  const ValueId dy = widened(b, b.in_nchw(0)), x = widened(b, b.in_nchw(1));
  if (!b.has_rank(x, "x", 2)) return;
  const auto axes = around_channels(b, x);
  const bool keep = b.op().outputs[0].shape.size() > 1;
  const ValueId normal =
      mul(b, sub(b, x, over(b, 2, x)), inverse_root(b, over(b, 3, x), b.f("epsilon", 1e-4f)));
  b.out(0, sum(b, mul(b, dy, normal), axes, keep));
  b.out(1, sum(b, dy, axes, keep));
}

// gradient, x, gradients of scale and offset, scale, mean and variance of the batch -> gradient of
// x.
void lower_bn_reduce_gradient(Builder& b) {
  const ValueId given = b.in_nchw(0), dy = widened(b, given), x = widened(b, b.in_nchw(1));
  const double count = count_around_channels(b, x);
  const ValueId inverse = inverse_root(b, over(b, 6, x), b.f("epsilon", 1e-4f));
  const ValueId normal = mul(b, sub(b, x, over(b, 5, x)), inverse);
  const ValueId share = number(b, x, 1 / count);
  const ValueId inner = sub(b, sub(b, dy, mul(b, over(b, 3, x), share)),
                            mul(b, normal, mul(b, over(b, 2, x), share)));
  b.out_nchw(0, b.cast(mul(b, inner, mul(b, over(b, 4, x), inverse)), b.dtype(given)));
}

// gradient, scale, variance.
void lower_bn_infer_gradient(Builder& b) {
  const ValueId given = b.in_nchw(0), dy = widened(b, given);
  const ValueId inverse = inverse_root(b, over(b, 2, dy), b.f("epsilon", 1e-4f));
  b.out_nchw(0, b.cast(mul(b, dy, mul(b, over(b, 1, dy), inverse)), b.dtype(given)));
}

// gradient, x, variance, mean, gamma -> gradients of x, gamma and beta.
void lower_layer_norm_gradient(Builder& b) {
  const ValueId given = b.in(0), dy = widened(b, given), x = widened(b, b.in(1)),
                gamma = widened(b, b.in(4));
  if (!b.ok()) return;
  const int64_t inner = b.rank(gamma), first = b.rank(x) - inner;
  if (first < 0)
    return b.refuse(Code::unsupported_shape, "gamma has {} axes, x {}", inner, b.rank(x));
  std::vector<int64_t> rows(static_cast<size_t>(inner)), leading(static_cast<size_t>(first));
  std::iota(rows.begin(), rows.end(), first);
  std::iota(leading.begin(), leading.end(), 0);
  Shape kept = b.shape(x);
  double count = 1;
  for (const int64_t axis : rows) {
    count *= static_cast<double>(kept[static_cast<size_t>(axis)]);
    kept[static_cast<size_t>(axis)] = 1;
  }
  const ValueId mean = b.reshape(widened(b, b.in(3)), kept);
  const ValueId second = b.reshape(widened(b, b.in(2)), kept);
  const ValueId inverse =
      b.type() == "LayerNormGrad" ? inverse_root(b, second, b.f("epsilon", 1e-7f)) : second;
  const ValueId normal = mul(b, sub(b, x, mean), inverse), passed = mul(b, dy, gamma);
  const ValueId share = number(b, x, 1 / count);
  const ValueId part = mul(b, sum(b, passed, rows, true), share);
  const ValueId other = mul(b, normal, mul(b, sum(b, mul(b, passed, normal), rows, true), share));
  const DType type = b.ok() ? b.dtype(given) : DType::f32;
  b.out(0, b.cast(mul(b, sub(b, sub(b, passed, part), other), inverse), type), Builder::Type::any);
  b.out(1, sum(b, mul(b, dy, normal), leading, false), Builder::Type::any);
  b.out(2, sum(b, dy, leading, false), Builder::Type::any);
}

// gradient, x1, x2: to the one that was chosen, added up where it was repeated.
void lower_choice_gradient(Builder& b) {
  const ValueId dy = b.in(0), first = b.in(1), second = b.in(2);
  const bool larger = b.type() == "MaximumGrad";
  const ValueId chosen = b.node(larger ? "GreaterOrEqual" : "LessOrEqual", 16, {first, second});
  const ValueId none = number(b, dy, 0);
  const auto fold = [&](ValueId grad, ValueId like) {
    if (!b.ok()) return grad;
    const Shape& wide = b.shape(grad);
    const Shape& shape = b.shape(like);
    std::vector<int64_t> axes;
    for (size_t d = 0; d < wide.size(); ++d) {
      const size_t lead = wide.size() - shape.size();
      if (d < lead || (shape[d - lead] == 1 && wide[d] != 1))
        axes.push_back(static_cast<int64_t>(d));
    }
    const Shape target = shape;
    return axes.empty() ? grad : b.reshape(sum(b, grad, axes, false), target);
  };
  b.out(0, fold(b.node("Where", 16, {chosen, dy, none}), first));
  b.out(1, fold(b.node("Where", 16, {chosen, none, dy}), second));
}

}  // namespace anynpu::singleop
