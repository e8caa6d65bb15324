// SPDX-License-Identifier: Apache-2.0
// Sparse tensors: places (n, rank), values (n) and the shape. How many there are may come from the
// run.
#include <limits>

#include "import/limit_of.h"
#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

ValueId column(Builder& b, ValueId places, int64_t axis) {
  return b.reshape(b.slice(places, 1, axis, axis + 1), {-1});
}
ValueId ones_like(Builder& b, ValueId rows) {
  return b.node("Expand", 13, {b.whole(DType::i64, 1), b.shape_of(rows)});
}
ValueId product(Builder& b, ValueId extents) {
  return b.node("ReduceProd", 18, {extents}, {{"keepdims", int64_t{1}}});
}

// How far apart neighbours along each axis are when all elements are counted row by row.
ValueId steps_of(Builder& b, ValueId shape) {
  return b.node("CumProd", 26, {shape, b.whole(DType::i64, 0)},
                {{"exclusive", int64_t{1}}, {"reverse", int64_t{1}}});
}

// The number of each place in that count.
ValueId numbers_of(Builder& b, ValueId places, ValueId shape) {
  return b.node("ReduceSum", 13, {mul(b, places, steps_of(b, shape)), b.list({1})},
                {{"keepdims", int64_t{0}}});
}

// Where the keys stand when they ascend; equal ones keep their order.
ValueId order_of(Builder& b, ValueId keys) {
  return b.nodes("TopK", 11, {keys, b.shape_of(keys)}, 2, {{"largest", int64_t{0}}})[1];
}

// Values folded into `count` (one element) groups, which begin with `start`.
ValueId folded(Builder& b, ValueId groups, ValueId values, ValueId count, ValueId start,
               const char* how) {
  return b.node("ScatterND", 18,
                {b.node("Expand", 13, {start, count}), b.unsqueeze(groups, {1}), values},
                {{"reduction", std::string(how)}});
}

struct Sparse {
  ValueId places = kNoValue, values = kNoValue, shape = kNoValue;
  int64_t rank = 0;
};

// Of three inputs; the rank has to be known.
Sparse sparse_at(Builder& b, size_t places, size_t values, size_t shape) {
  Sparse x{b.index(b.in(places)), b.in(values), b.in_row(shape), 0};
  if (!b.has_rank(x.places, "the indices", 2, 2)) return x;
  x.rank = b.shape(x.places)[1];
  if (x.rank < 0 && b.is_fixed(x.shape)) x.rank = b.shape(x.shape)[0];
  if (b.ok() && x.rank < 1) {
    b.refuse(Code::unsupported_shape,
             "the indices are {} and the shape has {} entries; expected a rank known while "
             "the model is converted",
             to_string(b.shape(x.places)), to_string(b.shape(x.shape)));
  }
  return x;
}

void out_sparse(Builder& b, const Sparse& x, size_t places, size_t values, size_t shape) {
  b.out(places, x.places);
  b.out(values, x.values);
  b.out(shape, x.shape);
}

// By places, row by row.
void sort(Builder& b, Sparse& x) {
  const ValueId order = order_of(b, numbers_of(b, x.places, x.shape));
  x.places = rows_at(b, x.places, order);
  x.values = rows_at(b, x.values, order);
}

// A list with `value` (one element) at `axis` and the elements of `others` elsewhere.
ValueId with_entry(Builder& b, ValueId others, int64_t axis, ValueId value) {
  std::vector<ValueId> parts;
  if (axis > 0) parts.push_back(b.slice(others, 0, 0, axis));
  parts.push_back(value);
  parts.push_back(b.slice(others, 0, axis + 1, kToEnd));
  return concat(b, std::move(parts));
}

// The part from `start` on, of at most `size`.
Sparse part_of(Builder& b, const Sparse& x, ValueId start, ValueId size) {
  const ValueId after = b.node("GreaterOrEqual", 16, {x.places, start});
  const ValueId before = b.node("Less", 13, {x.places, add(b, start, size)});
  const ValueId both = b.cast(b.node("And", 7, {after, before}), DType::i32);
  const ValueId inside = b.cast(
      b.node("ReduceMin", 18, {both, b.list({1})}, {{"keepdims", int64_t{0}}}), DType::boolean);
  const ValueId rest = b.node("Min", 13, {size, sub(b, x.shape, start)});
  return {sub(b, b.node("Compress", 11, {x.places, inside}, {{"axis", int64_t{0}}}), start),
          b.node("Compress", 11, {x.values, inside}, {{"axis", int64_t{0}}}),
          b.node("Max", 13, {rest, b.whole(DType::i64, 0)}), x.rank};
}

}  // namespace

