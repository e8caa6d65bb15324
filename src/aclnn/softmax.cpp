// SPDX-License-Identifier: Apache-2.0
// Softmax and its kin.
#include "aclnn/recipe.h"

namespace anynpu::aclnn {

namespace {

void softmax(Recipe& r) {
  const Value self = r.cast(r.in("self"), floating(r.dtype("out")));
  if (r.rank("self") == 0) return r.out("out", r.filled(r.dtype(self), {}, r.row().number != 0));
  r.out("out", r.op(r.row().op, {self}, {{"axis", r.axis("dim", r.rank("self"))}}));
}

const Row kRows[] = {
    {"aclnnSoftmax", softmax, "Softmax", false, 1},
    {"aclnnLogSoftmax", softmax, "LogSoftmax", false, 0},
};

}  // namespace

std::span<const Row> softmax_rows() { return kRows; }

}  // namespace anynpu::aclnn
