// SPDX-License-Identifier: Apache-2.0
// Softmax, its logarithm and their gradients.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

// number: of a scalar.
void softmax(Recipe& r) {
  const Value self = r.cast(r.in("self"), floating(r.dtype("out")));
  const size_t rank = r.rank("self");
  if (rank == 0) {
    return r.out("out", r.filled(r.dtype(self), {}, static_cast<double>(r.row().number)));
  }
  r.out("out", r.op(r.row().op, {self}, {{"axis", r.axis("dim", rank)}}));
}

// y * (grad - sum(grad * y)), or grad - exp(y) * sum(grad) of the logarithm.
void backward(Recipe& r) {
  const DType type = computed_in(promote(r.dtype("gradOutput"), r.dtype("output")));
  const Value grad = r.cast(r.in("gradOutput"), type), y = r.cast(r.in("output"), type);
  const size_t rank = r.rank("output");
  const bool log = r.row().number != 0;
  const auto sum = [&](Value x) {
    if (rank == 0) return x;
    return r.op("ReduceSum", {x, r.constant({r.axis("dim", rank)})}, {{"keepdims", 1}});
  };
  if (log) {
    const Value taken = r.op("Mul", {r.op("Exp", {y}), sum(grad)});
    return r.out("out", r.op("Sub", {grad, taken}));
  }
  const Value total = sum(r.op("Mul", {grad, y}));
  r.out("out", r.op("Mul", {y, r.op("Sub", {grad, total})}));
}

const Row kRows[] = {
    {"aclnnSoftmax", softmax, "Softmax", false, 1},
    {"aclnnLogSoftmax", softmax, "LogSoftmax", false, 0},
    {"aclnnSoftmaxBackward", backward},
    {"aclnnLogSoftmaxBackward", backward, "", false, 1},
};

}  // namespace

std::span<const Row> softmax_rows() { return kRows; }

}  // namespace anynpu::aclnn