// Rows without an element get the default in their first column.
void lower_sparse_fill_empty_rows(Builder& b) {
  const Sparse x = sparse_at(b, 0, 1, 2);
  const ValueId fill = b.in(3);
  if (!b.ok()) return;
  const ValueId row = column(b, x.places, 0);
  const ValueId none = b.whole(DType::i64, 0);
  const ValueId counts = folded(b, row, ones_like(b, row), b.slice(x.shape, 0, 0, 1), none, "add");
  const ValueId empty = b.node("Equal", 13, {counts, none});
  const ValueId added = b.transpose(b.node("NonZero", 13, {empty}), {1, 0});
  const ValueId added_places = b.node("Pad", 18, {added, b.list({0, 0, 0, x.rank - 1})});
  const ValueId added_row = column(b, added_places, 0);
  const ValueId order = order_of(b, concat(b, {row, added_row}));
  const ValueId fills = b.node("Expand", 13, {b.reshape(fill, {1}), b.shape_of(added_row)});
  b.out(0, rows_at(b, concat(b, {x.places, added_places}), order));
  b.out(1, rows_at(b, concat(b, {x.values, fills}), order));
  b.out(2, empty);
  b.out(3, b.node("Slice", 13, {order_of(b, order), b.list({0}), b.shape_of(row), b.list({0})}));
}

void lower_sparse_reorder(Builder& b) {
  Sparse x = sparse_at(b, 0, 1, 2);
  if (!b.ok()) return;
  sort(b, x);
  b.out(0, x.places);
  b.out(1, x.values);
}

void lower_sparse_concat(Builder& b) {
  const size_t count = b.input_count() / 3;
  if (count == 0) return b.refuse(Code::corrupt_model, "it joins no tensors");
  std::vector<ValueId> places, values;
  Sparse x;
  int64_t axis = 0;
  for (size_t i = 0; i < count; ++i) {
    const Sparse one = sparse_at(b, i, count + i, 2 * count + i);
    if (!b.ok()) return;
    if (i == 0) {
      x = one;
      axis = b.axis(b.i("concat_dim", 0), x.rank);
      if (!b.ok()) return;
    }
    const ValueId extent = b.slice(one.shape, 0, axis, axis + 1);
    const ValueId before = i == 0 ? b.list({0}) : b.slice(x.shape, 0, axis, axis + 1);
    const ValueId zeros = b.list(Ints(static_cast<size_t>(x.rank), 0));
    places.push_back(add(b, one.places, with_entry(b, zeros, axis, before)));
    values.push_back(one.values);
    x.shape = with_entry(b, x.shape, axis, add(b, before, extent));
  }
  x.places = concat(b, std::move(places));
  x.values = concat(b, std::move(values));
  sort(b, x);
  out_sparse(b, x, 0, 1, 2);
}

void lower_sparse_slice(Builder& b) {
  const Sparse x = sparse_at(b, 0, 1, 2);
  const ValueId start = b.in_row(3), size = b.in_row(4);
  if (b.ok()) out_sparse(b, part_of(b, x, start, size), 0, 1, 2);
}

// The first parts are one longer where the extent does not divide.
void lower_sparse_split(Builder& b) {
  const int64_t count = b.i("num_split", 1), given = b.in_value(0);
  const Sparse x = sparse_at(b, 1, 2, 3);
  if (!b.ok()) return;
  constexpr int64_t kMost = 4096;
  if (count < 1 || count > kMost)
    return b.refuse(Code::invalid_argument, "num_split is {}, expected 1 to {}", count, kMost);
  const int64_t axis = b.axis(given, x.rank);
  if (!b.ok()) return;
  const ValueId extent = b.slice(x.shape, 0, axis, axis + 1), parts = b.list({count});
  const ValueId least = div(b, extent, parts), longer = b.node("Mod", 13, {extent, parts});
  const ValueId zeros = b.list(Ints(static_cast<size_t>(x.rank), 0));
  for (int64_t i = 0; i < count; ++i) {
    const ValueId number = b.list({i});
    const ValueId start = add(b, mul(b, number, least), b.node("Min", 13, {number, longer}));
    const ValueId more = b.cast(b.node("Less", 13, {number, longer}), DType::i64);
    const Sparse part = part_of(b, x, with_entry(b, zeros, axis, start),
                                with_entry(b, x.shape, axis, add(b, least, more)));
    const auto at = static_cast<size_t>(i), all = static_cast<size_t>(count);
    out_sparse(b, part, at, all + at, 2 * all + at);
  }
}

