// SPDX-License-Identifier: Apache-2.0
// Ragged tensors: the values of all rows behind each other, and for each ragged axis where its rows
// begin and end (splits).
#include <algorithm>
#include <limits>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

// 0, 1, ... below a count of one element.
ValueId numbers_below(Builder& b, ValueId count) {
  return b.node("Range", 11,
                {b.whole(DType::i64, 0), b.reshape(count, {}), b.whole(DType::i64, 1)});
}

ValueId counts_of(Builder& b, ValueId splits) {
  return sub(b, b.slice(splits, 0, 1, kToEnd), b.slice(splits, 0, 0, -1));
}

ValueId splits_of(Builder& b, ValueId counts) {
  return concat(b, {b.list({0}), b.node("CumSum", 14, {counts, b.whole(DType::i64, 0)})});
}

// At least 0: of no rows at all.
ValueId longest_of(Builder& b, ValueId counts) {
  const ValueId most = b.node("ReduceMax", 18, {counts}, {{"keepdims", int64_t{1}}});
  return b.reshape(b.node("Max", 13, {most, b.whole(DType::i64, 0)}), {1});
}

// The row and the column of each element of rows that have `counts` elements.
struct Elements {
  ValueId rows = kNoValue, columns = kNoValue;
};
Elements elements_of(Builder& b, ValueId counts) {
  const ValueId numbers = numbers_below(b, longest_of(b, counts));
  const ValueId inside = b.node("Less", 13, {b.unsqueeze(numbers, {0}), b.unsqueeze(counts, {1})});
  const ValueId places = b.node("NonZero", 13, {inside});
  return {b.reshape(b.slice(places, 0, 0, 1), {-1}), b.reshape(b.slice(places, 0, 1, 2), {-1})};
}

// The places of the elements of nested rows, axis by axis.
struct Places {
  ValueId indices = kNoValue;  // (elements, axes)
  ValueId count = kNoValue;    // of elements, in a row of one
  std::vector<ValueId> extents;
};

Places outer_rows(Builder& b, ValueId count) {
  return {b.unsqueeze(numbers_below(b, count), {1}), count, {count}};
}

void go_inside(Builder& b, Places& places, ValueId counts) {
  const Elements inner = elements_of(b, counts);
  places.indices =
      concat(b, {rows_at(b, places.indices, inner.rows), b.unsqueeze(inner.columns, {1})}, 1);
  places.count = b.shape_of(inner.rows);
  places.extents.push_back(longest_of(b, counts));
}

}  // namespace

// Rows chosen by indices. Each further axis of the indices is an axis of rows of one length.
void lower_ragged_gather(Builder& b) {
  const auto levels = static_cast<size_t>(b.i("PARAMS_RAGGED_RANK", 1));
  if (!b.ok()) return;
  if (levels < 1 || b.input_count() != levels + 2) {
    return b.refuse(Code::corrupt_model, "it has {} inputs and PARAMS_RAGGED_RANK {}",
                    b.input_count(), levels);
  }
  const DType type = b.dtype(b.in(0));
  ValueId rows = b.index(b.in(levels + 1));
  if (!b.has_rank(rows, "the indices", 1)) return;
  size_t next = 0;
  if (b.rank(rows) > 1) {
    if (!b.need_fixed(rows, "the indices")) return;
    const Shape shape = b.shape(rows);
    int64_t count = shape[0];
    for (size_t axis = 1; axis < shape.size(); ++axis) {
      const Ints same(static_cast<size_t>(count), shape[axis]);
      b.out(next++, b.cast(splits_of(b, b.list(same)), type));
      count *= shape[axis];
    }
    rows = b.reshape(rows, {-1});
  }
  for (size_t level = 0; level < levels; ++level) {
    const ValueId splits = b.index(b.in(level));
    const ValueId starts = rows_at(b, splits, rows);
    const ValueId ends = rows_at(b, splits, add(b, rows, b.whole(DType::i64, 1)));
    const ValueId counts = sub(b, ends, starts);
    b.out(next++, b.cast(splits_of(b, counts), type));
    const Elements inner = elements_of(b, counts);
    rows = add(b, rows_at(b, starts, inner.rows), inner.columns);
  }
  b.out(next, rows_at(b, b.in(levels), rows));
}

