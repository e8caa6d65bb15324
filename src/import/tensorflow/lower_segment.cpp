// SPDX-License-Identifier: Apache-2.0
// Reductions by index: ArgMax, running sums, segments, histograms.
#include <limits>

#include "graph/tensor_value.h"
#include "import/limit_of.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

const NodeAttrs kDrop{{"keepdims", int64_t{0}}};

// Rows of `data` folded by their ids into `count` rows (an int64 row of one). Ids below 0 and from
// `count` on are dropped: their rows go into one row more, which is cut off.
ValueId fold_rows(Builder& b, ValueId data, ValueId ids, ValueId count, std::string how,
                  ValueId start) {
  const ValueId zero = b.whole(DType::i64, 0);
  const ValueId inside = b.node(
      "And", 7, {b.node("GreaterOrEqual", 16, {ids, zero}), b.node("Less", 13, {ids, count})});
  const ValueId places = b.node("Where", 16, {inside, ids, count});
  const ValueId tail = b.slice(b.shape_of(data), 0, 1, std::numeric_limits<int64_t>::max());
  const ValueId more = add(b, count, b.list({1}));
  const ValueId room =
      b.node("Expand", 13, {start, b.rank(data) > 1 ? concat(b, {more, tail}) : more});
  const ValueId folded = b.node("ScatterND", 18, {room, b.unsqueeze(places, {1}), data},
                                {{"reduction", std::move(how)}});
  return b.node("Slice", 13, {folded, b.list({0}), count, b.list({0})});
}

// How many rows each id has, as a column that broadcasts over rows of `rank` axes.
ValueId rows_of(Builder& b, ValueId ids, ValueId count, int64_t rank, DType type) {
  const ValueId ones = b.node("Expand", 13, {b.whole(DType::i64, 1), b.shape_of(ids)});
  const ValueId counts =
      b.cast(fold_rows(b, ones, ids, count, "add", b.whole(DType::i64, 0)), type);
  Ints shape(static_cast<size_t>(rank), 1);
  shape[0] = -1;
  return b.reshape(counts, shape);
}

// Segments of the rows of `data`; `kind` is Sum, Mean, SqrtN, Prod, Max or Min.
ValueId segments(Builder& b, ValueId data, ValueId ids, ValueId count, std::string_view kind,
                 bool unsorted) {
  const DType type = b.dtype(data);
  if (!b.has_rank(data, "the data", 1)) return kNoValue;
  const bool extreme = kind == "Max" || kind == "Min";
  const char* how = kind == "Prod" ? "mul" : kind == "Max" ? "max" : kind == "Min" ? "min" : "add";
  const ValueId start =
      extreme ? limit_of(b, type, kind == "Max") : b.scalar(type, kind == "Prod" ? 1 : 0);
  ValueId y = fold_rows(b, data, ids, count, how, start);
  if (unsorted || kind == "Sum" || kind == "Prod") return y;
  const ValueId rows = rows_of(b, ids, count, b.rank(data), type);
  const ValueId zero = b.scalar(type, 0);
  const ValueId none = b.node("Equal", 13, {rows, zero});
  if (extreme) return b.node("Where", 16, {none, zero, y});
  ValueId share = b.node("Where", 16, {none, b.scalar(type, 1), rows});
  if (kind == "SqrtN") share = b.node("Sqrt", 13, {share});
  return div(b, y, share);
}

// One more than the last id.
ValueId count_of(Builder& b, ValueId ids) {
  const ValueId most = b.node("ReduceMax", 18, {ids}, {{"keepdims", int64_t{1}}});
  return add(b, most, b.list({1}));
}

std::string_view kind_of(std::string_view type) {
  for (std::string_view kind : {"SqrtN", "Sum", "Mean", "Prod", "Max", "Min"}) {
    if (type.find(kind) != type.npos) return kind;
  }
  return "Sum";
}

}  // namespace

