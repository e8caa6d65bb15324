// SPDX-License-Identifier: Apache-2.0
// Activations of networks and their gradients, element by element. Gradients of 16-bit tensors are
// computed in float32 and rounded once.
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// --- forward

void plain(Recipe& r) { r.out(r.result(), r.op(r.row().op, {r.in(0)})); }

// torch_npu calls aclnnGelu for both approximations; exact is what torch's default means.
void gelu(Recipe& r) { r.out(r.result(), r.op("Gelu", {r.in(0)}, {{"approximate", "none"}})); }
void gelu_v2(Recipe& r) {
  const bool tanh = r.integer("approximate") != 0;
  r.out("y", r.op("Gelu", {r.in("x")}, {{"approximate", tanh ? "tanh" : "none"}}));
}

void silu(Recipe& r) { r.out(r.result(), r.op("Swish", {r.in(0)})); }

void leaky_relu(Recipe& r) {
  const Value x = r.cast(r.in(0), computed_in(r.dtype(0)));
  const DType type = r.dtype(x);
  const Value scaled = r.op("Mul", {x, r.number("negativeSlope", type)});
  r.out(r.result(), r.op("Where", {r.op("Greater", {x, r.constant(type, 0)}), x, scaled}));
}

void hard_sigmoid(Recipe& r) {
  r.out(r.result(), r.op("HardSigmoid", {r.in(0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
}

void threshold(Recipe& r) {
  const DType type = r.dtype(0);
  const Value x = r.in(0);
  r.out(r.result(), r.op("Where", {r.op("Greater", {x, r.number("threshold", type)}), x,
                                   r.number("value", type)}));
}

// scale * (x or, below 0, alpha * (exp(inputScale * x) - 1)).
void elu(Recipe& r) {
  const DType type = computed_in(r.dtype(0));
  const Value x = r.cast(r.in(0), type), zero = r.constant(type, 0);
  const auto number = [&](const char* name) {
    return r.has_parameter(name) && r.given(name) ? r.number(name, type) : r.constant(type, 1);
  };
  const Value below = r.op("Expm1", {r.op("Mul", {x, number("inputScale")})});
  const Value y =
      r.op("Where", {r.op("Greater", {x, zero}), x, r.op("Mul", {number("alpha"), below})});
  r.out(r.result(), r.op("Mul", {y, number("scale")}));
}

// x or, below 0, alpha * (exp(x / alpha) - 1).
void celu(Recipe& r) {
  const DType type = computed_in(r.dtype(0));
  const Value x = r.cast(r.in(0), type), alpha = r.number("alpha", type);
  const Value below = r.op("Mul", {alpha, r.op("Expm1", {r.op("Div", {x, alpha})})});
  r.out(r.result(), r.op("Where", {r.op("Greater", {x, r.constant(type, 0)}), x, below}));
}

// log(1 + exp(beta x)) / beta, a line beyond the threshold.
void softplus(Recipe& r) {
  const DType type = computed_in(r.dtype(0));
  const Value x = r.cast(r.in(0), type), beta = r.number("beta", type);
  const Value scaled = r.op("Mul", {x, beta});
  const Value line = r.op("Greater", {scaled, r.number("threshold", type)});
  r.out(r.result(), r.op("Where", {line, x, r.op("Div", {r.op("Softplus", {scaled}), beta})}));
}

// number 1: what is outside stays as it is, else it moves towards 0.
void shrink(Recipe& r) {
  const DType type = computed_in(r.dtype(0));
  const Value x = r.cast(r.in(0), type), bound = r.number(1, type), zero = r.constant(type, 0);
  const bool hard = r.row().number != 0;
  const Value above = r.op("Greater", {x, bound}), below = r.op("Less", {x, r.op("Neg", {bound})});
  const Value up = hard ? x : r.op("Sub", {x, bound}), down = hard ? x : r.op("Add", {x, bound});
  Value y = r.op("Where", {above, up, r.op("Where", {below, down, zero})});
  r.out(r.result(), r.op("Where", {r.op("IsNaN", {x}), x, y}));
}

// -log(1 + exp(-x)).
void log_sigmoid(Recipe& r) {
  const DType type = computed_in(r.dtype(0));
  const Value x = r.cast(r.in(0), type);
  r.out("out", r.op("Neg", {r.op("Softplus", {r.op("Neg", {x})})}));
  if (r.has_parameter("buffer") && r.given("buffer") && r.tensor("buffer").count() > 0) {
    r.out("buffer", r.op("Exp", {r.op("Neg", {r.op("Abs", {x})})}));
  }
}

// log(x / (1 - x)), of numbers kept eps away from 0 and 1.
void logit(Recipe& r) {
  const DType type = computed_in(floating(r.dtype(0)));
  Value x = r.cast(r.in(0), type);
  const Value one = r.constant(type, 1);
  if (r.real("eps") >= 0) {
    const Value eps = r.number("eps", type);
    const Value high = r.op("Sub", {one, eps});
    const Value cut = r.op("Where", {r.op("Greater", {x, high}), high, x});
    x = r.op("Where", {r.op("Less", {x, eps}), eps, cut});
  }
  r.out(r.result(), r.op("Log", {r.op("Div", {x, r.op("Sub", {one, x})})}));
}

// x where it is above 0, else weight * x; a weight for each channel.
Value channel_weight(Recipe& r, DType type) {
  const Value weight = r.cast(r.in("weight"), type);
  Shape shape(r.rank("self"), 1);
  if (r.tensor("weight").count() == 1) return r.reshape(weight, shape);
  if (shape.size() < 2)
    refuse("weight has {} elements for a tensor without channels", r.tensor("weight").count());
  shape[1] = r.tensor("weight").count();
  return r.reshape(weight, shape);
}
void prelu(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Value x = r.cast(r.in("self"), type);
  const Value below = r.op("Mul", {x, channel_weight(r, type)});
  r.out("out", r.op("Where", {r.op("Greater", {x, r.constant(type, 0)}), x, below}));
}

// First half times the sigmoid of the second.
void glu(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Value x = r.cast(r.in("self"), type);
  const int64_t axis = r.axis("dim", r.rank("self")), half = r.extent(x, axis) / 2;
  const Value a = r.slice(x, axis, 0, half), b = r.slice(x, axis, half, 2 * half);
  r.out("out", r.op("Mul", {a, r.op("Sigmoid", {b})}));
}

// --- backward

struct Backward {
  DType type;  // computed in
  Value grad, other;
};

// The gradient of the output, and the input or the output of the forward operator.
Backward backward(Recipe& r, Param other) {
  const DType type = computed_in(promote(r.dtype(0), r.dtype(other)));
  return {type, r.cast(r.in(0), type), r.cast(r.in(other), type)};
}

// grad where self > threshold, else 0.
void threshold_backward(Recipe& r) {
  const DType type = promote(r.dtype("gradOutput"), r.dtype("self"));
  const Value self = r.cast(r.in("self"), type), grad = r.cast(r.in("gradOutput"), type);
  r.out("out", r.op("Where", {r.op("Greater", {self, r.number("threshold", type)}), grad,
                              r.constant(type, 0)}));
}

// grad * y * (1 - y).
void sigmoid_backward(Recipe& r) {
  const auto [type, grad, y] = backward(r, "output");
  const Value slope = r.op("Mul", {y, r.op("Sub", {r.constant(type, 1), y})});
  r.out("gradInput", r.op("Mul", {grad, slope}));
}

// grad * (1 - y^2).
void tanh_backward(Recipe& r) {
  const auto [type, grad, y] = backward(r, "output");
  r.out("gradInput", r.op("Mul", {grad, r.op("Sub", {r.constant(type, 1), r.op("Mul", {y, y})})}));
}

// grad * s * (1 + x * (1 - s)) with s = sigmoid(x).
void silu_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value s = r.op("Sigmoid", {x}), one = r.constant(type, 1);
  const Value inner = r.op("Add", {one, r.op("Mul", {x, r.op("Sub", {one, s})})});
  r.out("gradInput", r.op("Mul", {grad, r.op("Mul", {s, inner})}));
}

// grad * (cdf(x) + x * pdf(x)) of the normal distribution.
Value gelu_slope(Recipe& r, Value x, DType type) {
  const Value half = r.constant(type, 0.5), one = r.constant(type, 1);
  const Value root = r.constant(type, 0.70710678118654752);
  const Value cdf = r.op("Mul", {half, r.op("Add", {one, r.op("Erf", {r.op("Mul", {x, root})})})});
  const Value square = r.op("Mul", {r.op("Mul", {x, x}), r.constant(type, -0.5)});
  const Value pdf = r.op("Mul", {r.op("Exp", {square}), r.constant(type, 0.3989422804014327)});
  return r.op("Add", {cdf, r.op("Mul", {x, pdf})});
}

// The same of x / 2 * (1 + tanh(u)) with u = c * (x + 0.044715 x^3).
Value gelu_tanh_slope(Recipe& r, Value x, DType type) {
  const auto number = [&](double value) { return r.constant(type, value); };
  const double c = 0.7978845608028654;
  const Value square = r.op("Mul", {x, x});
  const Value u =
      r.op("Mul", {x, r.op("Add", {number(c), r.op("Mul", {square, number(c * 0.044715)})})});
  const Value t = r.op("Tanh", {u});
  const Value du = r.op("Add", {number(c), r.op("Mul", {square, number(3 * c * 0.044715)})});
  const Value rise = r.op("Mul", {r.op("Sub", {number(1), r.op("Mul", {t, t})}), du});
  const Value sum = r.op("Add", {r.op("Add", {number(1), t}), r.op("Mul", {x, rise})});
  return r.op("Mul", {number(0.5), sum});
}

void gelu_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  r.out("gradInput", r.op("Mul", {grad, gelu_slope(r, x, type)}));
}

void gelu_backward_v2(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const bool tanh = r.text("approximate") == "tanh";
  r.out("gradInput",
        r.op("Mul", {grad, tanh ? gelu_tanh_slope(r, x, type) : gelu_slope(r, x, type)}));
}

void leaky_relu_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  r.out("out", r.op("Where", {r.op("Greater", {x, r.constant(type, 0)}), grad,
                              r.op("Mul", {grad, r.number("negativeSlope", type)})}));
}

// grad where the input is inside (number 1) or outside of the bounds.
void bounded_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value low =
      r.has_parameter("min") ? r.number("min", type) : r.op("Neg", {r.number(2, type)});
  const Value high = r.has_parameter("max") ? r.number("max", type) : r.number(2, type);
  const Value zero = r.constant(type, 0);
  if (r.row().number == 1) {
    const Value inside = r.op("And", {r.op("Greater", {x, low}), r.op("Less", {x, high})});
    return r.out(r.result(), r.op("Where", {inside, grad, zero}));
  }
  const Value inside =
      r.op("And", {r.op("GreaterOrEqual", {x, low}), r.op("LessOrEqual", {x, high})});
  r.out(r.result(), r.op("Where", {inside, zero, grad}));
}

