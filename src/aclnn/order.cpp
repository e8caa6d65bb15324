// SPDX-License-Identifier: Apache-2.0
// Order: medians of what are numbers, running extremes with their places, distinct values, places
// in a sorted row. NaN is the largest number.
#include "aclnn/arithmetic.h"

namespace anynpu::aclnn {

namespace order {

namespace {

struct Ordered {
  Value values, places;
  int64_t axis, extent;
};

Value with_axis(Recipe& r, Value x) { return r.shape(x).empty() ? r.reshape(x, {1}) : x; }

Ordered ordered(Recipe& r, Value x, int64_t axis, int64_t k, bool largest) {
  const DType type = r.dtype(x);
  x = with_axis(r, x);
  if (type == DType::boolean) x = r.cast(x, DType::u8);
  const int64_t extent = r.extent(x, axis);
  if (k < 0) k = extent;
  const auto parts = r.ops("TopK", {x, r.constant({k})}, 2, {{"axis", axis}, {"largest", largest}});
  return {r.cast(parts[0], type), parts[1], axis, extent};
}

void finish(Recipe& r, Value values, Value places, const char* out = "valuesOut",
            const char* indices = "indicesOut") {
  r.out(out, r.reshape(values, r.shape(out)));
  if (r.given(indices)) r.out(indices, r.reshape(places, r.shape(indices)));
}

Value flat(Recipe& r) { return r.reshape(r.in("self"), {r.tensor("self").count()}); }

// The same among the elements that are numbers.
void nan_median_of(Recipe& r, const Ordered& o, const char* out) {
  Value value = r.slice(o.values, o.axis, (o.extent - 1) / 2, (o.extent - 1) / 2 + 1);
  Value place = r.slice(o.places, o.axis, (o.extent - 1) / 2, (o.extent - 1) / 2 + 1);
  if (is_floating(r.dtype(o.values))) {
    const Value numbers = r.cast(r.op("Not", {r.op("IsNaN", {o.values})}), DType::i64);
    const Value count = r.op("ReduceSum", {numbers, r.constant({o.axis})}, {{"keepdims", 1}});
    const Value less =
        r.op("Max", {r.op("Sub", {count, r.constant(DType::i64, 1)}), r.constant(DType::i64, 0)});
    const Value at = r.op("FloorDivide", {less, r.constant(DType::i64, 2)});
    value = r.op("GatherElements", {o.values, at}, {{"axis", o.axis}});
    place = r.op("GatherElements", {o.places, at}, {{"axis", o.axis}});
  }
  finish(r, value, place, out);
}
void nan_median_dim(Recipe& r) {
  nan_median_of(r, ordered(r, r.in("self"), r.axis("dim", r.rank("self")), -1, false), "valuesOut");
}
void nan_median(Recipe& r) { nan_median_of(r, ordered(r, flat(r), 0, -1, false), "out"); }

Value comparable(Recipe& r, Value x) {
  x = with_axis(r, x);
  return r.dtype(x) == DType::boolean ? r.cast(x, DType::u8) : x;
}
void cumulative(Recipe& r) {
  const Value x = comparable(r, r.in("self"));
  const auto parts = r.ops("CumExtreme", {x}, 2,
                           {{"axis", r.axis("dim", r.rank("self"))}, {"largest", r.row().number}});
  finish(r, parts[0], parts[1]);
}

// --- distinct values; all outputs of these have shapes that the run decides

void distinct(Recipe& r) {
  const DType type = r.dtype("self");
  Value x = flat(r);
  if (type == DType::boolean) x = r.cast(x, DType::u8);
  const auto parts = r.ops("Unique", {x}, 4, {{"sorted", 1}});
  r.out("valueOut", r.cast(parts[0], type));
  if (r.given("inverseOut") && r.flag("returnInverse")) {
    r.out("inverseOut", r.reshape(parts[2], r.shape("self")));
  }
  if (r.given("countsOut") && r.flag("returnCounts")) r.out("countsOut", parts[3]);
}
void distinct_dim(Recipe& r) {
  const auto parts =
      r.ops("Unique", {r.in("self")}, 4, {{"sorted", 1}, {"axis", r.axis("dim", r.rank("self"))}});
  r.out("valueOut", parts[0]);
  if (r.flag("returnInverse")) r.out("inverseOut", parts[2]);
  r.out("countsOut", parts[3]);
}

// `dim` beyond the axes: of all elements in a row.
void distinct_neighbours(Recipe& r) {
  const DType type = r.dtype("self");
  const int64_t dim = r.integer("dim"), rank = static_cast<int64_t>(r.rank("self"));
  const bool all = rank == 0 || dim < -rank || dim >= rank;
  Value x = all ? flat(r) : r.in("self");
  if (type == DType::boolean) x = r.cast(x, DType::u8);
  const auto parts = all ? r.ops("UniqueConsecutive", {x}, 4)
                         : r.ops("UniqueConsecutive", {x}, 4, {{"axis", dim}});
  r.out("valueOut", r.cast(parts[0], type));
  if (r.given("inverseOut") && r.flag("returnInverse")) {
    r.out("inverseOut", all ? r.reshape(parts[2], r.shape("self")) : parts[2]);
  }
  if (r.given("countsOut") && r.flag("returnCounts")) r.out("countsOut", parts[3]);
}

// --- places in a sorted row

void search(Recipe& r, Value row, Value values) {
  const DType type = promote(r.dtype(row), r.dtype(values));
  const Value found =
      r.op("SearchSorted", {r.cast(row, type), r.cast(values, type)}, {{"right", r.flag("right")}});
  r.out("out", r.reshape(found, r.shape("out")));
}
void search_sorted(Recipe& r) {
  Value row = r.in("sortedSequence");
  if (r.given("sorter")) {
    const auto axis = static_cast<int64_t>(r.rank("sortedSequence")) - 1;
    row = r.op("GatherElements", {row, r.cast(r.in("sorter"), DType::i64)}, {{"axis", axis}});
  }
  search(r, row, r.in("self"));
}
void bucketize(Recipe& r) { search(r, r.in("boundaries"), r.in("self")); }

const Row kRows[] = {
    {"aclnnNanMedian", nan_median},
    {"aclnnNanMedianDim", nan_median_dim},
    {"aclnnCummax", cumulative, "", false, 1},
    {"aclnnCummin", cumulative, "", false, 0},
    {"aclnnUnique", distinct},
    {"aclnnUnique2", distinct},
    {"aclnnUniqueDim", distinct_dim},
    {"aclnnUniqueConsecutive", distinct_neighbours},
    {"aclnnSearchSorted", search_sorted},
    {"aclnnBucketize", bucketize},
};

}  // namespace

}  // namespace order

std::span<const Row> order_rows() { return order::kRows; }

}  // namespace anynpu::aclnn
