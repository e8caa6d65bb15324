// SPDX-License-Identifier: Apache-2.0
// CTCGreedyDecoder: the best label of each step, without blanks and, if asked for, repetitions.
// CTCLoss. EditDistance, which measures decoded labels against the truth.
#include <algorithm>
#include <limits>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

// inputs (time, batch, labels) and the length of each sequence -> places (row, column) of the
// labels in a matrix, the labels, the extents of the matrix, and the sum of the negated best
// inputs.
void lower_ctc_greedy(Builder& b) {
  const ValueId x = b.in(0), lengths = b.index(b.in(1));
  const bool merge = b.flag("merge_repeated", false);
  int64_t blank = b.i("blank_index", -1);
  if (!b.need_fixed(x, "the inputs") || !b.has_rank(x, "the inputs", 3, 3)) return;
  const int64_t steps = b.shape(x)[0], batch = b.shape(x)[1], labels = b.shape(x)[2];
  if (blank < 0) blank += labels;
  if (steps < 1 || blank < 0 || blank >= labels) {
    return b.refuse(
        Code::invalid_argument,
        "it has {} steps, {} labels and the blank {}; expected a step and a blank among "
        "the labels",
        steps, labels, blank);
  }
  const NodeAttrs drop{{"keepdims", int64_t{0}}};
  const ValueId by_row = b.transpose(x, {1, 0, 2});
  const ValueId best =
      b.node("ArgMax", 13, {by_row}, {{"axis", int64_t{2}}, {"keepdims", int64_t{0}}});
  Ints numbers;
  for (int64_t t = 0; t < steps; ++t) numbers.push_back(t);
  const ValueId inside = b.node("Less", 13, {b.list(numbers), b.unsqueeze(lengths, {1})});
  const ValueId other = b.node("Not", 1, {b.node("Equal", 13, {best, b.whole(DType::i64, blank)})});
  ValueId kept = b.node("And", 7, {inside, other});
  if (merge) {
    const ValueId none = b.filled(DType::i64, {batch, 1}, -1);
    const ValueId before =
        b.node("Concat", 13, {none, b.slice(best, 1, 0, steps - 1)}, {{"axis", int64_t{1}}});
    kept = b.node("And", 7, {kept, b.node("Not", 1, {b.node("Equal", 13, {best, before})})});
  }
  const KeptElements made = kept_elements(b, kept);
  b.out(0, made.indices);
  b.out(1, b.reshape(b.node("GatherND", 13, {best, made.places}), {-1}));
  b.out(2, b.node("Concat", 13, {b.list({batch}), made.widest}, {{"axis", int64_t{0}}}));
  const ValueId most = b.node("ReduceMax", 18, {by_row, b.list({2})}, drop);
  const ValueId counted = b.node("Where", 16, {inside, most, b.scalar(b.dtype(x), 0)});
  const ValueId sum = b.node("ReduceSum", 13, {counted, b.list({1})}, {{"keepdims", int64_t{1}}});
  b.out(3, b.node("Neg", 13, {sum}));
}

// inputs (time, batch, labels), the labels of each sequence as a sparse constant, and the lengths,
// which may come from the run: behind the end of a sequence nothing but the blank follows, which
// leaves its loss as it is. The blank is the last label.
void lower_ctc_loss(Builder& b) {
  const ValueId x = b.in(0);
  const Ints places = b.in_values(1), labels = b.in_values(2);
  const ValueId lengths = b.index(b.in(3));
  if (!b.need_fixed(x, "the inputs") || !b.has_rank(x, "the inputs", 3, 3)) return;
  const int64_t steps = b.shape(x)[0], batch = b.shape(x)[1], classes = b.shape(x)[2];
  const bool merges = b.flag("ctc_merge_repeated", true);
  const bool collapses = b.flag("preprocess_collapse_repeated", false);
  if (collapses || !merges) {
    return b.refuse(Code::unsupported_feature,
                    "preprocess_collapse_repeated is {} and ctc_merge_repeated {}; expected false "
                    "and true",
                    collapses, merges);
  }
  Ints counts(static_cast<size_t>(batch), 0), targets;
  for (size_t i = 0; i < labels.size(); ++i) {  // ordered by sequence, then by place
    const int64_t row = 2 * i < places.size() ? places[2 * i] : -1;
    if (row < 0 || row >= batch || labels[i] < 0 || labels[i] >= classes - 1) {
      return b.refuse(Code::invalid_argument,
                      "label {} of sequence {} is one of {} labels and {} sequences; expected one "
                      "below the blank, which is the last",
                      labels[i], row, classes, batch);
    }
    ++counts[static_cast<size_t>(row)];
    targets.push_back(labels[i]);
  }
  Ints numbers;
  for (int64_t t = 0; t < steps; ++t) numbers.push_back(t);
  const ValueId inside = b.node(
      "Less", 13, {b.reshape(b.list(numbers), {steps, 1, 1}), b.reshape(lengths, {1, batch, 1})});
  std::vector<float> blank(static_cast<size_t>(classes), -std::numeric_limits<float>::infinity());
  if (!blank.empty()) blank.back() = 0;
  const ValueId rest =
      b.cast(b.constant(DType::f32, {classes}, graph::constant_of(blank)), b.dtype(x));
  const ValueId chances = b.node("LogSoftmax", 13, {x}, {{"axis", int64_t{2}}});
  const int64_t longest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  const auto made = b.nodes("anynpu.CtcLoss", 1,
                            {b.node("Where", 16, {inside, chances, rest}), b.list(targets)}, 1,
                            {{"input_lengths", Ints(static_cast<size_t>(batch), steps)},
                             {"target_lengths", counts},
                             {"blank", classes - 1},
                             {"states", 2 * longest + 1}});
  b.out(0, made[0]);
}

// The sequences of two sparse tensors lie along the last axis; the result has the other axes, as
// many of each as the larger of both tensors has.
void lower_edit_distance(Builder& b) {
  const bool normalize = b.flag("normalize", true);
  const ValueId places = b.index(b.in(0));
  const ValueId extents = b.node("Max", 13, {b.in_row(2), b.in_row(5)});
  if (!b.ok() || !b.need_fixed(extents, "the shape of the sparse tensors")) return;
  const int64_t rank = b.shape(extents)[0];
  if (rank < 2)
    return b.refuse(Code::invalid_argument,
                    "its sparse tensors have {} axes; expected sequences along the last of at "
                    "least 2",
                    rank);
  const ValueId rows = b.slice(extents, 0, 0, rank - 1);
  const auto lengths = [&](ValueId of) {
    const ValueId count = b.slice(b.shape_of(of), 0, 0, 1);
    return b.node("ScatterND", 16,
                  {zeros_of(b, DType::i64, rows), b.slice(of, 1, 0, rank - 1),
                   b.node("Expand", 13, {b.whole(DType::i64, 1), count})},
                  {{"reduction", std::string("add")}});
  };
  const DType type = b.dtype(b.in(1));
  const DType compared = is_floating(type) ? DType::f64 : DType::i64;
  b.out(0, b.node("anynpu.EditDistance", 1,
                  {b.cast(b.in(1), compared), lengths(places), b.cast(b.in(4), compared),
                   lengths(b.index(b.in(3)))},
                  {{"normalize", int64_t{normalize}}}));
}

}  // namespace anynpu::tensorflow
