// SPDX-License-Identifier: Apache-2.0
// The soft margin loss and its gradient: log(1 + exp(-target * self)). `reduction` is 0 none, 1
// mean, 2 sum.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace margin_loss {

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
        r.op(r.row().op, {gradient_in(r, type), wide(r, "self", type), wide(r, "target", type)}));
}

const Row kRows[] = {
    {"aclnnSoftMarginLoss", plain, "SoftMarginLoss"},
    {"aclnnSoftMarginLossBackward", plain_gradient, "SoftMarginLossGrad", false, 4},
};

}  // namespace

}  // namespace margin_loss

std::span<const Row> margin_loss_rows() { return margin_loss::kRows; }

}  // namespace anynpu::aclnn
