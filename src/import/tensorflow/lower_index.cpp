// SPDX-License-Identifier: Apache-2.0
// Elements found and put by their indices.
#include <algorithm>
#include <numeric>

#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// Gather in which the first `batch` axes of both go together, axis behind them.
ValueId gather_in_batches(Builder& b, ValueId x, ValueId indices, int64_t axis, int64_t batch) {
  const int64_t rank = b.rank(x), more = b.rank(indices) - batch;
  // The axis comes directly behind the batch.
  Ints order;
  for (int64_t i = 0; i < batch; ++i) order.push_back(i);
  order.push_back(axis);
  for (int64_t i = batch; i < rank; ++i) {
    if (i != axis) order.push_back(i);
  }
  const ValueId moved = b.transpose(x, order);
  const ValueId picked =
      b.node("GatherND", 13, {moved, b.unsqueeze(b.index(indices), {-1})}, {{"batch_dims", batch}});
  // batch, indices, [batch..axis), (axis..] -> batch, [batch..axis), indices, (axis..]
  Ints back;
  for (int64_t i = 0; i < batch; ++i) back.push_back(i);
  for (int64_t i = 0; i < axis - batch; ++i) back.push_back(batch + more + i);
  for (int64_t i = 0; i < more; ++i) back.push_back(batch + i);
  for (int64_t i = axis + more; i < rank - 1 + more; ++i) back.push_back(i);
  return b.transpose(picked, back);
}

// Gather along an axis that is computed while the model runs: [before, axis, behind], then the
// extents that the result has.
ValueId gather_along(Builder& b, ValueId x, ValueId indices, ValueId given) {
  if (!b.has_rank(x, "params", 1) || !b.has_rank(indices, "indices", 0)) return kNoValue;
  const ValueId rank = b.list({b.rank(x)}), zero = b.list({0});
  const ValueId negative = b.node("Less", 13, {given, zero});
  const ValueId axis = b.node("Where", 16, {negative, add(b, given, rank), given});
  const ValueId extents = b.shape_of(x);
  const ValueId before = b.node("Slice", 13, {extents, zero, axis, zero});
  const ValueId behind = b.node("Slice", 13, {extents, add(b, axis, b.list({1})), rank, zero});
  const auto product = [&](ValueId part) { return b.node("ReduceProd", 18, {part, zero}); };
  const ValueId flat = b.node(
      "Reshape", 14, {x, concat(b, {product(before), rows_at(b, extents, axis), product(behind)})},
      {{"allowzero", int64_t{1}}});
  const ValueId picked = b.node("Gather", 13, {flat, b.index(indices)}, {{"axis", int64_t{1}}});
  const ValueId shape = b.reshape(concat(b, {before, b.shape_of(indices), behind}),
                                  {b.rank(x) - 1 + b.rank(indices)});
  return b.node("Reshape", 14, {picked, shape}, {{"allowzero", int64_t{1}}});
}

}  // namespace

void lower_gather(Builder& b) {
  const ValueId x = b.in(0), indices = b.in(1);
  int64_t axis = 0, batch = b.i("batch_dims", 0);
  if (b.type() == "GatherV2" && batch == 0 && !b.is_known(2)) {
    const ValueId given = b.in_row(2);
    return b.out(0, gather_along(b, x, indices, given));
  }
  if (b.type() == "GatherV2") axis = b.in_value(2);
  if (!b.ok()) return;
  if (batch != 0 || axis != 0) {
    if (!b.has_rank(x, "params", 1) || !b.has_rank(indices, "indices", 0)) return;
    axis = b.axis_of(axis, x);
    if (batch < 0) batch += b.rank(indices);
  }
  if (batch == 0) return b.out(0, b.node("Gather", 13, {x, b.index(indices)}, {{"axis", axis}}));
  if (batch < 0 || batch > axis || batch > b.rank(indices))
    return b.refuse(Code::invalid_argument, "batch_dims is {}, axis {}", batch, axis);
  b.out(0, gather_in_batches(b, x, indices, axis, batch));
}

void lower_gather_nd(Builder& b) {
  const ValueId places = b.in(1);
  // Places without coordinates mean the whole tensor, once for each.
  if (b.ok() && b.is_fixed(places) && b.rank(places) > 0 && b.shape(places).back() == 0) {
    Ints counts(b.shape(places).begin(), b.shape(places).end() - 1);
    const ValueId shape =
        b.node("Concat", 13, {b.list(counts), b.shape_of(b.in(0))}, {{"axis", int64_t{0}}});
    return b.out(0, b.node("Expand", 13, {b.in(0), shape}));
  }
  b.out(0, b.node("GatherND", 13, {b.in(0), b.index(b.in(1))},
                  {{"batch_dims", b.i("batch_dims", 0)}}));
}

