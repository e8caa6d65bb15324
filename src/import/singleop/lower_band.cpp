// SPDX-License-Identifier: Apache-2.0
// Diagonals and triangles of matrices, and the inverse from a triangle.
#include <utility>

#include "import/diagonals.h"
#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using diagonals::Band;

// The diagonals and their alignment, as input `at` and the attribute say.
Band read_band(Builder& b, size_t at) {
  Band band;
  const auto k = b.in_values(at);
  band.align(
      b.word("align", "RIGHT_LEFT", {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"}));
  if (!b.ok()) return band;
  if (k.empty() || k.size() > 2 || k.front() > k.back()) {
    b.refuse(Code::invalid_argument,
             "k has {} numbers, expected one, or the lowest and the highest", k.size());
    return band;
  }
  band.low = k.front(), band.high = k.back();
  return band;
}

// The last axes in one.
ValueId joined_axes(Builder& b, ValueId x, int64_t axes) {
  if (!b.ok()) return x;
  Shape shape(b.shape(x).begin(), b.shape(x).end() - axes);
  shape.push_back(element_count(Shape(b.shape(x).end() - axes, b.shape(x).end())));
  return b.reshape(x, shape);
}

// Elements of the last axis of `parts`, one behind the other, by place; then with these last axes.
ValueId gathered(Builder& b, std::vector<ValueId> parts, const std::vector<int64_t>& places,
                 Shape last) {
  const ValueId all =
      parts.size() == 1 ? parts[0] : b.node("Concat", 13, parts, {{"axis", int64_t{-1}}});
  if (!b.ok()) return all;
  Shape shape(b.shape(all).begin(), b.shape(all).end() - 1);
  shape.insert(shape.end(), last.begin(), last.end());
  return b.reshape(b.node("Gather", 13, {all, b.list(places)}, {{"axis", b.rank(all) - 1}}), shape);
}

// One column of the number that stands where no diagonal is.
ValueId padding_column(Builder& b, ValueId like, size_t input) {
  if (!b.ok()) return like;
  Shape shape = b.shape(like);
  shape.back() = 1;
  const ValueId value = b.has(input) ? b.reshape(b.in(input), {}) : b.scalar(b.dtype(like), 0);
  return b.node("Expand", 13, {value, b.list(shape)});
}

bool read_matrix(Builder& b, ValueId x, Band& band) {
  if (!b.has_rank(x, "the matrix", 2)) return false;
  band.rows = b.shape(x)[b.shape(x).size() - 2], band.columns = b.shape(x).back();
  return true;
}

}  // namespace

// Diagonals, k, rows, columns and padding -> matrices.
void lower_matrix_diag(Builder& b) {
  const ValueId x = b.in(0);
  Band band = read_band(b, 1);
  const int64_t rows = b.has(2) ? b.in_value(2) : -1, columns = b.has(3) ? b.in_value(3) : -1;
  const int64_t axes = band.count() > 1 ? 2 : 1;
  if (!b.has_rank(x, "the diagonal", axes)) return;
  const int64_t extent = b.shape(x).back();
  band.fit(extent, rows, columns);
  const ValueId packed = joined_axes(b, x, axes);
  b.out(0, gathered(b, {packed, padding_column(b, packed, 4)},
                    diagonals::places_in_diagonals(band, band.count() * extent),
                    {band.rows, band.columns}));
}

// Matrix, k and padding -> diagonals.
void lower_matrix_diag_part(Builder& b) {
  const ValueId x = b.in(0);
  Band band = read_band(b, 1);
  if (!read_matrix(b, x, band)) return;
  const ValueId flat = joined_axes(b, x, 2);
  const Shape last =
      band.count() == 1 ? Shape{band.longest()} : Shape{band.count(), band.longest()};
  b.out(0,
        gathered(b, {flat, padding_column(b, flat, 2)}, diagonals::places_in_matrix(band), last));
}

// Matrix, its new diagonals and k.
void lower_matrix_set_diag(Builder& b) {
  const ValueId x = b.in(0), fresh = b.in(1);
  Band band = read_band(b, 2);
  if (!read_matrix(b, x, band) || !b.has_rank(fresh, "the diagonal", 1)) return;
  const ValueId packed = joined_axes(b, fresh, b.rank(fresh) == b.rank(x) ? 2 : 1);
  b.out(0, gathered(b, {joined_axes(b, x, 2), packed}, diagonals::places_of_either(band),
                    {band.rows, band.columns}));
}

// Keeps `lower` diagonals below the main one and `upper` above it; below 0 means all.
void lower_matrix_band_part(Builder& b) {
  const ValueId x = b.in(0);
  const ValueId lower = b.cast(b.in(1), DType::i32), upper = b.cast(b.in(2), DType::i32);
  Band size;
  if (!read_matrix(b, x, size)) return;
  std::vector<float> below;
  for (int64_t i = 0; i < size.rows; ++i) {
    for (int64_t j = 0; j < size.columns; ++j) below.push_back(static_cast<float>(i - j));
  }
  const ValueId distance = b.cast(b.table({size.rows, size.columns}, below), DType::i32);
  const ValueId zero = b.whole(DType::i32, 0);
  const auto within = [&](ValueId steps, ValueId most) {
    return b.node("Or", 7,
                  {b.node("Less", 13, {most, zero}), b.node("LessOrEqual", 16, {steps, most})});
  };
  const ValueId kept =
      b.node("And", 7, {within(distance, lower), within(b.node("Neg", 13, {distance}), upper)});
  if (b.ok()) b.out(0, b.node("Where", 16, {kept, x, b.scalar(b.dtype(x), 0)}));
}

// Rows and columns of the elements of a triangle.
void lower_triangle_indices(Builder& b) {
  const int64_t rows = b.i_between("row", 0, 0, 1 << 15),
                columns = b.i_between("col", 0, 0, 1 << 15);
  const int64_t offset = b.i("offset", 0);
  const DType type = b.dtype_attr("dtype", DType::i32);
  if (!b.ok()) return;
  const bool lower = b.type() == "TrilIndices";
  std::vector<float> at, across;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      if (lower ? j - i > offset : j - i < offset) continue;
      at.push_back(static_cast<float>(i));
      across.push_back(static_cast<float>(j));
    }
  }
  const auto count = static_cast<int64_t>(at.size());
  at.insert(at.end(), across.begin(), across.end());
  b.out(0, b.cast(b.table({2, count}, at), type), Builder::Type::any);
}

// The inverse of the matrix whose Cholesky factor is x.
void lower_cholesky_inverse(Builder& b) {
  const bool upper = b.flag("upper", false);
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "x", 2)) return;
  // The inverse of the factor first, which is better conditioned than the matrix.
  const ValueId triangle = b.node("Trilu", 14, {x, kNoValue}, {{"upper", int64_t{upper}}});
  const ValueId factor = b.node("anynpu.Inverse", 1, {triangle}, {{"adjoint", int64_t{0}}});
  std::vector<int64_t> order;
  for (int64_t axis = 0; axis < b.rank(x); ++axis) order.push_back(axis);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  const ValueId turned = b.transpose(factor, order);
  b.out(0, upper ? b.node("MatMul", 13, {factor, turned}) : b.node("MatMul", 13, {turned, factor}));
}

}  // namespace anynpu::singleop
