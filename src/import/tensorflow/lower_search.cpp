// SPDX-License-Identifier: Apache-2.0
// Rows put at indices, partitions, searches.

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

// ScatterND, with truth values as bytes.
ValueId scatter(Builder& b, ValueId x, ValueId indices, ValueId updates, std::string how) {
  const DType type = b.dtype(x);
  const bool truth = type == DType::boolean && how != "none";
  if (truth) {
    x = b.cast(x, DType::u8);
    updates = b.cast(updates, DType::u8);
    how = "max";
  }
  const ValueId y =
      b.node("ScatterND", 18, {x, b.index(indices), updates}, {{"reduction", std::move(how)}});
  return truth ? b.cast(y, type) : y;
}

ValueId negated(Builder& b, ValueId x) { return sub(b, b.scalar(b.dtype(x), 0), x); }

std::vector<ValueId> top_k(Builder& b, ValueId x, ValueId k, bool largest) {
  return b.nodes("TopK", 11, {x, k}, 2, {{"largest", int64_t{largest}}});
}

}  // namespace

// InplaceUpdate(x, rows, values): rows of x.
void lower_inplace(Builder& b) {
  const ValueId x = b.in(0), rows = b.in_row(1);
  ValueId values = b.in(2);
  if (!b.ok()) return;
  if (b.type() == "InplaceSub") values = negated(b, values);
  const char* how = b.type() == "InplaceUpdate" ? "none" : "add";
  b.out(0, scatter(b, x, b.unsqueeze(rows, {1}), values, how));
}

void lower_sparse_to_dense(Builder& b) {
  ValueId indices = b.index(b.in(0));
  const ValueId shape = b.in_row(1), fill = b.in(3);
  ValueId values = b.in(2);
  if (!b.has_rank(indices, "the indices", 0, 2) || !b.has_rank(values, "the values", 0, 1)) return;
  if (b.rank(indices) == 0) indices = b.reshape(indices, {1, 1});
  if (b.rank(indices) == 1) indices = b.unsqueeze(indices, {1});
  if (b.rank(values) == 0) {
    const ValueId count = b.slice(b.shape_of(indices), 0, 0, 1);
    values = b.node("Expand", 13, {values, count});
  }
  b.out(0, scatter(b, b.node("Expand", 13, {fill, shape}), indices, values, "none"));
}

void lower_dynamic_partition(Builder& b) {
  const int64_t count = b.i("num_partitions", 0);
  ValueId x = b.in(0), parts = b.in(1);
  if (!b.has_rank(x, "the data", 1) || !b.has_rank(parts, "the partitions", 1)) return;
  const int64_t axes = b.rank(parts);
  if (axes > 1) {
    if (!b.need_fixed(x, "the data")) return;
    Ints shape{-1};
    shape.insert(shape.end(), b.shape(x).begin() + axes, b.shape(x).end());
    x = b.reshape(x, shape);
    parts = b.reshape(parts, {-1});
  }
  for (int64_t i = 0; i < count; ++i) {
    const ValueId chosen = b.node("Equal", 13, {parts, b.whole(b.dtype(parts), i)});
    b.out(static_cast<size_t>(i), b.node("Compress", 11, {x, chosen}, {{"axis", int64_t{0}}}));
  }
}

// Rows of all data by their indices; of an index that comes twice the last row stays.
void lower_dynamic_stitch(Builder& b) {
  const size_t count = b.input_count() / 2;
  if (count == 0) return b.refuse(Code::corrupt_model, "it joins no tensors");
  std::vector<ValueId> rows, all_indices;
  ValueId tail = kNoValue;
  for (size_t i = 0; i < count; ++i) {
    const ValueId indices = b.index(b.in(i)), x = b.in(count + i);
    if (!b.has_rank(indices, "the indices", 0) || !b.has_rank(x, "the data", 0)) return;
    const int64_t axes = b.rank(indices);
    const ValueId own_tail = b.slice(b.shape_of(x), 0, axes, b.rank(x));
    if (i == 0) tail = own_tail;
    const ValueId shape = b.node("Concat", 13, {b.list({-1}), own_tail}, {{"axis", int64_t{0}}});
    rows.push_back(b.node("Reshape", 14, {x, shape}, {{"allowzero", int64_t{1}}}));
    all_indices.push_back(b.reshape(indices, {-1}));
  }
  const NodeAttrs first{{"axis", int64_t{0}}};
  const ValueId indices = b.node("Concat", 13, all_indices, first);
  const ValueId data = b.node("Concat", 13, rows, first);
  const ValueId most = b.node("ReduceMax", 18, {indices}, {{"keepdims", int64_t{1}}});
  const ValueId shape = b.node("Concat", 13, {add(b, most, b.list({1})), tail}, first);
  b.out(0, scatter(b, zeros_of(b, b.dtype(data), shape), b.unsqueeze(indices, {1}), data, "none"));
}

