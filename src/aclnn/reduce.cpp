// SPDX-License-Identifier: Apache-2.0
// Sums and other reductions over axes.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// aclnnReduceSum(self, dims, keepDims, dtype, out): integers are summed in the type of the output.
void reduce_sum(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  const auto axes = r.axes("dims", r.rank("self"));
  const Value self = r.cast(r.in("self"), type);
  if (axes.empty()) return r.out("out", self);
  r.out("out", r.op("ReduceSum", {self, r.constant(axes)}, {{"keepdims", r.flag("keepDims")}}));
}

const Row kRows[] = {
    {"aclnnReduceSum", reduce_sum},
};

}  // namespace

std::span<const Row> reduce_rows() { return kRows; }

}  // namespace anynpu::aclnn