void lower_arg_reduce(Builder& b) {
  ValueId x = b.in(0);
  const int64_t given = b.in_value(1);
  const DType type = b.type("output_type", DType::i64);
  if (!b.has_rank(x, "the tensor", 1)) return;
  if (b.dtype(x) == DType::boolean) x = b.cast(x, DType::u8);
  const int64_t axis = b.axis_of(given, x);
  const ValueId y = b.node(b.row().becomes, 13, {x}, {{"axis", axis}, {"keepdims", int64_t{0}}});
  b.out(0, b.cast(y, type));
}

void lower_cumulative(Builder& b) {
  const ValueId x = b.in(0);
  const int64_t given = b.in_value(1);
  const NodeAttrs how{{"exclusive", int64_t{b.flag("exclusive", false)}},
                      {"reverse", int64_t{b.flag("reverse", false)}}};
  if (!b.has_rank(x, "the tensor", 1)) return;
  const ValueId axis = b.whole(DType::i64, b.axis_of(given, x));
  if (b.type() != "CumulativeLogsumexp")
    return b.out(0, b.node(b.row().becomes, b.row().opset, {x, axis}, how));
  // Relative to the largest of the row, so that nothing overflows.
  const ValueId most =
      b.node("ReduceMax", 18, {x, b.list({b.axis_of(given, x)})}, {{"keepdims", int64_t{1}}});
  const ValueId sum = b.node("CumSum", 14, {b.node("Exp", 13, {sub(b, x, most)}), axis}, how);
  b.out(0, add(b, b.node("Log", 13, {sum}), most));
}

void lower_segment(Builder& b) {
  const ValueId data = b.in(0), ids = b.in_row(1);
  if (b.ok()) b.out(0, segments(b, data, ids, count_of(b, ids), kind_of(b.type()), false));
}

// Ids for the first axes of the data, in any order.
void lower_unsorted_segment(Builder& b) {
  ValueId data = b.in(0), ids = b.index(b.in(1));
  const ValueId count = b.in_row(2);
  if (!b.has_rank(ids, "the ids", 1) || !b.has_rank(data, "the data", 1)) return;
  if (b.rank(ids) > 1) {
    const ValueId tail =
        b.slice(b.shape_of(data), 0, b.rank(ids), std::numeric_limits<int64_t>::max());
    data =
        b.node("Reshape", 14,
               {data, b.rank(data) > b.rank(ids) ? concat(b, {b.list({-1}), tail}) : b.list({-1})});
    ids = b.reshape(ids, {-1});
  }
  b.out(0, segments(b, data, ids, count, kind_of(b.type()), true));
}

// The rows of the data that indices name.
void lower_sparse_segment(Builder& b) {
  const ValueId data = b.in(0), indices = b.in(1), ids = b.in_row(2);
  if (!b.ok()) return;
  const ValueId rows = b.node("Gather", 13, {data, indices}, {{"axis", int64_t{0}}});
  const ValueId count = b.input_count() > 3 ? b.in_row(3) : count_of(b, ids);
  b.out(0, segments(b, rows, ids, count, kind_of(b.type()), false));
}

// The gradient of each segment, or its part of it, goes to the rows that the segment was made of.
void lower_sparse_segment_grad(Builder& b) {
  const ValueId grad = b.in(0), indices = b.in_row(1), ids = b.in_row(2), count = b.in_row(3);
  if (!b.has_rank(grad, "the gradient", 1)) return;
  ValueId rows = b.node("Gather", 13, {grad, ids}, {{"axis", int64_t{0}}});
  const std::string_view kind = kind_of(b.type());
  if (kind != "Sum") {
    const ValueId segment_count = b.slice(b.shape_of(grad), 0, 0, 1);
    ValueId share = rows_of(b, ids, segment_count, b.rank(grad), b.dtype(grad));
    if (kind == "SqrtN") share = b.node("Sqrt", 13, {share});
    rows = div(b, rows, b.node("Gather", 13, {share, ids}, {{"axis", int64_t{0}}}));
  }
  b.out(0, fold_rows(b, rows, indices, count, "add", b.scalar(b.dtype(grad), 0)));
}

