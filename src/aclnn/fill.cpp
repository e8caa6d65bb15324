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
  r.out("selfRef", r.filled(self.dtype, self.shape.shape(), static_cast<double>(r.row().number)));
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
  const Value index = r.op(
      "Range",
      {r.constant(DType::i64, 0), r.constant(DType::i64, length * 1.0), r.constant(DType::i64, 1)});
  const Value scaled = r.op("Mul", {r.cast(index, counted), r.number("step", counted)});
  const Value moved = r.op("Add", {scaled, r.number("start", counted)});
  r.out("out", r.reshape(r.cast(moved, type), r.shape("out")));
}

// 0, 1, 2 ... of int64.
Value counted(Recipe& r, int64_t count) {
  const auto scalar = [&](double value) { return r.constant(DType::i64, value); };
  return r.op("Range", {scalar(0), scalar(static_cast<double>(count)), scalar(1)});
}

// `steps` numbers from start to end, both among them; symmetrical from the middle, as torch does.
Value spaced(Recipe& r, int64_t steps, DType type) {
  Value start = r.number("start", type), end = r.number("end", type);
  if (is_integer(r.dtype(r.result()))) start = r.op("Trunc", {start}), end = r.op("Trunc", {end});
  if (steps == 1) return r.reshape(start, {1});
  const Value index = r.cast(counted(r, steps), type);
  const Value step =
      r.op("Div", {r.op("Sub", {end, start}), r.constant(type, static_cast<double>(steps - 1))});
  const Value from_start = r.op("Add", {start, r.op("Mul", {step, index})});
  const Value rest = r.op("Sub", {r.constant(type, static_cast<double>(steps - 1)), index});
  const Value from_end = r.op("Sub", {end, r.op("Mul", {step, rest})});
  const Value first = r.op("Less", {index, r.constant(type, static_cast<double>(steps / 2))});
  return r.op("Where", {first, from_start, from_end});
}

// number 1: the base to these powers.
void space(Recipe& r) {
  const Param out = r.result();
  const int64_t steps = r.integer("steps");
  if (steps < 0) refuse("steps is {}; expected 0 or more", steps);
  if (steps == 0) return r.out(out, r.filled(r.dtype(out), r.shape(out), 0));
  Value y = spaced(r, steps, DType::f64);
  if (r.row().number) y = r.op("Pow", {r.number("base", DType::f64), y});
  // Integers are cut, after what binary fractions lose.
  if (is_integer(r.dtype(out))) y = r.op("Trunc", {y});
  r.out(out, r.reshape(y, r.shape(out)));
}

void eye(Recipe& r) {
  const int64_t n = r.integer("n"), m = r.integer("m");
  const Value rows = r.reshape(counted(r, n), {n, 1}), columns = r.reshape(counted(r, m), {1, m});
  r.out("out", r.op("Equal", {rows, columns}));
}

// With the one element of a tensor.
void fill_tensor(Recipe& r) {
  const TensorView& self = r.tensor("selfRef");
  if (r.tensor("value").count() != 1) {
    refuse("value has {} elements; expected 1", r.tensor("value").count());
  }
  const Value value = r.reshape(r.cast(r.in("value"), self.dtype), {});
  r.out("selfRef", r.expand(value, self.shape.shape()));
}

// start, start + step ... up to end, which is among them.
void range(Recipe& r) {
  const DType type = computed_in(r.dtype("out"));
  const DType wide = is_floating(type) ? DType::f64 : DType::i64;
  const Value index = r.cast(counted(r, r.tensor("out").count()), wide);
  const Value scaled = r.op("Mul", {index, r.number("step", wide)});
  r.out("out", r.reshape(r.op("Add", {scaled, r.number("start", wide)}), r.shape("out")));
}

const Row kRows[] = {
    {"aclnnLinspace", space},
    {"aclnnLogSpace", space, "", false, 1},
    {"aclnnEye", eye},
    {"aclnnInplaceFillTensor", fill_tensor},
    {"aclnnRange", range},
    {"aclnnInplaceFillScalar", fill_scalar},
    {"aclnnInplaceZero", fill_constant, "", false, 0},
    {"aclnnInplaceOne", fill_constant, "", false, 1},
    {"aclnnArange", arange},
};

}  // namespace

std::span<const Row> fill_rows() { return kRows; }

}  // namespace anynpu::aclnn
