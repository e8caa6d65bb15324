// SPDX-License-Identifier: Apache-2.0
// Losses of a prediction and a target of the same shape, and their gradients. `reduction` is 0 none,
// 1 mean, 2 sum.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace pair_loss {

namespace {

constexpr int64_t kNone = 0, kMean = 1;

Value wide(Recipe& r, Param param, DType type) { return r.cast(r.in(param), type); }

// The type that both are computed in.
DType common(Recipe& r) {
  return computed_in(floating(promote(r.dtype("self"), r.dtype("target"))));
}

void finish(Recipe& r, Param out, Value each) {
  const int64_t reduction = r.integer("reduction");
  if (reduction == kNone) return r.out(out, each);
  if (reduction != kMean && reduction != 2) {
    refuse("reduction is {}; expected 0 (none), 1 (mean) or 2 (sum)", reduction);
  }
  r.out(out, r.op(reduction == kMean ? "ReduceMean" : "ReduceSum", {each}, {{"keepdims", 0}}));
}

// What comes from behind, shared out among the elements.
Value gradient_in(Recipe& r, DType type) {
  const Value g = wide(r, 0, type);
  if (r.integer("reduction") != kMean) return g;
  const auto count = static_cast<double>(r.tensor("self").count());
  return r.op("Div", {g, r.constant(type, count == 0 ? 1 : count)});
}

void plain(Recipe& r) {
  const DType type = common(r);
  finish(r, "out", r.op(r.row().op, {wide(r, "self", type), wide(r, "target", type)}));
}
// The output is the last parameter, whatever its name.
void plain_gradient(Recipe& r) {
  const DType type = common(r);
  r.out(static_cast<int>(r.row().number),
        r.op(r.row().op,
             {gradient_in(r, type), wide(r, "self", type), wide(r, "target", type)}));
}

void smooth_l1(Recipe& r) {
  const DType type = common(r);
  const double beta = r.real("beta");
  const Value self = wide(r, "self", type), target = wide(r, "target", type);
  finish(r, "result", beta == 0 ? r.op("L1Loss", {self, target})
                                : r.op("SmoothL1Loss", {self, target}, {{"beta", beta}}));
}
void smooth_l1_gradient(Recipe& r) {
  const DType type = common(r);
  const double beta = r.real("beta");
  const Value g = gradient_in(r, type);
  const Value self = wide(r, "self", type), target = wide(r, "target", type);
  r.out("gradInput", beta == 0 ? r.op("L1LossGrad", {g, self, target})
                               : r.op("SmoothL1LossGrad", {g, self, target}, {{"beta", beta}}));
}

void kl_divergence(Recipe& r) {
  const DType type = common(r);
  const Value each = r.op("KlDivLoss", {wide(r, "self", type), wide(r, "target", type)},
                          {{"log_target", r.flag("logTarget") ? 1.0 : 0.0}});
  constexpr int64_t kBatchMean = 3;
  if (r.integer("reduction") != kBatchMean) return finish(r, "out", each);
  const Value sum = r.op("ReduceSum", {each}, {{"keepdims", 0}});
  const auto rows = static_cast<double>(r.rank("self") ? r.shape("self")[0] : 1);
  r.out("out", r.op("Div", {sum, r.constant(type, rows)}));
}
void kl_divergence_gradient(Recipe& r) {
  const DType type = common(r);
  r.out("out", r.op("KlDivLossGrad",
                    {gradient_in(r, type), wide(r, "self", type), wide(r, "target", type)},
                    {{"log_target", r.flag("logTarget") ? 1.0 : 0.0}}));
}

Value weighted(Recipe& r, Value each, Param weight, DType type) {
  return r.given(weight) ? r.op("Mul", {each, wide(r, weight, type)}) : each;
}
void binary_cross_entropy(Recipe& r) {
  const DType type = common(r);
  const Value each =
      r.op("BinaryCrossEntropy", {wide(r, "self", type), wide(r, "target", type)});
  finish(r, "out", weighted(r, each, "weight", type));
}
void binary_cross_entropy_gradient(Recipe& r) {
  const DType type = common(r);
  const Value each =
      r.op("BinaryCrossEntropyGrad",
           {gradient_in(r, type), wide(r, "self", type), wide(r, "target", type)});
  r.out("out", weighted(r, each, "weightOptional", type));
}

Value positive_weight(Recipe& r, DType type) {
  return r.given("posWeightOptional") ? wide(r, "posWeightOptional", type) : r.constant(type, 1);
}
void logits(Recipe& r) {
  const DType type = common(r);
  const Value each = r.op("LogitsCrossEntropy", {wide(r, "self", type), wide(r, "target", type),
                                                 positive_weight(r, type)});
  finish(r, "out", weighted(r, each, "weightOptional", type));
}
void logits_gradient(Recipe& r) {
  const DType type = common(r);
  const Value slope = r.op("LogitsCrossEntropyGrad",
                           {wide(r, "self", type), wide(r, "target", type),
                            positive_weight(r, type)});
  const Value each = r.op("Mul", {gradient_in(r, type), slope});
  r.out("out", weighted(r, each, "weightOptional", type));
}

const Row kRows[] = {
    {"aclnnL1Loss", plain, "L1Loss"},
    {"aclnnL1LossBackward", plain_gradient, "L1LossGrad", false, 4},
    {"aclnnMseLoss", plain, "MseLoss"},
    {"aclnnMseLossBackward", plain_gradient, "MseLossGrad", false, 4},
    {"aclnnSoftMarginLoss", plain, "SoftMarginLoss"},
    {"aclnnSoftMarginLossBackward", plain_gradient, "SoftMarginLossGrad", false, 4},
    {"aclnnSmoothL1Loss", smooth_l1},
    {"aclnnSmoothL1LossBackward", smooth_l1_gradient},
    {"aclnnKlDiv", kl_divergence},
    {"aclnnKlDivBackward", kl_divergence_gradient},
    {"aclnnBinaryCrossEntropy", binary_cross_entropy},
    {"aclnnBinaryCrossEntropyBackward", binary_cross_entropy_gradient},
    {"aclnnBinaryCrossEntropyWithLogits", logits},
    {"aclnnBinaryCrossEntropyWithLogitsBackward", logits_gradient},
};

}  // namespace

}  // namespace pair_loss

std::span<const Row> pair_loss_rows() { return pair_loss::kRows; }

}  // namespace anynpu::aclnn