// Whether fewer than k predictions are above that of the target.
void lower_in_top_k(Builder& b) {
  const ValueId x = b.in(0), targets = b.in(1);
  const ValueId k =
      b.type() == "InTopK" ? b.whole(DType::i64, b.i("k", 0)) : b.cast(b.in(2), DType::i64);
  if (!b.ok()) return;
  const ValueId own =
      b.node("GatherElements", 13, {x, b.unsqueeze(b.index(targets), {1})}, {{"axis", int64_t{1}}});
  const ValueId above = b.cast(b.node("Greater", 13, {x, own}), DType::i64);
  const ValueId count = b.node("ReduceSum", 13, {above, b.list({1})}, {{"keepdims", int64_t{0}}});
  b.out(0, b.node("Less", 13, {count, k}));
}

void lower_nth_element(Builder& b) {
  const bool reverse = b.flag("reverse", false);
  const ValueId x = b.in(0);
  const int64_t n = b.in_value(1);
  if (!b.ok()) return;
  const ValueId sorted = top_k(b, x, b.list({n + 1}), reverse)[0];
  b.out(0, b.squeeze(b.slice(sorted, b.rank(x) - 1, n, n + 1), {b.rank(x) - 1}));
}

// How many of each sorted row lie before (or at) each value.
void lower_bound(Builder& b) {
  const ValueId sorted = b.in(0), values = b.in(1);
  const DType type = b.type("out_type", DType::i32);
  if (!b.ok()) return;
  const ValueId left = b.unsqueeze(sorted, {1}), right = b.unsqueeze(values, {2});
  const ValueId before = b.type() == "LowerBound" ? b.node("Less", 13, {left, right})
                                                  : b.node("LessOrEqual", 16, {left, right});
  b.out(0,
        b.node("ReduceSum", 13, {b.cast(before, type), b.list({2})}, {{"keepdims", int64_t{0}}}));
}

void lower_unique_along(Builder& b) {
  ValueId x = b.in(0);
  const DType type = b.type("out_idx", DType::i32), own = b.dtype(x);
  NodeAttrs attrs{{"sorted", int64_t{0}}};
  if (b.type().ends_with("V2")) {
    const Ints axes = b.in_values(1);
    if (!b.ok()) return;
    if (!axes.empty()) attrs["axis"] = b.axis_of(axes[0], x);
  }
  if (own == DType::boolean) x = b.cast(x, DType::u8);
  const auto made = b.nodes("Unique", 11, {x}, 4, attrs);
  b.out(0, b.cast(made[0], own));
  b.out(1, b.cast(made[2], type));
  if (b.type().starts_with("UniqueWithCounts")) b.out(2, b.cast(made[3], type));
}

void lower_invert_permutation(Builder& b) {
  const ValueId x = b.in(0);
  if (b.ok()) b.out(0, b.cast(top_k(b, x, b.shape_of(x), false)[1], b.dtype(x)));
}

// The elements of x that are not in y, and where they stood.
void lower_list_diff(Builder& b) {
  const ValueId x = b.in(0), y = b.in(1);
  const DType type = b.type("out_idx", DType::i32);
  if (!b.ok()) return;
  const ValueId same = b.node("Equal", 13, {b.unsqueeze(x, {1}), b.unsqueeze(y, {0})});
  const ValueId count =
      b.node("ReduceSum", 13, {b.cast(same, DType::i32), b.list({1})}, {{"keepdims", int64_t{0}}});
  const ValueId kept = b.node("Equal", 13, {count, b.scalar(DType::i32, 0)});
  const ValueId places = b.node("Squeeze", 13, {b.node("NonZero", 13, {kept}), b.list({0})});
  b.out(0, b.node("Compress", 11, {x, kept}, {{"axis", int64_t{0}}}));
  b.out(1, b.cast(places, type));
}

}  // namespace anynpu::tensorflow