// The places of the same elements in another shape, in which one extent may be -1.
void lower_sparse_reshape(Builder& b) {
  const ValueId places = b.index(b.in(0)), from = b.in_row(1), given = b.in_row(2);
  if (!b.has_rank(places, "the indices", 2, 2)) return;
  const ValueId one = b.whole(DType::i64, 1);
  const ValueId open = b.node("Less", 13, {given, b.whole(DType::i64, 0)});
  const ValueId stated = product(b, b.node("Where", 16, {open, one, given}));
  const ValueId rest = div(b, product(b, from), b.node("Max", 13, {stated, one}));
  const ValueId to = b.node("Where", 16, {open, rest, given});
  const ValueId number = b.unsqueeze(numbers_of(b, places, from), {1});
  const ValueId steps = b.node("Max", 13, {steps_of(b, to), one});
  b.out(0, b.node("Mod", 13, {div(b, number, steps), b.node("Max", 13, {to, one})}));
  b.out(1, to);
}

// Softmax over the elements that each row of the last axis has.
void lower_sparse_softmax(Builder& b) {
  const Sparse x = sparse_at(b, 0, 1, 2);
  if (!b.ok()) return;
  const ValueId rows = b.slice(x.shape, 0, 0, x.rank - 1);
  const ValueId group = numbers_of(b, b.slice(x.places, 1, 0, x.rank - 1), rows);
  const ValueId count = product(b, rows);
  const DType type = b.dtype(x.values);
  const ValueId lowest = b.scalar(type, -std::numeric_limits<double>::infinity());
  const ValueId top = folded(b, group, x.values, count, lowest, "max");
  const ValueId part = b.node("Exp", 13, {sub(b, x.values, rows_at(b, top, group))});
  const ValueId sum = folded(b, group, part, count, b.scalar(type, 0), "add");
  b.out(0, div(b, part, rows_at(b, sum, group)));
}

// The largest of each row that has elements, 0 of the others; dense.
void lower_sparse_reduce_max(Builder& b) {
  const bool keep = b.flag("keep_dims", false);
  const Sparse x = sparse_at(b, 0, 1, 2);
  const ValueId axes = b.in_row(3);
  if (!b.ok()) return;
  const DType type = b.dtype(x.values);
  const auto most = [&](ValueId values, ValueId start) {
    const ValueId room = b.node("Expand", 13, {start, x.shape});
    const ValueId dense =
        b.node("ScatterND", 18, {room, x.places, values}, {{"reduction", std::string("max")}});
    return b.node("ReduceMax", 18, {dense, axes}, {{"keepdims", int64_t{keep}}});
  };
  const ValueId zero = b.scalar(type, 0);
  const ValueId there = b.cast(ones_like(b, x.values), DType::u8);
  const ValueId any = b.cast(most(there, b.scalar(DType::u8, 0)), DType::boolean);
  b.out(0, b.node("Where", 16, {any, most(x.values, limit_of(b, type, true)), zero}));
}

// How many different elements each row of the last axis has: the sorted ones that differ from the
// one before.
void lower_set_size(Builder& b) {
  const Sparse x = sparse_at(b, 0, 1, 2);
  if (!b.ok()) return;
  const ValueId rows = b.slice(x.shape, 0, 0, x.rank - 1);
  ValueId group = numbers_of(b, b.slice(x.places, 1, 0, x.rank - 1), rows);
  ValueId values = b.index(x.values);
  for (const bool by_group : {false, true}) {
    const ValueId order = order_of(b, by_group ? group : values);
    group = rows_at(b, group, order);
    values = rows_at(b, values, order);
  }
  const auto changes = [&](ValueId list) {
    return b.node("Not", 1,
                  {b.node("Equal", 13, {b.slice(list, 0, 1, kToEnd), b.slice(list, 0, 0, -1)})});
  };
  const ValueId fresh = b.node("Or", 7, {changes(group), changes(values)});
  const ValueId all = concat(b, {b.filled(DType::boolean, {1}, 1), fresh});
  const ValueId kept = b.node("Slice", 13, {all, b.list({0}), b.shape_of(group), b.list({0})});
  const ValueId sizes =
      folded(b, group, b.cast(kept, DType::i64), product(b, rows), b.whole(DType::i64, 0), "add");
  b.out(0, b.cast(b.node("Reshape", 14, {sizes, rows}), DType::i32));
}

}  // namespace anynpu::tensorflow
