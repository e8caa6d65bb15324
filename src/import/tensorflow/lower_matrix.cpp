// SPDX-License-Identifier: Apache-2.0
// Matrix products.
#include <numeric>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

ValueId swap_last_axes(Builder& b, ValueId x) {
  if (!b.has_rank(x, "a matrix", 2)) return kNoValue;
  Ints order(static_cast<size_t>(b.rank(x)));
  std::iota(order.begin(), order.end(), int64_t{0});
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return b.transpose(x, order);
}

// Types that MatMul has no kernels for are multiplied as wider ones.
ValueId product(Builder& b, ValueId x, ValueId y) {
  const DType type = b.dtype(x);
  if (type != DType::i16 && type != DType::u16) return b.node("MatMul", 13, {x, y});
  return b.cast(b.node("MatMul", 13, {b.cast(x, DType::i32), b.cast(y, DType::i32)}), type);
}

}  // namespace

void lower_matmul(Builder& b) {
  const bool left = b.flag("transpose_a", false), right = b.flag("transpose_b", false);
  ValueId x = b.in(0), y = b.in(1);
  if (left) x = swap_last_axes(b, x);
  if (right) y = swap_last_axes(b, y);
  b.out(0, product(b, x, y));
}

void lower_batch_matmul(Builder& b) {
  const bool left = b.flag("adj_x", false), right = b.flag("adj_y", false);
  ValueId x = b.in(0), y = b.in(1);
  const DType wanted = b.type("Tout", b.dtype(x));
  if (wanted != b.dtype(x)) x = b.cast(x, wanted);
  if (wanted != b.dtype(y)) y = b.cast(y, wanted);
  if (left) x = swap_last_axes(b, x);
  if (right) y = swap_last_axes(b, y);
  b.out(0, product(b, x, y));
}

}  // namespace anynpu::tensorflow
