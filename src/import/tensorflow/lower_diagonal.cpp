// SPDX-License-Identifier: Apache-2.0
// Diagonals of matrices. Each is one Gather along the elements of the matrices, by a constant list
// of places: a place is in the first tensor, in the second, or the padding.
#include <algorithm>

#include "graph/tensor_value.h"
#include "import/diagonals.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

using diagonals::Band;

void align(Builder& b, Band& band) {
  if (!b.type().ends_with("V3")) {  // earlier ones align to the left
    band.upper_left = band.lower_left = true;
    return;
  }
  band.align(
      b.word("align", "RIGHT_LEFT", {"LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"}));
}

void read_band(Builder& b, Band& band, size_t input) {
  const Ints k = b.in_values(input);
  if (!b.ok()) return;
  if (k.empty() || k.size() > 2) return b.refuse(Code::corrupt_model, "k has {} numbers", k.size());
  band.low = k[0];
  band.high = k.back();
  if (band.low > band.high)
    b.refuse(Code::invalid_argument, "k is {} to {}; expected low to high", band.low, band.high);
}

// x with its last `axes` axes in one.
ValueId flat(Builder& b, ValueId x, int64_t axes) {
  if (!b.ok()) return kNoValue;
  const Shape& shape = b.shape(x);
  const auto keep = static_cast<size_t>(b.rank(x) - axes);
  Ints to(shape.begin(), shape.begin() + static_cast<int64_t>(keep));
  int64_t count = 1;
  for (size_t i = keep; i < shape.size(); ++i) count *= shape[i];
  to.push_back(count);
  return b.node("Reshape", 14, {x, b.list(to)}, {{"allowzero", int64_t{1}}});
}

// Elements of `parts`, one behind the other, by place; then the shape of the last axes.
ValueId pick(Builder& b, std::vector<ValueId> parts, const Ints& places, const Ints& last) {
  if (!b.ok()) return kNoValue;
  const ValueId all =
      parts.size() == 1 ? parts[0] : b.node("Concat", 13, parts, {{"axis", b.rank(parts[0]) - 1}});
  if (!b.ok()) return kNoValue;
  const Shape before(b.shape(all).begin(), b.shape(all).end() - 1);
  const ValueId picked =
      b.node("Gather", 13, {all, b.list(places)}, {{"axis", static_cast<int64_t>(before.size())}});
  Ints to(before.begin(), before.end());
  to.insert(to.end(), last.begin(), last.end());
  return b.node("Reshape", 14, {picked, b.list(to)}, {{"allowzero", int64_t{1}}});
}

// One element more behind each flat matrix: the padding.
ValueId padded(Builder& b, ValueId x, ValueId padding) {
  if (!b.ok()) return kNoValue;
  Ints shape(b.shape(x).begin(), b.shape(x).end());
  shape.back() = 1;
  const ValueId column = b.node("Expand", 13, {padding, b.list(shape)});
  return b.node("Concat", 13, {x, column}, {{"axis", b.rank(x) - 1}});
}

ValueId padding_of(Builder& b, ValueId x, size_t input) {
  return input < b.input_count() ? b.in(input) : b.scalar(b.dtype(x), 0);
}

}  // namespace

// MatrixDiag: matrices that are `padding` but for the diagonals.
void lower_matrix_diag(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.need_fixed(x, "the diagonal") || !b.has_rank(x, "the diagonal", 1)) return;
  Band band;
  align(b, band);
  const bool plain = b.type() == "MatrixDiag";
  if (!plain) read_band(b, band, 1);
  if (!b.ok()) return;
  const int64_t length = b.shape(x).back();
  const int64_t rows = plain ? -1 : b.in_value(2), columns = plain ? -1 : b.in_value(3);
  if (!b.ok()) return;
  band.fit(length, rows, columns);
  const Ints places = diagonals::places_in_diagonals(band, band.count() * length);
  const ValueId packed = flat(b, x, band.count() > 1 ? 2 : 1);
  b.out(0, pick(b, {padded(b, packed, padding_of(b, x, plain ? 9 : 4))}, places,
                {band.rows, band.columns}));
}