void hard_sigmoid_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value inside = r.op("Less", {r.op("Abs", {x}), r.constant(type, 3)});
  r.out("out", r.op("Where",
                    {inside, r.op("Mul", {grad, r.constant(type, 1.0 / 6)}), r.constant(type, 0)}));
}

void hard_swish_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value slope =
      r.op("Add", {r.op("Mul", {x, r.constant(type, 1.0 / 3)}), r.constant(type, 0.5)});
  const Value middle = r.op("Mul", {grad, slope});
  const Value low = r.op("LessOrEqual", {x, r.constant(type, -3)});
  const Value high = r.op("GreaterOrEqual", {x, r.constant(type, 3)});
  r.out("out", r.op("Where", {low, r.constant(type, 0), r.op("Where", {high, grad, middle})}));
}

// Of the input or, with isResult, of the output.
void elu_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "selfOrResult");
  const auto number = [&](const char* name) { return r.number(name, type); };
  const Value scale = number("scale"), rise = r.op("Mul", {number("inputScale"), grad});
  const Value factor = r.op("Mul", {number("alpha"), scale});
  const Value zero = r.constant(type, 0);
  const Value below = r.flag("isResult")
                          ? r.op("Mul", {rise, r.op("Add", {x, factor})})
                          : r.op("Mul", {r.op("Mul", {rise, factor}),
                                         r.op("Exp", {r.op("Mul", {x, number("inputScale")})})});
  r.out("gradInput",
        r.op("Where", {r.op("LessOrEqual", {x, zero}), below, r.op("Mul", {grad, scale})}));
}

