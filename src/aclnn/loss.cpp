// SPDX-License-Identifier: Apache-2.0
// Losses and their gradients. Reduction: 0 none, 1 mean, 2 sum.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

enum Reduction : int64_t { kNone = 0, kMean = 1, kSum = 2 };

Reduction reduction_of(Recipe& r) {
  const int64_t reduction = r.integer("reduction");
  if (reduction < kNone || reduction > kSum) {
    refuse("reduction is {}; expected 0 (none), 1 (mean) or 2 (sum)", reduction);
  }
  return static_cast<Reduction>(reduction);
}

// The classes of a batch: rows of scores, a target for each, what it weighs. Those to be ignored
// weigh nothing and point to class 0.
struct Targets {
  DType type;
  int64_t batch = 1, classes = 1;
  Value target, weight;  // (batch)
};

Targets targets_of(Recipe& r) {
  Targets t;
  const Shape shape = r.shape("self");
  if (shape.empty() || shape.size() > 2) {
    refuse("self has {} axes; expected classes, or batch and classes", shape.size());
  }
  t.type = computed_in(r.dtype("self"));
  t.batch = shape.size() == 2 ? shape[0] : 1;
  t.classes = shape.back();
  const Value raw = r.reshape(r.cast(r.in("target"), DType::i64), {t.batch});
  const Value ignored = r.op("Equal", {raw, r.number("ignoreIndex", DType::i64)});
  t.target = r.op("Where", {ignored, r.constant(DType::i64, 0), raw});
  const Value one = r.constant(t.type, 1);
  const Value weight = r.given("weight")
                           ? r.op("Gather", {r.cast(r.in("weight"), t.type), t.target})
                           : r.expand(one, {t.batch});
  t.weight = r.op("Where", {ignored, r.constant(t.type, 0), weight});
  return t;
}

Value total(Recipe& r, Value list) {
  return r.op("ReduceSum", {list, r.constant({0})}, {{"keepdims", 0}});
}

void nll_loss(Recipe& r) {
  const Reduction reduction = reduction_of(r);
  const Targets t = targets_of(r);
  const Value scores = r.reshape(r.cast(r.in("self"), t.type), {t.batch, t.classes});
  const Value picked = r.op("GatherElements", {scores, r.reshape(t.target, {t.batch, 1})},
                            {{"axis", 1}});
  const Value loss =
      r.op("Neg", {r.op("Mul", {r.reshape(picked, {t.batch}), t.weight})});
  const Value weights = total(r, t.weight);
  const Shape out = r.shape("out");
  if (reduction == kNone) {
    r.out("out", r.reshape(loss, out));
  } else {
    const Value sum = total(r, loss);
    r.out("out", r.reshape(reduction == kMean ? r.op("Div", {sum, weights}) : sum, out));
  }
  if (r.given("totalWeightOut"))
    r.out("totalWeightOut", r.reshape(weights, r.shape("totalWeightOut")));
}

void nll_loss_backward(Recipe& r) {
  const Reduction reduction = reduction_of(r);
  const Targets t = targets_of(r);
  Value grad = r.cast(r.in("gradOutput"), t.type);
  grad = reduction == kNone ? r.reshape(grad, {t.batch}) : r.reshape(grad, {1});
  Value factor = r.op("Neg", {r.op("Mul", {t.weight, grad})});
  if (reduction == kMean) {
    factor = r.op("Div", {factor, r.reshape(r.cast(r.in("totalWeight"), t.type), {1})});
  }
  std::vector<double> numbers;
  for (int64_t i = 0; i < t.classes; ++i) numbers.push_back(static_cast<double>(i));
  const Value classes = r.constant(DType::i64, {1, t.classes}, numbers);
  const Value hit = r.op("Equal", {r.reshape(t.target, {t.batch, 1}), classes});
  const Value spread =
      r.op("Where", {hit, r.reshape(factor, {t.batch, 1}), r.constant(t.type, 0)});
  r.out("out", r.reshape(spread, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnNLLLoss", nll_loss},
    {"aclnnNLLLossBackward", nll_loss_backward},
};

}  // namespace

std::span<const Row> loss_rows() { return kRows; }

}  // namespace anynpu::aclnn