void lower_ragged_to_sparse(Builder& b) {
  const size_t levels = b.input_count() - 1;
  if (b.input_count() < 2) return b.refuse(Code::corrupt_model, "it has no splits");
  const ValueId values = b.in(levels);
  if (!b.has_rank(values, "the values", 1)) return;
  Places places;
  for (size_t level = 0; level < levels; ++level) {
    const ValueId counts = counts_of(b, b.index(b.in(level)));
    if (level == 0) places = outer_rows(b, b.shape_of(counts));
    go_inside(b, places, counts);
  }
  if (!b.ok()) return;
  const ValueId shape = b.shape_of(values);
  if (b.rank(values) > 1) {  // rows of values, all alike
    const ValueId ones = b.node("Expand", 13, {b.scalar(DType::boolean, 1), shape});
    const ValueId inner = b.transpose(b.node("NonZero", 13, {ones}), {1, 0});
    const ValueId row = b.reshape(b.slice(inner, 1, 0, 1), {-1});
    places.indices = concat(b, {rows_at(b, places.indices, row), b.slice(inner, 1, 1, kToEnd)}, 1);
    places.extents.push_back(b.slice(shape, 0, 1, kToEnd));
  }
  b.out(0, places.indices);
  b.out(1, b.reshape(values, {-1}));
  b.out(2, concat(b, places.extents));
}

// Rows filled up with the default, or cut, to the shape that is asked for; -1 there means as long
// as needed.
void lower_ragged_to_tensor(Builder& b) {
  const ValueId wanted = b.index(b.in(0)), fill = b.in(2);
  ValueId values = b.in(1);
  const auto kinds = b.take(texts_attr(b.def(), "row_partition_types"));
  if (!b.has_rank(values, "the values", 1) || !b.has_rank(wanted, "the shape", 0, 1)) return;
  if (kinds.empty() || b.input_count() != kinds.size() + 3) {
    return b.refuse(Code::corrupt_model, "it has {} inputs and {} row_partition_types",
                    b.input_count(), kinds.size());
  }
  Places places;
  for (size_t i = 0; i < kinds.size() && b.ok(); ++i) {
    const ValueId part = b.in_row(i + 3);
    ValueId counts = kNoValue;
    if (kinds[i] == "FIRST_DIM_SIZE" && i == 0) {
      places = outer_rows(b, part);
      continue;
    }
    if (kinds[i] == "ROW_SPLITS") {
      counts = counts_of(b, part);
      if (i == 0) places = outer_rows(b, b.shape_of(counts));
    } else if (kinds[i] == "VALUE_ROWIDS" && i > 0) {
      const ValueId ones = b.node("Expand", 13, {b.whole(DType::i64, 1), b.shape_of(part)});
      const ValueId none = b.node("Expand", 13, {b.whole(DType::i64, 0), places.count});
      counts = b.node("ScatterND", 18, {none, b.unsqueeze(part, {1}), ones},
                      {{"reduction", std::string("add")}});
    } else {
      return b.refuse(Code::unsupported_feature,
                      "row_partition_types has '{}' at {}; expected ROW_SPLITS, or FIRST_DIM_SIZE "
                      "and then VALUE_ROWIDS",
                      kinds[i], i);
    }
    go_inside(b, places, counts);
  }
  if (!b.ok()) return;
  const auto axes = static_cast<int64_t>(places.extents.size());
  std::vector<ValueId> extents = places.extents;
  if (b.rank(values) > 1) extents.push_back(b.slice(b.shape_of(values), 0, 1, kToEnd));
  ValueId shape = concat(b, extents);
  const auto stated = b.known(wanted);
  const auto is_stated = [](int64_t extent) { return extent >= 0; };
  if (b.rank(wanted) == 1 && stated && std::all_of(stated->begin(), stated->end(), is_stated)) {
    shape = wanted;
  } else if (b.rank(wanted) == 1) {
    const ValueId open = b.node("Less", 13, {wanted, b.whole(DType::i64, 0)});
    shape = b.node("Where", 16, {open, shape, wanted});
  }
  const ValueId inside = b.node("Less", 13, {places.indices, b.slice(shape, 0, 0, axes)});
  const ValueId kept = b.cast(b.node("ReduceMin", 18, {b.cast(inside, DType::i32), b.list({1})},
                                     {{"keepdims", int64_t{0}}}),
                              DType::boolean);
  values = b.node("Compress", 11, {values, kept}, {{"axis", int64_t{0}}});
  const ValueId room = b.node("Expand", 13, {fill, shape});
  b.out(0, b.node("ScatterND", 18,
                  {room, b.node("Compress", 11, {places.indices, kept}, {{"axis", int64_t{0}}}),
                   values}));
}