void selu_backward(Recipe& r) {
  const auto [type, grad, y] = backward(r, "result");
  const double scale = 1.0507009873554804934193349852946, alpha = 1.6732632423543772848170429916717;
  const Value below = r.op("Mul", {grad, r.op("Add", {y, r.constant(type, scale * alpha)})});
  r.out("gradInput", r.op("Where", {r.op("LessOrEqual", {y, r.constant(type, 0)}), below,
                                    r.op("Mul", {grad, r.constant(type, scale)})}));
}

void softplus_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value scaled = r.op("Mul", {x, r.number("beta", type)});
  const Value line = r.op("Greater", {scaled, r.number("threshold", type)});
  r.out("gradInput", r.op("Where", {line, grad, r.op("Mul", {grad, r.op("Sigmoid", {scaled})})}));
}

void log_sigmoid_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  r.out("gradInput", r.op("Mul", {grad, r.op("Sigmoid", {r.op("Neg", {x})})}));
}

// With t = tanh(softplus(x)): t + x * sigmoid(x) * (1 - t^2).
void mish_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value t = r.op("Tanh", {r.op("Softplus", {x})}), one = r.constant(type, 1);
  const Value rise = r.op(
      "Mul", {r.op("Mul", {x, r.op("Sigmoid", {x})}), r.op("Sub", {one, r.op("Mul", {t, t})})});
  r.out("gradInput", r.op("Mul", {grad, r.op("Add", {t, rise})}));
}

