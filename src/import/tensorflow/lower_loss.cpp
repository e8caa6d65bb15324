// SPDX-License-Identifier: Apache-2.0
// Losses of logits with their gradients, and sums over all but the channels.
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

// Outputs: the loss of each row, and softmax - labels.
void lower_softmax_loss(Builder& b) {
  const ValueId logits = b.in(0), labels = b.in(1);
  if (!b.has_rank(logits, "the logits", 2, 2)) return;
  const ValueId log = b.node("LogSoftmax", 13, {logits}, {{"axis", int64_t{-1}}});
  const ValueId sum =
      b.node("ReduceSum", 13, {mul(b, labels, log), b.list({-1})}, {{"keepdims", int64_t{0}}});
  b.out(0, b.node("Neg", 13, {sum}));
  b.out(1, sub(b, b.node("Exp", 13, {log}), labels));
}

void lower_sparse_softmax_loss(Builder& b) {
  const ValueId logits = b.in(0), classes = b.index(b.in(1));
  if (!b.has_rank(logits, "the logits", 2, 2)) return;
  const ValueId log = b.node("LogSoftmax", 13, {logits}, {{"axis", int64_t{-1}}});
  const ValueId picked =
      b.node("GatherElements", 13, {log, b.unsqueeze(classes, {-1})}, {{"axis", int64_t{1}}});
  b.out(0, b.node("Neg", 13, {b.squeeze(picked, {-1})}));
  if (b.shape(logits)[1] < 0) return;
  const ValueId values = b.node(
      "Concat", 13,
      {b.reshape(b.scalar(b.dtype(logits), 0), {1}), b.reshape(b.scalar(b.dtype(logits), 1), {1})},
      {{"axis", int64_t{0}}});
  const ValueId labels = b.node("OneHot", 11, {classes, b.list({b.shape(logits)[1]}), values},
                                {{"axis", int64_t{-1}}});
  b.out(1, sub(b, b.node("Exp", 13, {log}), labels));
}

void lower_bias_grad(Builder& b) {
  const ValueId x = b.in(0);
  const bool last = b.channels_last();
  if (!b.has_rank(x, "the gradient", 2)) return;
  Ints axes;
  for (int64_t i = 0; i < b.rank(x); ++i) {
    if (i != (last ? b.rank(x) - 1 : 1)) axes.push_back(i);
  }
  b.out(0, b.node("ReduceSum", 13, {x, b.list(axes)}, {{"keepdims", int64_t{0}}}));
}

}  // namespace anynpu::tensorflow
