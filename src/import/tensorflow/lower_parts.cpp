// SPDX-License-Identifier: Apache-2.0
// Offsets, numbers in a row, turned tensors.
#include <algorithm>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

void lower_parallel_concat(Builder& b) { b.out(0, concat(b, b.all_inputs(), 0)); }

// Where each part begins in the joined tensor.
void lower_concat_offset(Builder& b) {
  const int64_t axis = b.in_value(0);
  int64_t sum = 0;
  for (size_t i = 1; i < b.input_count() && b.ok(); ++i) {
    const Ints extents = b.in_values(i);
    if (!b.ok()) return;
    const int64_t at = b.axis(axis, static_cast<int64_t>(extents.size()));
    if (!b.ok()) return;
    Ints offset(extents.size(), 0);
    offset[static_cast<size_t>(at)] = sum;
    sum += extents[static_cast<size_t>(at)];
    b.out(i - 1, b.cast(b.list(offset), b.dtype(b.in(i))));
  }
}

// The shape that two shapes broadcast to, of run-time values.
void lower_broadcast_args(Builder& b) {
  ValueId x = b.in(0), y = b.in(1);
  if (!b.need_fixed(x, "the first shape") || !b.need_fixed(y, "the second shape")) return;
  const int64_t more = b.shape(x)[0] - b.shape(y)[0];
  ValueId& shorter = more > 0 ? y : x;
  if (more != 0) {
    const ValueId ones = b.filled(b.dtype(x), {std::abs(more)}, 1);
    shorter = concat(b, {ones, shorter}, 0);
  }
  const ValueId one = b.node("Equal", 13, {x, b.scalar(b.dtype(x), 1)});
  b.out(0, b.node("Where", 16, {one, y, x}));
}

// The axes along which the gradients of two broadcast tensors are summed: those where a tensor has
// one element. Equal shapes were not broadcast.
void lower_broadcast_gradient_args(Builder& b) {
  const DType type = b.dtype(b.in(0));
  ValueId shapes[] = {b.in_row(0), b.in_row(1)};
  for (ValueId shape : shapes) {
    if (!b.need_fixed(shape, "a shape")) return;
  }
  const int64_t rank = std::max(b.shape(shapes[0])[0], b.shape(shapes[1])[0]);
  for (ValueId& shape : shapes) {
    const int64_t more = rank - b.shape(shape)[0];
    if (more > 0) shape = concat(b, {b.filled(DType::i64, {more}, 1), shape}, 0);
  }
  const ValueId same = b.cast(b.node("Equal", 13, {shapes[0], shapes[1]}), DType::i32);
  const ValueId all =
      rank == 0
          ? b.scalar(DType::boolean, 1)
          : b.cast(b.node("ReduceMin", 18, {same}, {{"keepdims", int64_t{0}}}), DType::boolean);
  for (size_t i = 0; i < 2 && b.ok(); ++i) {
    const ValueId one = b.node("Equal", 13, {shapes[i], b.whole(DType::i64, 1)});
    const ValueId summed = b.node("And", 7, {one, b.node("Not", 1, {all})});
    b.out(i, b.cast(b.reshape(b.node("NonZero", 13, {summed}), {-1}), type));
  }
}

void lower_lin_space(Builder& b) {
  const ValueId start = b.in(0), stop = b.in(1);
  const int64_t count = b.in_value(2);
  if (!b.ok()) return;
  if (count < 1) return b.refuse(Code::invalid_argument, "num is {}; expected at least 1", count);
  const DType type = b.dtype(start);
  const ValueId from = b.cast(start, DType::f64), to = b.cast(stop, DType::f64);
  std::vector<double> parts(static_cast<size_t>(count), 0.0);
  for (size_t i = 1; i < parts.size(); ++i)
    parts[i] = static_cast<double>(i) / static_cast<double>(count - 1);
  const ValueId share = b.constant(DType::f64, {count}, graph::constant_of(parts));
  b.out(0, b.cast(add(b, from, mul(b, sub(b, to, from), share)), type));
}

void lower_roll(Builder& b) {
  ValueId x = b.in(0);
  const Ints shifts = b.in_values(1), axes = b.in_values(2);
  if (!b.need_fixed(x, "the tensor")) return;
  for (size_t i = 0; i < std::min(shifts.size(), axes.size()) && b.ok(); ++i) {
    const int64_t axis = b.axis_of(axes[i], x);
    if (!b.ok()) return;
    const int64_t extent = b.shape(x)[static_cast<size_t>(axis)];
    if (extent == 0) continue;
    const int64_t shift = ((shifts[i] % extent) + extent) % extent;
    if (shift == 0) continue;
    x = concat(b, {b.slice(x, axis, extent - shift, kToEnd), b.slice(x, axis, 0, extent - shift)},
               axis);
  }
  b.out(0, x);
}

void lower_empty(Builder& b) {
  const DType type = b.type("dtype", DType::f32);
  const Ints extents = b.in_values(0);
  if (b.ok()) b.out(0, b.filled(type, extents, 0));
}

}  // namespace anynpu::tensorflow
