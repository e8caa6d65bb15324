// SPDX-License-Identifier: Apache-2.0
// Activations and their gradients: rows over the functions of ops/elementwise, mostly of
// framework_functions.cpp. In gradients the first tensor is what comes from behind.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace activation_gradient {

namespace {

Value real_in(Recipe& r, Param param) { return r.cast(r.in(param), floating(r.dtype(param))); }
Value same_in(Recipe& r, Param param, Value as) { return r.cast(r.in(param), r.dtype(as)); }
double scalar(Recipe& r, Param param) { return r.scalar(param).real(); }

// f(first tensor) -> parameter `number`.
void one(Recipe& r) {
  r.out(static_cast<int>(r.row().number), r.op(r.row().op, {real_in(r, 0)}));
}

// f(gradient, tensor 1) -> parameter `number`.
void gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  r.out(static_cast<int>(r.row().number), r.op(r.row().op, {g, same_in(r, 1, g)}));
}

void hardtanh(Recipe& r) {
  const Value self = r.in(0);
  const DType type = r.dtype(self);
  r.out("out", r.op("Clip", {self, r.number("clipValueMin", type), r.number("clipValueMax", type)}));
}
void hardtanh_gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  r.out("out", r.op("HardtanhGrad", {g, same_in(r, 1, g)},
                    {{"low", scalar(r, "min")}, {"high", scalar(r, "max")}}));
}

void elu(Recipe& r) {
  r.out("out", r.op("ScaledElu", {real_in(r, 0)},
                    {{"alpha", scalar(r, "alpha")},
                     {"scale", scalar(r, "scale")},
                     {"input_scale", scalar(r, "inputScale")}}));
}
void elu_gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  r.out("gradInput", r.op("ScaledEluGrad", {g, same_in(r, "selfOrResult", g)},
                          {{"alpha", scalar(r, "alpha")},
                           {"scale", scalar(r, "scale")},
                           {"input_scale", scalar(r, "inputScale")},
                           {"of_result", r.flag("isResult") ? 1.0 : 0.0}}));
}
void celu(Recipe& r) {
  r.out("out", r.op("Celu", {real_in(r, 0)}, {{"alpha", scalar(r, "alpha")}}));
}
void selu(Recipe& r) { r.out("out", r.op("Selu", {real_in(r, 0)})); }

void leaky_relu(Recipe& r) {
  r.out("out", r.op("LeakyRelu", {real_in(r, 0)}, {{"alpha", scalar(r, "negativeSlope")}}));
}
void leaky_relu_gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  r.out("out", r.op("LeakyReluGrad", {g, same_in(r, 1, g)}, {{"alpha", scalar(r, "negativeSlope")}}));
}

// A function of one tensor with the bound lambda.
void shrink(Recipe& r) {
  r.out("out", r.op(r.row().op, {real_in(r, 0)}, {{"lambd", scalar(r, "lambd")}}));
}
void shrink_gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  r.out("gradInput", r.op("ShrinkGrad", {g, same_in(r, 1, g)}, {{"lambd", scalar(r, 2)}}));
}

void threshold(Recipe& r) {
  r.out("out", r.op("Threshold", {r.in(0)},
                    {{"threshold", scalar(r, "threshold")}, {"value", scalar(r, "value")}}));
}

void softplus(Recipe& r) {
  r.out("out", r.op("SoftplusBeta", {real_in(r, 0)},
                    {{"beta", scalar(r, "beta")}, {"threshold", scalar(r, "threshold")}}));
}
void softplus_gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  r.out("gradInput", r.op("SoftplusGrad", {g, same_in(r, 1, g)},
                          {{"beta", scalar(r, "beta")}, {"threshold", scalar(r, "threshold")}}));
}

void hardsigmoid(Recipe& r) {
  r.out(static_cast<int>(r.row().number),
        r.op("HardSigmoid", {real_in(r, 0)}, {{"alpha", 1.0 / 6}, {"beta", 0.5}}));
}

// `buffer` is for implementations that keep exp(-|x|); nobody reads it here.
void log_sigmoid(Recipe& r) { r.out("out", r.op("LogSigmoid", {real_in(r, 0)})); }

void logit(Recipe& r) { r.out("out", r.op("Logit", {real_in(r, 0)}, {{"eps", r.real("eps")}})); }
void logit_gradient(Recipe& r) {
  const Value g = real_in(r, "dy");
  r.out("out", r.op("LogitGrad", {g, same_in(r, "x", g)}, {{"eps", r.real("eps")}}));
}

