// SPDX-License-Identifier: Apache-2.0
// Sorting, running results, diagonals and decompositions.
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

}  // namespace

void lower_sort(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t axis = b.axis(b.i("axis", -1), x);
  const int64_t extent = b.rank(x) == 0 ? 1 : b.shape(x)[static_cast<size_t>(axis)];
  const auto made = b.nodes(
      "TopK", 11, {x, b.list({extent})}, 2,
      {{"axis", axis}, {"largest", int64_t{b.flag("descending", false)}}, {"sorted", int64_t{1}}});
  b.out(0, made[0]);
  b.out(1, made[1], Type::any);
}

// Largest or smallest so far, and where it was found.
void lower_running_extreme(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t axis = b.axis(b.has_attr("dim") ? b.i("dim") : b.i("axis", 0), x);
  const auto made = b.nodes("anynpu.CumExtreme", 1, {x}, 2,
                            {{"axis", axis}, {"largest", int64_t{b.type() == "Cummax"}}});
  b.out(0, made[0]);
  b.out(1, made[1], Type::any);
}

void lower_running_product(Builder& b) {
  const ValueId axis =
      b.type() == "CumprodD" ? b.list({b.axis(b.i("axis"), b.in(0))}) : b.in_row(1);
  if (!b.has_count(axis, "the axis", 1)) return;
  b.out(0, b.node("CumProd", 26, {b.in(0), axis},
                  {{"exclusive", int64_t{b.flag("exclusive", false)}},
                   {"reverse", int64_t{b.flag("reverse", false)}}}));
}

// A tensor as the diagonal of one with twice the axes.
void lower_diagonal(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const Shape shape = b.shape(x);
  const int64_t count = element_count(shape);
  const ValueId rows = b.node("EyeLike", 9, {b.filled(DType::f32, {count, count}, 0)});
  const ValueId on = b.cast(rows, DType::boolean);
  const ValueId made = b.node("Where", 16, {on, b.reshape(x, {1, count}), b.scalar(b.dtype(x), 0)});
  Shape wide = shape;
  wide.insert(wide.end(), shape.begin(), shape.end());
  b.out(0, b.reshape(made, wide));
}

// The diagonal of a tensor whose second half of axes repeats the first, and its sum.
void lower_diagonal_part(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "x", 2)) return;
  const Shape shape = b.shape(x);
  const bool trace = b.type() == "Trace";
  const size_t half = shape.size() / 2;
  const Shape first(shape.begin(), shape.begin() + static_cast<int64_t>(half)),
      second(shape.begin() + static_cast<int64_t>(half), shape.end());
  const int64_t rows = element_count(first), columns = element_count(second);
  if (!trace && (shape.size() % 2 != 0 || first != second)) {
    return b.refuse(Code::unsupported_shape,
                    "x has the shape {}, expected the second half of the axes to repeat "
                    "the first",
                    to_string(shape));
  }
  std::vector<int64_t> places;
  for (int64_t i = 0; i < std::min(rows, columns); ++i) places.push_back(i * columns + i);
  const ValueId part = b.node("Gather", 13, {b.reshape(x, {rows * columns}), b.list(places)},
                              {{"axis", int64_t{0}}});
  if (!trace) return b.out(0, b.reshape(part, first));
  b.out(0, b.node("ReduceSum", 13, {part, b.list({0})}, {{"keepdims", int64_t{0}}}));
}

// Standard deviation and mean.
void lower_deviation(Builder& b) {
  const ValueId given = b.in(0), x = widened(b, given);
  if (!b.ok()) return;
  auto axes = b.axes(b.ints("dim", {}), x);
  const bool all = axes.empty();
  for (int64_t axis = 0; all && axis < b.rank(x); ++axis) axes.push_back(axis);
  double count = 1;
  for (const int64_t axis : axes)
    count *= static_cast<double>(b.shape(x)[static_cast<size_t>(axis)]);
  const bool keep = b.flag("keepdim", false);
  const ValueId list = b.list(axes);
  const ValueId mean = b.node("ReduceMean", 18, {x, list}, {{"keepdims", int64_t{1}}});
  const ValueId away = sub(b, x, mean);
  const ValueId sum =
      b.node("ReduceSum", 13, {mul(b, away, away), list}, {{"keepdims", int64_t{keep}}});
  const double by = b.flag("unbiased", true) ? count - 1 : count;
  b.out(0, b.cast(b.node("Sqrt", 13, {div(b, sum, b.scalar(b.dtype(x), by))}), b.dtype(given)));
  const ValueId small =
      keep ? mean : b.node("ReduceMean", 18, {x, list}, {{"keepdims", int64_t{0}}});
  b.out(1, b.cast(small, b.dtype(given)));
}

void lower_inverse(Builder& b) {
  b.out(0,
        b.node("anynpu.Inverse", 1, {b.in(0)}, {{"adjoint", int64_t{b.flag("adjoint", false)}}}));
}

void lower_qr(Builder& b) {
  const auto made = b.nodes("anynpu.Qr", 1, {b.in(0)}, 2,
                            {{"complete", int64_t{b.flag("full_matrices", false)}}});
  b.out(0, made[0]);
  b.out(1, made[1]);
}

// Singular values, and with compute_uv the vectors: s, u, v.
void lower_svd(Builder& b) {
  const auto made =
      b.nodes("anynpu.Svd", 1, {b.in(0)}, 3, {{"full", int64_t{b.flag("full_matrices", false)}}});
  b.out(0, made[1]);
  if (!b.flag("compute_uv", true)) {
    // Vectors that are described all the same are one element, which nobody reads.
    for (size_t o = 1; b.ok() && o < b.output_count(); ++o)
      b.out(o, b.filled(b.dtype(made[1]), {1}, 0));
    return;
  }
  b.out(1, made[0]);
  b.out(2, made[2]);
}

}  // namespace anynpu::singleop