// The rows of a ragged tensor as a list, which map_fn goes through; without batched_input one row.
void lower_ragged_to_variant(Builder& b) {
  const int64_t levels = b.i("RAGGED_RANK", 1);
  const bool rows = b.flag("batched_input", true);
  if (!b.ok()) return;
  if (levels > 1 || levels < 0 || (levels == 1 && !rows)) {
    return b.refuse(Code::unsupported_feature,
                    "its rows are ragged themselves (RAGGED_RANK {}, batched_input {}); expected "
                    "one ragged axis: map over the flat values, or over rows of one axis",
                    levels, rows);
  }
  if (levels == 1) return b.out_uneven_list(0, b.in(1), counts_of(b, b.index(b.in(0))));
  rows ? b.out_list(0, b.in(0)) : b.out(0, b.in(0));
}

void lower_ragged_from_variant(Builder& b) {
  const int64_t levels = b.i("output_ragged_rank", 1);
  const DType type = b.type("Tsplits", DType::i64);
  if (!b.ok() || b.input_count() == 0) return b.refuse(Code::corrupt_model, "it has no input");
  if (levels == 0) return b.out(0, b.in(0));
  if (levels != 1 || !b.tensor(0).is_list) {
    return b.refuse(Code::unsupported_feature,
                    "it reads rows that are ragged themselves (output_ragged_rank {}); expected a "
                    "list of rows",
                    levels);
  }
  Tensor list = b.tensor(0);
  if (!is_uneven(list)) {
    const ValueId even = b.in(0);
    if (!b.has_rank(even, "the rows", 2) || !b.need_fixed(even, "the rows")) return;
    list = made_uneven(b, even);
  }
  b.out(0, b.cast(splits_of(b, list.lengths), type));
  b.out(1, list.plain);
}

// How often each number below `size` is in each row; or the sums of their weights.
void lower_ragged_bincount(Builder& b) {
  const bool binary = b.flag("binary_output", false);
  const ValueId splits = b.index(b.in(0)), numbers = b.index(b.in(1)), size = b.in_row(2);
  const ValueId weights = b.in(3);
  if (!b.need_fixed(weights, "the weights")) return;
  const DType type = b.dtype(weights);
  const ValueId counts = counts_of(b, splits), zero = b.whole(DType::i64, 0);
  const ValueId row = elements_of(b, counts).rows;
  const ValueId rows = b.shape_of(counts), total = mul(b, rows, size);
  const ValueId inside =
      b.node("And", 7,
             {b.node("GreaterOrEqual", 16, {numbers, zero}), b.node("Less", 13, {numbers, size})});
  const ValueId place = b.node("Where", 16, {inside, add(b, mul(b, row, size), numbers), total});
  const bool plain = binary || element_count(b.shape(weights)) == 0;
  const ValueId share =
      plain ? b.node("Expand", 13, {b.scalar(type, 1), b.shape_of(numbers)}) : weights;
  const ValueId room = b.node("Expand", 13, {b.scalar(type, 0), add(b, total, b.list({1}))});
  const ValueId made = b.node("ScatterND", 18, {room, b.unsqueeze(place, {1}), share},
                              {{"reduction", std::string(binary ? "max" : "add")}});
  const ValueId used = b.node("Slice", 13, {made, b.list({0}), total, b.list({0})});
  b.out(0, b.node("Reshape", 14, {used, concat(b, {rows, size})}, {{"allowzero", int64_t{1}}}));
}

}  // namespace anynpu::tensorflow