void lower_matrix_diag_part(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.need_fixed(x, "the matrix") || !b.has_rank(x, "the matrix", 2)) return;
  Band band;
  align(b, band);
  const bool plain = b.type() == "MatrixDiagPart";
  if (!plain) read_band(b, band, 1);
  if (!b.ok()) return;
  const Shape& shape = b.shape(x);
  band.rows = shape[shape.size() - 2];
  band.columns = shape.back();
  const int64_t longest = band.longest();
  const Ints places = diagonals::places_in_matrix(band);
  const Ints last = band.count() == 1 ? Ints{longest} : Ints{band.count(), longest};
  b.out(0, pick(b, {padded(b, flat(b, x, 2), padding_of(b, x, plain ? 9 : 2))}, places, last));
}

void lower_matrix_set_diag(Builder& b) {
  const ValueId x = b.in(0), diagonal = b.in(1);
  if (!b.need_fixed(x, "the matrix") || !b.need_fixed(diagonal, "the diagonal") ||
      !b.has_rank(x, "the matrix", 2)) {
    return;
  }
  Band band;
  align(b, band);
  if (b.type() != "MatrixSetDiag") read_band(b, band, 2);
  if (!b.ok()) return;
  const Shape& shape = b.shape(x);
  band.rows = shape[shape.size() - 2];
  band.columns = shape.back();
  const Ints places = diagonals::places_of_either(band);
  const ValueId packed = flat(b, diagonal, b.rank(diagonal) == b.rank(x) ? 2 : 1);
  b.out(0, pick(b, {flat(b, x, 2), packed}, places, {band.rows, band.columns}));
}

// Diag and DiagPart: of tensors, with the axes once more behind.
void lower_diag(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.need_fixed(x, "the tensor")) return;
  const Shape shape = b.shape(x);
  if (b.type() == "Diag") {
    const int64_t count = element_count(shape);
    Ints places(static_cast<size_t>(count * count), count);
    for (int64_t i = 0; i < count; ++i) places[static_cast<size_t>(i * count + i)] = i;
    Ints last(shape.begin(), shape.end());
    last.insert(last.end(), shape.begin(), shape.end());
    const ValueId row = b.reshape(x, {count});
    return b.out(0, pick(b, {padded(b, row, b.scalar(b.dtype(x), 0))}, places, last));
  }
  const Ints half(shape.begin(), shape.begin() + static_cast<int64_t>(shape.size() / 2));
  const int64_t count = element_count(half);
  Ints places;
  for (int64_t i = 0; i < count; ++i) places.push_back(i * count + i);
  b.out(0, pick(b, {b.reshape(x, {count * count})}, places, half));
}

// Keeps `lower` diagonals below the main one and `upper` above it; below 0 means all.
void lower_matrix_band_part(Builder& b) {
  const ValueId x = b.in(0);
  const ValueId lower = b.cast(b.in(1), DType::i64), upper = b.cast(b.in(2), DType::i64);
  if (!b.need_fixed(x, "the matrix") || !b.has_rank(x, "the matrix", 2)) return;
  const int64_t rows = b.shape(x)[b.shape(x).size() - 2], columns = b.shape(x).back();
  Ints below;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) below.push_back(i - j);
  }
  const ValueId distance = b.constant(DType::i64, {rows, columns}, graph::constant_of(below));
  const ValueId zero = b.whole(DType::i64, 0);
  const auto within = [&](ValueId steps, ValueId most) {
    return b.node("Or", 7,
                  {b.node("Less", 13, {most, zero}), b.node("LessOrEqual", 16, {steps, most})});
  };
  const ValueId kept =
      b.node("And", 7, {within(distance, lower), within(b.node("Neg", 13, {distance}), upper)});
  b.out(0, b.node("Where", 16, {kept, x, b.scalar(b.dtype(x), 0)}));
}

}  // namespace anynpu::tensorflow