void prelu_backward(Recipe& r) {
  const auto [type, grad, x] = backward(r, "self");
  const Value zero = r.constant(type, 0), positive = r.op("Greater", {x, zero});
  r.out("gradInput", r.op("Where", {positive, grad, r.op("Mul", {grad, channel_weight(r, type)})}));
  const Value each = r.op("Where", {positive, zero, r.op("Mul", {grad, x})});
  std::vector<int64_t> axes;
  const bool channels = r.tensor("weight").count() > 1;
  for (size_t i = 0; i < r.rank("self"); ++i) {
    if (!channels || i != 1) axes.push_back(static_cast<int64_t>(i));
  }
  const Value sums =
      axes.empty() ? each : r.op("ReduceSum", {each, r.constant(axes)}, {{"keepdims", 0}});
  r.out("gradWeight", r.reshape(sums, r.shape("gradWeight")));
}

void glu_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Value grad = r.cast(r.in("gradOut"), type), x = r.cast(r.in("self"), type);
  const int64_t axis = r.axis("dim", r.rank("self")), half = r.extent(x, axis) / 2;
  const Value a = r.slice(x, axis, 0, half);
  const Value s = r.op("Sigmoid", {r.slice(x, axis, half, 2 * half)});
  const Value first = r.op("Mul", {grad, s});
  const Value rest = r.op("Sub", {r.constant(type, 1), s});
  const Value second = r.op("Mul", {r.op("Mul", {first, rest}), a});
  r.out("out", r.op("Concat", {first, second}, {{"axis", axis}}));
}

