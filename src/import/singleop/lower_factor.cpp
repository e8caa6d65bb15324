// SPDX-License-Identifier: Apache-2.0
// Solutions and factors of matrices from reflections and triangles, one column at a time.
#include <algorithm>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

constexpr int64_t kMostColumns = 128;  // nodes are made for each

// Which rows of a column are marked: those that `inside` takes.
template <typename Inside>
ValueId row_mask(Builder& b, ValueId like, int64_t rows, const Inside& inside) {
  std::vector<float> marks;
  for (int64_t i = 0; i < rows; ++i) marks.push_back(inside(i) ? 1.0f : 0.0f);
  return b.cast(b.table({rows, 1}, marks), b.dtype(like));
}

ValueId column_of(Builder& b, ValueId x, int64_t at) {
  return b.node("Slice", 13, {x, b.list({at}), b.list({at + 1}), b.list({1})});
}

ValueId matrix_product(Builder& b, ValueId x, ValueId y) { return b.node("MatMul", 13, {x, y}); }

bool small_matrix(Builder& b, ValueId x) {
  if (!b.has_rank(x, "x", 2, 2)) return false;
  if (std::min(b.shape(x)[0], b.shape(x)[1]) <= kMostColumns) return true;
  b.refuse(Code::unsupported_shape, "x has the shape {}, expected at most {} rows or columns",
           to_string(b.shape(x)), kMostColumns);
  return false;
}

}  // namespace

// Right sides and the Cholesky factor of a matrix -> the solutions.
void lower_cholesky_solve(Builder& b) {
  const bool upper = b.flag("upper", false);
  const ValueId factor = b.in(1);
  const auto solved = [&](ValueId right, bool turned) {
    return b.node(
        "anynpu.TriangularSolve", 1, {right, factor},
        {{"upper", int64_t{upper}}, {"transpose", int64_t{turned}}, {"unit", int64_t{0}}});
  };
  b.out(0, solved(solved(b.in(0), upper), !upper));
}

// A matrix -> its upper factor with the reflections below it, and how far each reflects.
void lower_geqrf(Builder& b) {
  ValueId x = b.in(0);
  if (!small_matrix(b, x)) return;
  const int64_t rows = b.shape(x)[0], columns = b.shape(x)[1], count = std::min(rows, columns);
  ValueId below_all = b.filled(b.dtype(x), {rows, columns}, 0);
  std::vector<ValueId> reach;
  for (int64_t i = 0; i < count && b.ok(); ++i) {
    const ValueId below = row_mask(b, x, rows, [&](int64_t r) { return r > i; });
    const ValueId unit = row_mask(b, x, rows, [&](int64_t r) { return r == i; });
    const ValueId line = column_of(b, x, i), under = mul(b, line, below);
    const ValueId top = sum(b, mul(b, line, unit), {0, 1}, true);
    const ValueId squares = sum(b, mul(b, under, under), {0, 1}, true);
    const ValueId zero = number(b, x, 0), one = number(b, x, 1);
    const ValueId length = b.node("Sqrt", 13, {add(b, squares, mul(b, top, top))});
    const ValueId none = b.node("Equal", 13, {squares, zero});
    const ValueId other =
        b.node("Where", 16, {b.node("Less", 13, {top, zero}), length, b.node("Neg", 13, {length})});
    const ValueId safe = b.node("Where", 16, {none, one, other});
    const ValueId tau = b.node("Where", 16, {none, zero, div(b, sub(b, safe, top), safe)});
    const ValueId gap = b.node("Where", 16, {none, one, sub(b, top, other)});
    const ValueId tail = div(b, under, gap), v = add(b, tail, unit);
    x = sub(b, x, mul(b, tau, matrix_product(b, v, matrix_product(b, b.transpose(v, {1, 0}), x))));
    std::vector<float> here(static_cast<size_t>(columns), 0);
    here[static_cast<size_t>(i)] = 1;
    below_all = add(b, below_all, mul(b, tail, b.cast(b.table({1, columns}, here), b.dtype(tail))));
    reach.push_back(b.reshape(tau, {1}));
  }
  const ValueId upper = b.node("Trilu", 14, {x, kNoValue}, {{"upper", int64_t{1}}});
  b.out(0, add(b, upper, below_all));
  b.out(1, reach.empty() ? b.filled(DType::f32, {0}, 0)
                         : b.node("Concat", 13, reach, {{"axis", int64_t{0}}}));
}

// Reflections below the diagonal and how far each reflects -> the first columns of their product.
void lower_orgqr(Builder& b) {
  const ValueId x = b.in(0), reach = b.in(1);
  if (!small_matrix(b, x) || !b.has_rank(reach, "tau", 1, 1)) return;
  const int64_t rows = b.shape(x)[0], columns = b.shape(x)[1], count = b.shape(reach)[0];
  if (count > columns || columns > rows) {
    return b.refuse(Code::unsupported_shape,
                    "x has the shape {} and tau {} numbers; expected at most one a column, and "
                    "no more columns than rows",
                    to_string(b.shape(x)), count);
  }
  ValueId q = b.node("EyeLike", 9, {b.filled(b.dtype(x), {rows, columns}, 0)});
  for (int64_t i = count; i-- > 0 && b.ok();) {
    const ValueId below = row_mask(b, x, rows, [&](int64_t r) { return r > i; });
    const ValueId unit = row_mask(b, x, rows, [&](int64_t r) { return r == i; });
    const ValueId v = add(b, mul(b, column_of(b, x, i), below), unit);
    const ValueId tau = b.node("Slice", 13, {reach, b.list({i}), b.list({i + 1}), b.list({0})});
    q = sub(b, q, mul(b, tau, matrix_product(b, v, matrix_product(b, b.transpose(v, {1, 0}), q))));
  }
  b.out(0, q);
}

}  // namespace anynpu::singleop
