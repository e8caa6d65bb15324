// SPDX-License-Identifier: Apache-2.0
// Cross entropy in one operator, and the gradient of distances.
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

constexpr DType kType = DType::f32;

Value mul(Recipe& r, Value a, Value b) { return r.op("Mul", {a, b}); }
Value number(Recipe& r, double v) { return r.constant(kType, v); }
Value floats(Recipe& r, Param param) { return r.cast(r.in(param), kType); }
Value sum(Recipe& r, Value x, int64_t axis, bool keep = false) {
  return r.op("ReduceSum", {x, r.constant({axis})}, {{"keepdims", keep}});
}

struct Targets {
  Value classes, weights;  // a row each; rows that are ignored have weight 0
  Value of_classes;        // weights of all classes, empty without
  int64_t rows = 0, count = 0;
};

Targets targets_of(Recipe& r, const char* input) {
  Targets t;
  const Shape s = r.shape(input);
  if (s.size() != 2 || r.tensor("target").count() != s[0]) {
    refuse("{} is {} and target has {} elements; expected rows and classes, and a target each",
           input, to_string(s), r.tensor("target").count());
  }
  t.rows = s[0], t.count = s[1];
  const Value target = r.reshape(r.cast(r.in("target"), DType::i64), {t.rows});
  const Value ignored = r.op(
      "Equal", {target, r.constant(DType::i64, static_cast<double>(r.integer("ignoreIndex")))});
  t.classes = r.op("Where", {ignored, r.constant(DType::i64, 0), target});
  Value weights = r.expand(number(r, 1), {t.rows});
  if (r.given("weightOptional")) {
    t.of_classes = floats(r, "weightOptional");
    weights = r.op("Gather", {t.of_classes, t.classes}, {{"axis", 0}});
  }
  t.weights = r.op("Where", {ignored, number(r, 0), weights});
  return t;
}

// 1 in rows that count.
Value counted(Recipe& r, const Targets& t) {
  if (!t.of_classes) return t.weights;
  const Value target = r.reshape(r.cast(r.in("target"), DType::i64), {t.rows});
  const Value ignored = r.op(
      "Equal", {target, r.constant(DType::i64, static_cast<double>(r.integer("ignoreIndex")))});
  return r.op("Where", {ignored, number(r, 0), number(r, 1)});
}

void refuse_squares(Recipe& r) {
  if (!r.equals("lseSquareScaleForZloss", 0)) {
    refuse("lseSquareScaleForZloss is {}; expected 0", r.real("lseSquareScaleForZloss"));
  }
}

std::string reduction_of(Recipe& r) {
  const std::string text = r.text("reductionOptional");
  if (text.empty()) return "mean";
  if (text != "mean" && text != "sum" && text != "none") {
    refuse("reductionOptional is '{}'; expected mean, sum or none", text);
  }
  return text;
}

void cross_entropy(Recipe& r) {
  refuse_squares(r);
  const Targets t = targets_of(r, "input");
  const Value logs = r.op("LogSoftmax", {floats(r, "input")}, {{"axis", 1}});
  const Value at = r.reshape(t.classes, {t.rows, 1});
  const Value picked = r.reshape(r.op("GatherElements", {logs, at}, {{"axis", 1}}), {t.rows});
  Value loss = r.op("Neg", {mul(r, picked, t.weights)});
  const double smooth = r.real("labelSmoothing");
  if (smooth > 0) {
    const Value all = sum(r, t.of_classes ? mul(r, logs, t.of_classes) : logs, 1);
    const Value even =
        mul(r, mul(r, all, counted(r, t)), number(r, -smooth / static_cast<double>(t.count)));
    loss = r.op("Add", {mul(r, loss, number(r, 1 - smooth)), even});
  }
  const std::string reduction = reduction_of(r);
  if (reduction != "none") loss = sum(r, loss, 0);
  if (reduction == "mean") loss = r.op("Div", {loss, sum(r, t.weights, 0)});
  r.out("lossOut", r.reshape(loss, r.shape("lossOut")));
  if (r.given("logProbOut")) r.out("logProbOut", logs);
}

