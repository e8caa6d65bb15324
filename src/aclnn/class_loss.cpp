// SPDX-License-Identifier: Apache-2.0
// Losses whose targets are classes.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace class_loss {

namespace {

constexpr int64_t kNone = 0, kMean = 1;

// Predictions as rows of classes: N x C, or N x C x H x W with the classes brought to the end.
struct Rows {
  Shape shape;  // of `self`, and with the classes at the end
  std::vector<int64_t> order, back;
  int64_t count = 1, classes = 1;
};
Rows rows_of(const Shape& shape) {
  Rows rows;
  rows.shape = shape;
  const size_t rank = shape.size(), axis = rank == 1 ? 0 : 1;
  rows.classes = shape[axis];
  rows.back.resize(rank);
  for (size_t i = 0; i < rank; ++i) {
    if (i != axis) rows.order.push_back(static_cast<int64_t>(i)), rows.count *= shape[i];
  }
  rows.order.push_back(static_cast<int64_t>(axis));
  for (size_t i = 0; i < rank; ++i)
    rows.back[static_cast<size_t>(rows.order[i])] = static_cast<int64_t>(i);
  return rows;
}

struct Targets {
  Value classes, counted, weights;  // count each; classes that are ignored are 0, their weights too
};
Targets targets_of(Recipe& r, const Rows& rows, DType type) {
  const Value target = r.reshape(r.cast(r.in("target"), DType::i64), {rows.count});
  const Value ignored = r.constant(DType::i64, static_cast<double>(r.integer("ignoreIndex")));
  const Value counted = r.op("Not", {r.op("Equal", {target, ignored})});
  const Value classes = r.op("Where", {counted, target, r.constant(DType::i64, 0)});
  const Value all =
      r.given("weight") ? r.cast(r.in("weight"), type) : r.filled(type, {rows.classes}, 1);
  const Value picked = r.op("Gather", {all, classes}, {{"axis", 0}});
  return {classes, counted, r.op("Where", {counted, picked, r.constant(type, 0)})};
}

void nll(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Rows rows = rows_of(r.shape("self"));
  const Targets to = targets_of(r, rows, type);
  const int64_t reduction = r.integer("reduction");
  const Value x =
      r.reshape(r.transpose(r.cast(r.in("self"), type), rows.order), {rows.count, rows.classes});
  const Value at = r.reshape(to.classes, {rows.count, 1});
  const Value found = r.reshape(r.op("GatherElements", {x, at}, {{"axis", 1}}), {rows.count});
  const Value zero = r.constant(type, 0);
  const Value each =
      r.op("Where", {to.counted, r.op("Neg", {r.op("Mul", {found, to.weights})}), zero});
  const Value total = r.op("ReduceSum", {to.weights}, {{"keepdims", 0}});
  r.out("totalWeightOut", r.reshape(total, r.shape("totalWeightOut")));
  if (reduction == kNone) return r.out("out", r.reshape(each, r.shape("out")));
  Value sum = r.op("ReduceSum", {each}, {{"keepdims", 0}});
  if (reduction == kMean) sum = r.op("Div", {sum, total});
  r.out("out", r.reshape(sum, r.shape("out")));
}

void nll_gradient(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const Rows rows = rows_of(r.shape("self"));
  const Targets to = targets_of(r, rows, type);
  const int64_t reduction = r.integer("reduction");
  Value g = r.cast(r.in("gradOutput"), type);
  if (reduction == kNone)
    g = r.reshape(g, {rows.count});
  else
    g = r.reshape(g, {1});
  if (reduction == kMean) g = r.op("Div", {g, r.reshape(r.cast(r.in("totalWeight"), type), {1})});
  const Value zero = r.constant(type, 0);
  const Value each = r.op("Where", {to.counted, r.op("Neg", {r.op("Mul", {g, to.weights})}), zero});
  const Value made =
      r.op("ScatterElements",
           {r.filled(type, {rows.count, rows.classes}, 0), r.reshape(to.classes, {rows.count, 1}),
            r.reshape(each, {rows.count, 1})},
           {{"axis", 1}});
  Shape turned;
  for (int64_t axis : rows.order) turned.push_back(rows.shape[static_cast<size_t>(axis)]);
  r.out("out", r.transpose(r.reshape(made, turned), rows.back));
}

const Row kRows[] = {
    {"aclnnNLLLoss2d", nll},
    {"aclnnNLLLoss2dBackward", nll_gradient},
};

}  // namespace

}  // namespace class_loss

std::span<const Row> class_loss_rows() { return class_loss::kRows; }

}  // namespace anynpu::aclnn