void lower_scatter_nd(Builder& b) {
  const ValueId updates = b.in(1);
  if (b.dtype(updates) == DType::boolean) {  // true where one of them is
    const ValueId none = b.node("Expand", 13, {b.scalar(DType::u8, 0), b.in_row(2)});
    const ValueId any =
        b.node("ScatterND", 18, {none, b.index(b.in(0)), b.cast(updates, DType::u8)},
               {{"reduction", std::string("max")}});
    return b.out(0, b.cast(any, DType::boolean));
  }
  const ValueId zeros = b.node("Expand", 13, {b.scalar(b.dtype(updates), 0), b.in_row(2)});
  b.out(0, b.node("ScatterND", 16, {zeros, b.index(b.in(0)), updates},
                  {{"reduction", std::string("add")}}));
}

void lower_tensor_scatter(Builder& b) {
  const std::string& type = b.type();
  const ValueId x = b.in(0), indices = b.index(b.in(1));
  ValueId updates = b.in(2);
  std::string how = "none";
  if (type == "TensorScatterAdd" || type == "TensorScatterSub" || type == "ScatterNdNonAliasingAdd")
    how = "add";
  if (type == "TensorScatterMax") how = "max";
  if (type == "TensorScatterMin") how = "min";
  if (type == "TensorScatterSub") updates = b.node("Neg", 13, {updates});
  b.out(0, b.node("ScatterND", 18, {x, indices, updates}, {{"reduction", how}}));
}

// Indices outside 0 to depth - 1 make rows of `off`; ours would count negative ones from the end.
void lower_one_hot(Builder& b) {
  const ValueId given = b.index(b.in(0)), depth = b.in_row(1);
  const int64_t axis = b.i("axis", -1);
  if (!b.ok()) return;
  const ValueId outside = b.node("Less", 13, {given, b.scalar(DType::i64, 0)});
  const ValueId top = b.reshape(depth, {});
  const ValueId indices = b.node("Where", 16, {outside, top, given});
  const ValueId values = b.node("Concat", 13, {b.reshape(b.in(3), {1}), b.reshape(b.in(2), {1})},
                                {{"axis", int64_t{0}}});
  b.out(0, b.node("OneHot", 11, {indices, depth, values}, {{"axis", axis}}));
}

void lower_top_k(Builder& b) {
  const ValueId x = b.in(0);
  const bool by_input = b.type() == "TopKV2";
  const ValueId k = by_input ? b.in_row(1) : b.list({b.i("k", 1)});
  const bool sorted = b.flag("sorted", true);
  const DType type = b.type("index_type", DType::i32);
  const auto made =
      b.nodes("TopK", 11, {x, k}, 2, {{"axis", int64_t{-1}}, {"sorted", int64_t{sorted}}});
  b.out(0, made[0]);
  b.out(1, b.cast(made[1], type));
}

// The places of what is not zero, a row each.
void lower_where(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const ValueId found = b.node("NonZero", 13, {x});
  b.out(0, b.node("Transpose", 13, {found}, {{"perm", Ints{1, 0}}}));
}

void lower_unique(Builder& b) {
  const DType type = b.type("out_idx", DType::i32);
  const auto made = b.nodes("Unique", 11, {b.in(0)}, 4, {{"sorted", int64_t{0}}});
  b.out(0, made[0]);
  b.out(1, b.cast(made[2], type));
  if (b.type() == "UniqueWithCounts") b.out(2, b.cast(made[3], type));
}

void lower_reverse_sequence(Builder& b) {
  const ValueId x = b.in(0), lengths = b.index(b.in(1));
  const int64_t time = b.i("seq_dim", 0), batch = b.i("batch_dim", 0);
  if (!b.has_rank(x, "the tensor", 2)) return;
  if ((time == 0 && batch == 1) || (time == 1 && batch == 0)) {
    return b.out(0, b.node("ReverseSequence", 10, {x, lengths},
                           {{"time_axis", time}, {"batch_axis", batch}}));
  }
  // Ours takes the first two axes: they go there and back.
  if (time < 0 || batch < 0 || time >= b.rank(x) || batch >= b.rank(x) || time == batch)
    return b.refuse(Code::invalid_argument, "seq_dim is {}, batch_dim {}", time, batch);
  Ints order = {batch, time}, back(static_cast<size_t>(b.rank(x)));
  for (int64_t i = 0; i < b.rank(x); ++i) {
    if (i != batch && i != time) order.push_back(i);
  }
  for (size_t i = 0; i < order.size(); ++i)
    back[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
  const ValueId turned = b.node("ReverseSequence", 10, {b.transpose(x, order), lengths},
                                {{"time_axis", int64_t{1}}, {"batch_axis", int64_t{0}}});
  b.out(0, b.transpose(turned, back));
}

}  // namespace anynpu::tensorflow
