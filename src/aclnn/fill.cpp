// SPDX-License-Identifier: Apache-2.0
// Tensors of one number, and numbers in a row.
#include <cmath>

#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace {

void fill_scalar(Recipe& r) {
  const TensorView& self = r.tensor("selfRef");
  r.out("selfRef", r.expand(r.number("value", self.dtype), self.shape.shape()));
}

// With the number that the row says.
void fill_constant(Recipe& r) {
  const TensorView& self = r.tensor("selfRef");
  r.out("selfRef", r.filled(self.dtype, self.shape.shape(),
                            static_cast<double>(r.row().number)));
}

// start, start + step, ... in the type of the output.
void arange(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  const auto length = static_cast<int64_t>(r.tensor("out").count());
  const double start = r.scalar("start").real(), end = r.scalar("end").real(),
               step = r.scalar("step").real();
  if (step == 0 || (end - start) / step < 0) {
    refuse("start is {}, end {}, step {}; expected a step towards the end", start, end, step);
  }
  const DType counted = is_floating(type) ? DType::f64 : DType::i64;
  const Value index = r.op("Range", {r.constant(DType::i64, 0), r.constant(DType::i64, length * 1.0),
                                     r.constant(DType::i64, 1)});
  const Value scaled =
      r.op("Mul", {r.cast(index, counted), r.number("step", counted)});
  const Value moved = r.op("Add", {scaled, r.number("start", counted)});
  r.out("out", r.reshape(r.cast(moved, type), r.shape("out")));
}

const Row kRows[] = {
    {"aclnnInplaceFillScalar", fill_scalar},
    {"aclnnInplaceZero", fill_constant, "", false, 0},
    {"aclnnInplaceOne", fill_constant, "", false, 1},
    {"aclnnArange", arange},
};

}  // namespace

std::span<const Row> fill_rows() { return kRows; }

}  // namespace anynpu::aclnn
