// SPDX-License-Identifier: Apache-2.0
// Losses of sequences (CTC) and of several labels of a row.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace sequence_loss {

namespace {

// Batches may lack their axis: [T, C].
Value steps_of(Recipe& r, DType type) {
  const Value x = r.cast(r.in("logProbs"), type);
  const Shape shape = r.shape("logProbs");
  if (shape.size() == 3) return x;
  if (shape.size() != 2) {
    refuse("logProbs has the shape {}; expected [T, N, C] or [T, C]", to_string(shape));
  }
  return r.reshape(x, {shape[0], 1, shape[1]});
}

// The forward sums may have more columns than the longest target needs.
int64_t states_of(Recipe& r, Param sums) {
  const int64_t columns = r.shape(sums).empty() ? 0 : r.shape(sums).back();
  if (columns < 1)
    refuse("the sums of {} have the shape {}; expected [N, T, 2 S + 1]", r.row().name,
           to_string(r.shape(sums)));
  return columns % 2 == 1 ? columns : columns - 1;
}

void ctc(Recipe& r) {
  const DType type = computed_in(r.dtype("logProbs"));
  const int64_t states = states_of(r, "logAlphaOut");
  const auto made = r.ops("CtcLoss", {steps_of(r, type), r.in("targets")}, 2,
                          {{"input_lengths", r.ints("inputLengths")},
                           {"target_lengths", r.ints("targetlengths")},
                           {"blank", r.integer("blank")},
                           {"states", states},
                           {"zero_infinity", r.flag("zeroInfinity")}});
  r.out("negLogLikelihoodOut", r.reshape(made[0], r.shape("negLogLikelihoodOut")));
  Value sums = made[1];
  const int64_t more = r.shape("logAlphaOut").back() - states;
  if (more > 0) {
    const Shape shape = r.shape(sums);
    sums = r.op("Concat", {sums, r.filled(type, {shape[0], shape[1], more}, 0)}, {{"axis", 2}});
  }
  r.out("logAlphaOut", r.reshape(sums, r.shape("logAlphaOut")));
}

void ctc_gradient(Recipe& r) {
  const DType type = computed_in(r.dtype("logProbs"));
  const Value x = steps_of(r, type);
  const Value share = r.cast(r.in("gradOut"), type);
  const Value made =
      r.op("CtcLossGrad",
           {x, r.in("targets"),
            r.expand(r.reshape(share, {r.tensor("gradOut").count()}), {r.shape(x)[1]})},
           {{"input_lengths", r.ints("inputLengths")},
            {"target_lengths", r.ints("targetLengths")},
            {"blank", r.integer("blank")},
            {"states", states_of(r, "logAlpha")},
            {"zero_infinity", r.flag("zeroInfinity")}});
  r.out("out", r.reshape(made, r.shape("out")));
}

// One row, or rows; `reduction` is 0 none, 1 mean, 2 sum.
void multilabel(Recipe& r) {
  const DType type = computed_in(r.dtype("self"));
  const int64_t count = r.tensor("self").count(), reduction = r.integer("reduction");
  const Shape shape = r.shape("self");
  const int64_t classes = shape.empty() ? 1 : shape.back();
  const int64_t rows = shape.size() == 2 ? shape[0] : 1;
  if (shape.size() > 2) refuse("self has the shape {}; expected [N, C] or [C]", to_string(shape));
  if (count == 0) return r.out("out", r.filled(type, r.shape("out"), 0));
  const auto made = r.ops("MultilabelMarginLoss",
                          {r.reshape(r.cast(r.in("self"), type), {rows, classes}),
                           r.reshape(r.cast(r.in("target"), DType::i64), {rows, classes})},
                          2);
  r.out_if("isTarget", r.reshape(made[1], r.shape("isTarget")));
  Value loss = made[0];
  if (reduction != 0) {
    loss = r.op(reduction == 1 ? "ReduceMean" : "ReduceSum", {loss}, {{"keepdims", 0}});
  }
  r.out("out", r.reshape(loss, r.shape("out")));
}

const Row kRows[] = {
    {"aclnnCtcLoss", ctc},
    {"aclnnCtcLossBackward", ctc_gradient},
    {"aclnnMultilabelMarginLoss", multilabel},
};

}  // namespace

}  // namespace sequence_loss

std::span<const Row> sequence_loss_rows() { return sequence_loss::kRows; }

}  // namespace anynpu::aclnn