void logit_backward(Recipe& r) {
  const DType type = computed_in(r.dtype("x"));
  const Value x = r.cast(r.in("x"), type), grad = r.cast(r.in("dy"), type);
  const Value one = r.constant(type, 1);
  Value y = r.op("Div", {grad, r.op("Mul", {x, r.op("Sub", {one, x})})});
  const double eps = r.real("eps");
  const Value low = r.constant(type, eps >= 0 ? eps : 0),
              high = r.constant(type, 1 - (eps >= 0 ? eps : 0));
  const Value outside = r.op("Or", {r.op("Less", {x, low}), r.op("Greater", {x, high})});
  const Value other = r.constant(type, eps >= 0 ? 0 : NAN);
  r.out("out", r.op("Where", {outside, other, y}));
}

const Row kRows[] = {
    {"aclnnElu", elu, "", true},
    {"aclnnInplaceElu", elu, "", true},
    {"aclnnEluBackward", elu_backward, "", true},
    {"aclnnSeluBackward", selu_backward, "", true},
    {"aclnnCelu", celu, "", true},
    {"aclnnInplaceCelu", celu, "", true},
    {"aclnnSoftplus", softplus, "", true},
    {"aclnnSoftplusBackward", softplus_backward, "", true},
    {"aclnnSoftshrink", shrink, "", true},
    {"aclnnSoftshrinkBackward", bounded_backward, "", true},
    {"aclnnHardshrink", shrink, "", true, 1},
    {"aclnnHardshrinkBackward", bounded_backward, "", true},
    {"aclnnHardtanhBackward", bounded_backward, "", true, 1},
    {"aclnnHardsigmoidBackward", hard_sigmoid_backward, "", true},
    {"aclnnHardswishBackward", hard_swish_backward, "", true},
    {"aclnnHardswishBackwardV2", hard_swish_backward, "", true},
    {"aclnnLogSigmoid", log_sigmoid, "", true},
    {"aclnnLogSigmoidForward", log_sigmoid},
    {"aclnnLogSigmoidBackward", log_sigmoid_backward},
    {"aclnnMishBackward", mish_backward, "", true},
    {"aclnnLogit", logit, "", true},
    {"aclnnLogitGrad", logit_backward, "", true},
    {"aclnnPrelu", prelu},
    {"aclnnPreluBackward", prelu_backward},
    {"aclnnGlu", glu},
    {"aclnnGluBackward", glu_backward},
    {"aclnnRelu", plain, "Relu", true},
    {"aclnnInplaceRelu", plain, "Relu", true},
    {"aclnnHardswish", plain, "HardSwish", true},
    {"aclnnInplaceHardswish", plain, "HardSwish", true},
    {"aclnnMish", plain, "Mish", true},
    {"aclnnInplaceMish", plain, "Mish", true},
    {"aclnnSelu", plain, "Selu", true},
    {"aclnnInplaceSelu", plain, "Selu", true},
    {"aclnnHardsigmoid", hard_sigmoid, "", true},
    {"aclnnInplaceHardsigmoid", hard_sigmoid, "", true},
    {"aclnnGelu", gelu, "", true},
    {"aclnnGeluV2", gelu_v2, "", true},
    {"aclnnSilu", silu, "", true},
    {"aclnnLeakyRelu", leaky_relu, "", true},
    {"aclnnInplaceLeakyRelu", leaky_relu, "", true},
    {"aclnnThreshold", threshold, "", true},
    {"aclnnInplaceThreshold", threshold, "", true},
    {"aclnnThresholdBackward", threshold_backward, "", true},
    {"aclnnSigmoidBackward", sigmoid_backward, "", true},
    {"aclnnTanhBackward", tanh_backward, "", true},
    {"aclnnSiluBackward", silu_backward, "", true},
    {"aclnnGeluBackward", gelu_backward, "", true},
    {"aclnnGeluBackwardV2", gelu_backward_v2, "", true},
    {"aclnnLeakyReluBackward", leaky_relu_backward, "", true},
};

}  // namespace

std::span<const Row> activation_rows() { return kRows; }

}  // namespace anynpu::aclnn