// The halves of an axis: first * sigmoid(second).
struct Halves {
  Value first, second;
  int64_t axis;
};
Halves halves(Recipe& r, Value x, int64_t axis) {
  const int64_t extent = r.extent(x, axis);
  if (extent % 2 != 0) refuse("axis {} has {} elements; expected an even number", axis, extent);
  return {r.slice(x, axis, 0, extent / 2), r.slice(x, axis, extent / 2, extent), axis};
}
void glu(Recipe& r) {
  const Value x = real_in(r, 0);
  const Halves part = halves(r, x, r.axis("dim", r.rank(0)));
  r.out("out", r.op("Mul", {part.first, r.op("Sigmoid", {part.second})}));
}
void glu_gradient(Recipe& r) {
  const Value g = real_in(r, 0);
  const Halves part = halves(r, same_in(r, "self", g), r.axis("dim", r.rank("self")));
  const Value gate = r.op("Sigmoid", {part.second});
  const Value first = r.op("Mul", {g, gate});
  const Value second = r.op("SigmoidGrad", {r.op("Mul", {g, part.first}), gate});
  r.out("out", r.op("Concat", {first, second}, {{"axis", part.axis}}));
}

// The weight of channel c lies at axis 1, or is one number for all.
Value slopes(Recipe& r, Value x) {
  const Value weight = same_in(r, "weight", x);
  const size_t rank = r.shape(x).size();
  Shape shape(rank, 1);
  if (rank > 1) shape[1] = r.tensor("weight").count();
  else if (rank == 1) shape[0] = r.tensor("weight").count();
  return r.reshape(weight, shape);
}
void prelu(Recipe& r) {
  const Value x = real_in(r, "self");
  r.out("out", r.op("PRelu", {x, slopes(r, x)}));
}
void prelu_gradient(Recipe& r) {
  const Value g = real_in(r, 0), x = same_in(r, "self", g), slope = slopes(r, x);
  const Value zero = r.constant(r.dtype(g), 0), positive = r.op("Greater", {x, zero});
  r.out("gradInput", r.op("Where", {positive, g, r.op("Mul", {g, slope})}));
  const Value all = r.op("Where", {positive, zero, r.op("Mul", {g, x})});
  const int64_t channels = r.tensor("weight").count();
  std::vector<int64_t> axes;
  for (size_t i = 0; i < r.rank("self"); ++i) {
    if (channels == 1 || i != (r.rank("self") > 1 ? 1u : 0u)) axes.push_back(static_cast<int64_t>(i));
  }
  const Value sum = axes.empty() ? all
                                 : r.op("ReduceSum", {all, r.constant(axes)}, {{"keepdims", 0}});
  r.out("gradWeight", r.reshape(sum, r.shape("gradWeight")));
}

const Row kRows[] = {
    {"aclnnHardswishBackward", gradient, "HardswishGrad", true, 2},
    {"aclnnHardswishBackwardV2", gradient, "HardswishGrad", true, 2},
    {"aclnnHardsigmoidBackward", gradient, "HardsigmoidGrad", true, 2},
    {"aclnnMishBackward", gradient, "MishGrad", true, 2},
    {"aclnnLogSigmoidForward", log_sigmoid},
    {"aclnnLogSigmoid", log_sigmoid},
    {"aclnnLogSigmoidBackward", gradient, "LogSigmoidGrad", false, 3},
    {"aclnnHardtanhBackward", hardtanh_gradient, "", true},
    {"aclnnElu", elu, "", true},
    {"aclnnInplaceElu", elu, "", true},
    {"aclnnEluBackward", elu_gradient, "", true},
    {"aclnnCelu", celu, "", true},
    {"aclnnInplaceCelu", celu, "", true},
    {"aclnnHardshrink", shrink, "Hardshrink", true},
    {"aclnnSoftshrink", shrink, "Softshrink", true},
    {"aclnnHardshrinkBackward", shrink_gradient, "", true},
    {"aclnnSoftshrinkBackward", shrink_gradient, "", true},
    {"aclnnSoftplus", softplus, "", true},
    {"aclnnSoftplusBackward", softplus_gradient, "", true},
    {"aclnnLogit", logit, "", true},
    {"aclnnLogitGrad", logit_gradient, "", true},
    {"aclnnGlu", glu},
    {"aclnnGluBackward", glu_gradient},
    {"aclnnPrelu", prelu},
    {"aclnnPreluBackward", prelu_gradient},
};

}  // namespace

}  // namespace activation_gradient

std::span<const Row> activation_gradient_rows() { return activation_gradient::kRows; }

}  // namespace anynpu::aclnn
