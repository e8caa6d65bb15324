// SPDX-License-Identifier: Apache-2.0
// Activations of networks and their gradients, element by element. Gradients of 16-bit tensors are
// computed in float32 and rounded once.
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
  r.out("gradInput",
        r.op("Mul", {grad, r.op("Sub", {r.constant(type, 1), r.op("Mul", {y, y})})}));
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
  const Value cdf =
      r.op("Mul", {half, r.op("Add", {one, r.op("Erf", {r.op("Mul", {x, root})})})});
  const Value square = r.op("Mul", {r.op("Mul", {x, x}), r.constant(type, -0.5)});
  const Value pdf = r.op("Mul", {r.op("Exp", {square}), r.constant(type, 0.3989422804014327)});
  return r.op("Add", {cdf, r.op("Mul", {x, pdf})});
}

// The same of x / 2 * (1 + tanh(u)) with u = c * (x + 0.044715 x^3).
Value gelu_tanh_slope(Recipe& r, Value x, DType type) {
  const auto number = [&](double value) { return r.constant(type, value); };
  const double c = 0.7978845608028654;
  const Value square = r.op("Mul", {x, x});
  const Value u = r.op(
      "Mul", {x, r.op("Add", {number(c), r.op("Mul", {square, number(c * 0.044715)})})});
  const Value t = r.op("Tanh", {u});
  const Value du = r.op("Add", {number(c), r.op("Mul", {square, number(3 * c * 0.044715)})});
  const Value rise = r.op("Mul", {r.op("Sub", {number(1), r.op("Mul", {t, t})}), du});
  const Value sum =
      r.op("Add", {r.op("Add", {number(1), t}), r.op("Mul", {x, rise})});
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

const Row kRows[] = {
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