void lower_bincount(Builder& b) {
  const bool dense = b.type() == "DenseBincount", binary = b.flag("binary_output", false);
  ValueId x = b.index(b.in(0)), weights = b.in(2);
  const ValueId size = b.in_row(1);
  if (!b.has_rank(x, "the numbers", 1) || !b.need_fixed(weights, "the weights")) return;
  const DType type = b.dtype(weights);
  const bool counts = element_count(b.shape(weights)) == 0;
  const bool rows = dense && b.rank(x) == 2;
  ValueId count = size;
  if (rows) {
    // Each row has its own bins, and one more for numbers beyond them.
    if (!b.need_fixed(x, "the numbers")) return;
    const int64_t number = b.shape(x)[0];
    const ValueId more = add(b, size, b.list({1}));
    Ints starts;
    for (int64_t i = 0; i < number; ++i) starts.push_back(i);
    const ValueId first = mul(b, b.reshape(b.list(starts), {number, 1}), more);
    x = add(b, b.node("Min", 13, {x, size}), first);
    count = mul(b, more, b.list({number}));
  }
  const ValueId flat = b.reshape(x, {-1});
  const ValueId one = b.scalar(type, 1);
  const ValueId parts =
      counts || binary ? b.node("Expand", 13, {one, b.shape_of(flat)}) : b.reshape(weights, {-1});
  ValueId y = fold_rows(b, parts, flat, count, binary ? "max" : "add", b.scalar(type, 0));
  if (rows) {
    const ValueId more = add(b, size, b.list({1}));
    y = b.node("Reshape", 14, {y, concat(b, {b.list({b.shape(x)[0]}), more})});
    y = b.node("Slice", 13, {y, b.list({0}), size, b.list({1})});
  }
  b.out(0, y);
}

void lower_histogram(Builder& b) {
  const ValueId x = b.cast(b.in(0), DType::f64), range = b.cast(b.in(1), DType::f64);
  const int64_t bins = b.in_value(2);
  const DType type = b.type("dtype", DType::i32);
  if (!b.ok()) return;
  const ValueId low = b.squeeze(b.slice(range, 0, 0, 1), {0}),
                high = b.squeeze(b.slice(range, 0, 1, 2), {0});
  const ValueId step = div(b, sub(b, high, low), b.scalar(DType::f64, static_cast<double>(bins)));
  const ValueId place = b.node("Floor", 13, {div(b, sub(b, x, low), step)});
  const ValueId inside =
      b.node("Clip", 13,
             {place, b.scalar(DType::f64, 0), b.scalar(DType::f64, static_cast<double>(bins - 1))});
  const ValueId flat = b.reshape(b.cast(inside, DType::i64), {-1});
  const ValueId ones = b.node("Expand", 13, {b.scalar(type, 1), b.shape_of(flat)});
  b.out(0, fold_rows(b, ones, flat, b.list({bins}), "add", b.scalar(type, 0)));
}

// How many boundaries are at or below each element.
void lower_bucketize(Builder& b) {
  const ValueId x = b.in(0);
  const std::vector<float> boundaries = b.floats("boundaries");
  if (!b.has_rank(x, "the tensor", 0, 7)) return;
  const auto count = static_cast<int64_t>(boundaries.size());
  const DType wide = b.dtype(x) == DType::f32 ? DType::f32 : DType::f64;
  const ValueId limits =
      b.cast(b.constant(DType::f32, {count}, graph::constant_of(boundaries)), wide);
  const ValueId column = b.unsqueeze(b.cast(x, wide), {b.rank(x)});
  const ValueId above = b.cast(b.node("GreaterOrEqual", 16, {column, limits}), DType::i32);
  b.out(0, b.node("ReduceSum", 13, {above, b.list({b.rank(x)})}, kDrop));
}

}  // namespace anynpu::tensorflow
