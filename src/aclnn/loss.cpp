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
  const Value picked =
      r.op("GatherElements", {scores, r.reshape(t.target, {t.batch, 1})}, {{"axis", 1}});
  const Value loss = r.op("Neg", {r.op("Mul", {r.reshape(picked, {t.batch}), t.weight})});
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
  Doubles numbers;
  for (int64_t i = 0; i < t.classes; ++i) numbers.push_back(static_cast<double>(i));
  const Value classes = r.constant(DType::i64, {1, t.classes}, numbers);
  const Value hit = r.op("Equal", {r.reshape(t.target, {t.batch, 1}), classes});
  const Value spread = r.op("Where", {hit, r.reshape(factor, {t.batch, 1}), r.constant(t.type, 0)});
  r.out("out", r.reshape(spread, r.shape("out")));
}

// --- losses of two tensors, element by element

// The loss of all elements, or of each.
void reduce_to(Recipe& r, Value loss, Param out) {
  const Reduction reduction = reduction_of(r);
  if (reduction == kNone) return r.out(out, r.reshape(loss, r.shape(out)));
  const int64_t count = element_count(r.shape(loss));
  Value sum = total(r, r.reshape(loss, {count}));
  if (reduction == kMean) {
    sum = r.op("Div", {sum, r.constant(r.dtype(loss), static_cast<double>(count))});
  }
  r.out(out, r.reshape(sum, r.shape(out)));
}

struct Pair {
  DType type;
  Value self, target;
};

Pair pair_of(Recipe& r) {
  const DType type = computed_in(floating(promote(r.dtype("self"), r.dtype("target"))));
  return {type, r.cast(r.in("self"), type), r.cast(r.in("target"), type)};
}

// The gradient that each element of the loss gets.
Value passed(Recipe& r, const Pair& p) {
  Value grad = r.cast(r.in(0), p.type);
  if (reduction_of(r) == kMean) {
    const Value both = r.op("Sub", {p.self, p.target});
    const auto count = static_cast<double>(element_count(r.shape(both)));
    grad = r.op("Div", {grad, r.constant(p.type, count)});
  }
  return grad;
}

Value squared_error(Recipe& r, const Pair& p) {
  const Value off = r.op("Sub", {p.self, p.target});
  return r.op("Mul", {off, off});
}

void mse(Recipe& r) { reduce_to(r, squared_error(r, pair_of(r)), r.result()); }
void mse_backward(Recipe& r) {
  const Pair p = pair_of(r);
  const Value slope = r.op("Mul", {r.op("Sub", {p.self, p.target}), r.constant(p.type, 2)});
  r.out(r.result(), r.op("Mul", {passed(r, p), slope}));
}

void l1(Recipe& r) {
  const Pair p = pair_of(r);
  reduce_to(r, r.op("Abs", {r.op("Sub", {p.self, p.target})}), r.result());
}
void l1_backward(Recipe& r) {
  const Pair p = pair_of(r);
  r.out(r.result(), r.op("Mul", {passed(r, p), r.op("Sign", {r.op("Sub", {p.self, p.target})})}));
}

// Squares up to beta, then a line.
void smooth_l1(Recipe& r) {
  const Pair p = pair_of(r);
  const Value off = r.op("Abs", {r.op("Sub", {p.self, p.target})});
  if (r.equals("beta", 0)) return reduce_to(r, off, r.result());
  const Value beta = r.number("beta", p.type), half = r.constant(p.type, 0.5);
  const Value square = r.op("Div", {r.op("Mul", {half, r.op("Mul", {off, off})}), beta});
  const Value line = r.op("Sub", {off, r.op("Mul", {half, beta})});
  reduce_to(r, r.op("Where", {r.op("Less", {off, beta}), square, line}), r.result());
}
void smooth_l1_backward(Recipe& r) {
  const Pair p = pair_of(r);
  const Value off = r.op("Sub", {p.self, p.target}), beta = r.number("beta", p.type);
  const Value inside = r.op("Less", {r.op("Abs", {off}), beta});
  const Value slope = r.op("Where", {inside, r.op("Div", {off, beta}), r.op("Sign", {off})});
  r.out(r.result(), r.op("Mul", {passed(r, p), slope}));
}

Value weighted(Recipe& r, Value loss, Param weight) {
  if (!r.given(weight)) return loss;
  return r.op("Mul", {loss, r.cast(r.in(weight), r.dtype(loss))});
}

// -(t log x + (1 - t) log(1 - x)), logarithms from -100 up.
void bce(Recipe& r) {
  const Pair p = pair_of(r);
  const Value one = r.constant(p.type, 1), least = r.constant(p.type, -100);
  const auto log = [&](Value x) { return r.op("Max", {r.op("Log", {x}), least}); };
  const Value yes = r.op("Mul", {p.target, log(p.self)});
  const Value no = r.op("Mul", {r.op("Sub", {one, p.target}), log(r.op("Sub", {one, p.self}))});
  reduce_to(r, weighted(r, r.op("Neg", {r.op("Add", {yes, no})}), "weight"), "out");
}
void bce_backward(Recipe& r) {
  const Pair p = pair_of(r);
  const Value rest = r.op("Mul", {r.op("Sub", {r.constant(p.type, 1), p.self}), p.self});
  const Value slope = r.op(
      "Div", {r.op("Sub", {p.self, p.target}), r.op("Max", {rest, r.constant(p.type, 1e-12)})});
  r.out("out", weighted(r, r.op("Mul", {passed(r, p), slope}), "weightOptional"));
}

