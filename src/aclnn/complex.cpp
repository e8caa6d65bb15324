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

void shift_by(Recipe& r) {
  const DType type = r.dtype(0);
  r.out("out", r.op("BitShift", {r.in(0), r.number("shiftBits", type)}, {{"direction", "LEFT"}}));
}

// Of complex numbers the first of two.
void real_part(Recipe& r) {
  const Value x = r.in("self");
  if (!is_complex(r.dtype(x))) return r.out("out", x);
  Shape pair = r.shape(x), one = pair;
  one.push_back(1);
  pair.push_back(2);
  const Value parts = r.reinterpret(r.reshape(x, one), r.dtype("out"));
  r.out("out",
        r.reshape(r.slice(parts, static_cast<int64_t>(one.size()) - 1, 0, 1), r.shape("self")));
}

const Row kRows[] = {
    {"aclnnComplex", to_complex, "", false, 0},
    {"aclnnPolar", to_complex, "", false, 1},
    {"aclnnAngleV2", angle, "", true},
    {"aclnnLeftShift", shift, "LEFT", true},
    {"aclnnRightShift", shift, "RIGHT", true},
    {"aclnnLeftShifts", shift_by, "", true},
    {"aclnnReal", real_part},
};

}  // namespace

}  // namespace complex

std::span<const Row> complex_rows() { return complex::kRows; }

}  // namespace anynpu::aclnn
