// SPDX-License-Identifier: Apache-2.0
// Complex numbers from real ones, and bits moved.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace complex {

namespace {

// Parts or (number 1) absolute value and angle.
void to_complex(Recipe& r) {
  const DType type = r.dtype("out") == DType::c128 ? DType::f64 : DType::f32;
  r.out("out", r.op("ToComplex", {r.cast(r.in(0), type), r.cast(r.in(1), type)},
                    {{"polar", r.row().number}}));
}

// Of real numbers: 0, or pi of negative ones.
void angle(Recipe& r) { r.out("out", r.op("Angle", {r.cast(r.in(0), floating(r.dtype(0)))})); }

void shift(Recipe& r) {
  const DType type = promote(r.dtype(0), r.dtype(1));
  r.out("out", r.op("BitShift", {r.cast(r.in(0), type), r.cast(r.in(1), type)},
                    {{"direction", r.row().op}}));
}

const Row kRows[] = {
    {"aclnnComplex", to_complex, "", false, 0},
    {"aclnnPolar", to_complex, "", false, 1},
    {"aclnnAngleV2", angle, "", true},
    {"aclnnLeftShift", shift, "LEFT", true},
    {"aclnnRightShift", shift, "RIGHT", true},
};

}  // namespace

}  // namespace complex

std::span<const Row> complex_rows() { return complex::kRows; }

}  // namespace anynpu::aclnn