void cross_entropy_gradient(Recipe& r) {
  refuse_squares(r);
  const Targets t = targets_of(r, "logProb");
  const Value shares = r.op("Exp", {floats(r, "logProb")});
  const double smooth = r.real("labelSmoothing");
  const std::string reduction = reduction_of(r);
  Value g = floats(r, "gradLoss");
  g = r.reshape(g, reduction == "none" ? Shape{t.rows, 1} : Shape{1, 1});
  if (reduction == "mean") g = r.op("Div", {g, sum(r, t.weights, 0)});
  const Value zeros = r.filled(kType, {t.rows, t.count}, 0);
  const Value hot = r.op(
      "ScatterElements",
      {zeros, r.reshape(t.classes, {t.rows, 1}), r.filled(kType, {t.rows, 1}, 1)}, {{"axis", 1}});
  Value d = mul(r, mul(r, r.op("Sub", {shares, hot}), r.reshape(t.weights, {t.rows, 1})),
                number(r, 1 - smooth));
  if (smooth > 0) {
    const Value all =
        t.of_classes ? r.reshape(t.of_classes, {1, t.count}) : r.filled(kType, {1, t.count}, 1);
    const Value even = r.op("Sub", {mul(r, shares, sum(r, all, 1, true)), all});
    const Value rows = r.reshape(counted(r, t), {t.rows, 1});
    d = r.op("Add",
             {d, mul(r, mul(r, even, rows), number(r, smooth / static_cast<double>(t.count)))});
  }
  r.out("out", mul(r, d, g));
}

// Of rows of probabilities: the loss of each row and softmax - labels.
void softmax_cross_entropy(Recipe& r) {
  const Value x = floats(r, "features"), labels = floats(r, "labels");
  const auto last = static_cast<int64_t>(r.rank("features")) - 1;
  const Value logs = r.op("LogSoftmax", {x}, {{"axis", last}});
  const Value loss = r.op("Neg", {sum(r, mul(r, labels, logs), last)});
  r.out("loss", r.reshape(loss, r.shape("loss")));
  if (r.given("backprop")) r.out("backprop", r.op("Sub", {r.op("Exp", {logs}), labels}));
}

// d of |x1 - x2|_p with regard to x1, summed over the rows of x2.
void distance_gradient(Recipe& r) {
  const double p = r.real("p");
  const Value a = floats(r, "x1"), b = floats(r, "x2");
  const Shape as = r.shape(a), bs = r.shape(b);
  if (as.size() < 2 || bs.size() != as.size() || r.rank("grad") != as.size() ||
      r.rank("cdist") != as.size()) {
    refuse("x1, x2, grad and cdist have {}, {}, {} and {} axes; expected the same, at least 2",
           as.size(), bs.size(), r.rank("grad"), r.rank("cdist"));
  }
  const auto wide = [&](Shape s, bool rows) {
    s.insert(s.end() - (rows ? 1 : 2), 1);
    return s;
  };
  const Value apart = r.op("Sub", {r.reshape(a, wide(as, true)), r.reshape(b, wide(bs, false))});
  const auto column = [&](const char* name) {
    Shape s = r.shape(name);
    s.push_back(1);
    return r.reshape(floats(r, name), s);
  };
  const Value distance = column("cdist"), size = r.op("Abs", {apart}), sign = r.op("Sign", {apart});
  Value slope;
  if (p == 0)
    slope = mul(r, apart, number(r, 0));
  else if (p == 1)
    slope = sign;
  else if (p == 2)
    slope = r.op("Div", {apart, distance});
  else if (p < 0 || std::isinf(p))
    slope = r.op("Where", {r.op("Equal", {size, distance}), sign, number(r, 0)});
  else
    slope = mul(r, sign, r.op("Pow", {r.op("Div", {size, distance}), number(r, p - 1)}));
  const Value zero = r.op("Equal", {distance, number(r, 0)});
  const Value each = mul(r, r.op("Where", {zero, number(r, 0), slope}), column("grad"));
  const auto axis = static_cast<int64_t>(as.size()) - 1;
  r.out("out", r.reshape(sum(r, each, axis), r.shape("out")));
}

const Row kRows[] = {
    {"aclnnCrossEntropyLoss", cross_entropy},
    {"aclnnCrossEntropyLossGrad", cross_entropy_gradient},
    {"aclnnSoftmaxCrossEntropyWithLogits", softmax_cross_entropy},
    {"aclnnCdistBackward", distance_gradient},
};

}  // namespace

std::span<const Row> cross_entropy_rows() { return kRows; }

}  // namespace anynpu::aclnn