// (1 - t) x + (1 + (w - 1) t) log(1 + exp(-x)).
void bce_logits(Recipe& r) {
  const Pair p = pair_of(r);
  const Value one = r.constant(p.type, 1);
  const Value soft = r.op("Softplus", {r.op("Neg", {p.self})});
  Value factor = one;
  if (r.given("posWeightOptional")) {
    const Value more = r.op("Sub", {r.cast(r.in("posWeightOptional"), p.type), one});
    factor = r.op("Add", {one, r.op("Mul", {more, p.target})});
  }
  const Value linear = r.op("Mul", {r.op("Sub", {one, p.target}), p.self});
  const Value loss = r.op("Add", {linear, r.op("Mul", {factor, soft})});
  reduce_to(r, weighted(r, loss, "weightOptional"), "out");
}
void bce_logits_backward(Recipe& r) {
  const Pair p = pair_of(r);
  const Value one = r.constant(p.type, 1), s = r.op("Sigmoid", {p.self});
  Value slope;
  if (r.given("posWeightOptional")) {
    const Value t = r.op("Mul", {r.cast(r.in("posWeightOptional"), p.type), p.target});
    slope = r.op("Sub", {r.op("Mul", {r.op("Add", {t, r.op("Sub", {one, p.target})}), s}), t});
  } else {
    slope = r.op("Sub", {s, p.target});
  }
  r.out("out", weighted(r, r.op("Mul", {passed(r, p), slope}), "weightOptional"));
}

// By the target: posWeight - 1 times softplus(-x), less x.
void bce_logits_target_backward(Recipe& r) {
  const Pair p = pair_of(r);
  Value slope = r.op("Neg", {p.self});
  if (r.given("posWeightOptional")) {
    const Value more =
        r.op("Sub", {r.cast(r.in("posWeightOptional"), p.type), r.constant(p.type, 1)});
    slope = r.op("Add", {slope, r.op("Mul", {more, r.op("Softplus", {slope})})});
  }
  r.out("gradTarget", weighted(r, r.op("Mul", {passed(r, p), slope}), "weightOptional"));
}

// t (log t - x); with logTarget exp(t) (t - x).
void kl_div(Recipe& r) {
  const Pair p = pair_of(r);
  if (r.flag("logTarget")) {
    const Value loss = r.op("Mul", {r.op("Exp", {p.target}), r.op("Sub", {p.target, p.self})});
    return reduce_to(r, loss, "out");
  }
  const Value own = r.op("Xlogy", {p.target, p.target});
  reduce_to(r, r.op("Sub", {own, r.op("Mul", {p.target, p.self})}), "out");
}
void kl_div_backward(Recipe& r) {
  const Pair p = pair_of(r);
  const Value weight = r.flag("logTarget") ? r.op("Exp", {p.target}) : p.target;
  r.out("out", r.op("Neg", {r.op("Mul", {passed(r, p), weight})}));
}

// By the target: log t + 1 - x, nothing at t = 0; with logTarget exp(t) (t + 1 - x).
void kl_div_target_backward(Recipe& r) {
  const Pair p = pair_of(r);
  const Value one = r.constant(p.type, 1), zero = r.constant(p.type, 0);
  const bool log = r.flag("logTarget");
  const Value own = log ? p.target : r.op("Log", {p.target});
  Value slope = r.op("Sub", {r.op("Add", {own, one}), p.self});
  slope = log ? r.op("Mul", {r.op("Exp", {p.target}), slope})
              : r.op("Where", {r.op("Greater", {p.target, zero}), slope, zero});
  r.out(r.result(), r.op("Mul", {passed(r, p), slope}));
}

const Row kRows[] = {
    {"aclnnMseLoss", mse},
    {"aclnnMseLossOut", mse},
    {"aclnnMseLossBackward", mse_backward},
    {"aclnnL1Loss", l1},
    {"aclnnL1LossBackward", l1_backward},
    {"aclnnSmoothL1Loss", smooth_l1},
    {"aclnnSmoothL1LossBackward", smooth_l1_backward},
    {"aclnnBinaryCrossEntropy", bce},
    {"aclnnBinaryCrossEntropyBackward", bce_backward},
    {"aclnnBinaryCrossEntropyWithLogits", bce_logits},
    {"aclnnBinaryCrossEntropyWithLogitsBackward", bce_logits_backward},
    {"aclnnKlDiv", kl_div},
    {"aclnnKlDivBackward", kl_div_backward},
    {"aclnnKlDivTargetBackward", kl_div_target_backward},
    {"aclnnBinaryCrossEntropyWithLogitsTargetBackward", bce_logits_target_backward},
    {"aclnnNLLLoss", nll_loss},
    {"aclnnNLLLossBackward", nll_loss_backward},
};

}  // namespace

std::span<const Row> loss_rows() { return kRows; }

}  // namespace anynpu::aclnn
