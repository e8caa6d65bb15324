// SPDX-License-Identifier: Apache-2.0
// Primitives that move elements or find them by index.
#include <algorithm>

#include "import/mindspore/rules.h"

namespace anynpu::mindspore {

namespace {

using Ints = std::vector<int64_t>;

Values unknown(const Call& call) {
  return std::vector<ValueId>(call.output_count, OpGraph::kUnknown);
}

Result<int64_t> axis_of(const Call& call, const Item& item, const Shape& shape) {
  ANYNPU_ASSIGN(const int64_t axis, call.integer(item, "dim"));
  const auto rank = static_cast<int64_t>(shape.size());
  if (axis >= -rank && axis < rank) return axis < 0 ? axis + rank : axis;
  return fail(Code::invalid_argument, "dim is {} for a tensor with {} axes", axis, rank);
}

}  // namespace

// Chunk: x, number of chunks, dim. SplitTensor: x, size of each, dim. SplitWithSize: x, sizes, dim.
Values rule_split_sizes(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return unknown(call);
  ANYNPU_ASSIGN(Ints sizes, call.integers(call.argument(1), "the sizes of the parts"));
  int64_t axis = 0;
  if (call.has(2)) {
    ANYNPU_ASSIGN(axis, axis_of(call, call.argument(2), call.shape(x)));
  }
  if (!call.type.starts_with("SplitWithSize")) {
    const int64_t extent = call.shape(x).empty() ? 0 : call.shape(x)[static_cast<size_t>(axis)];
    if (sizes.size() != 1 || sizes[0] < 1 || extent < 1) {
      return fail(Code::invalid_argument, "{} numbers for an axis of {}", sizes.size(), extent);
    }
    const bool chunks = call.type.starts_with("Chunk");
    const int64_t each = chunks ? (extent + sizes[0] - 1) / sizes[0] : sizes[0];
    sizes.clear();
    for (int64_t at = 0; at < extent && sizes.size() < call.output_count; at += each)
      sizes.push_back(std::min(each, extent - at));
  }
  return call.add("SplitVD", {x}, {{"size_splits", sizes}, {"split_dim", axis}});
}

// x, paddings, value: pairs for the last axes, the last axis first.
Values rule_pad_last_axes(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return unknown(call);
  ANYNPU_ASSIGN(const Ints given, call.integers(call.argument(1), "padding"));
  std::string mode = "constant";
  if (const auto found = call.attributes.find("mode"); found != call.attributes.end()) {
    ANYNPU_ASSIGN(mode, call.word(found->second, "mode", {}));
  }
  const size_t rank = call.shape(x).size();
  if (given.size() % 2 != 0 || given.size() / 2 > rank) {
    return fail(Code::invalid_argument, "padding has {} numbers for {} axes", given.size(), rank);
  }
  Ints pads(rank * 2, 0);
  for (size_t pair = 0; pair < given.size() / 2; ++pair) {
    pads[(rank - 1 - pair) * 2] = given[pair * 2];
    pads[(rank - 1 - pair) * 2 + 1] = given[pair * 2 + 1];
  }
  ANYNPU_ASSIGN(const ValueId paddings, call.list(pads));
  std::vector<ValueId> inputs = {x, paddings};
  if (mode == "constant" && call.has(2)) {
    ANYNPU_ASSIGN(const ValueId value, call.tensor(call.argument(2), call.graph.value(x).dtype));
    inputs.push_back(value);
  }
  return call.add("PadV3", std::move(inputs), {{"mode", mode == "circular" ? "wrap" : mode}});
}

Values rule_expand_as(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(const ValueId like, call.tensor(call.argument(1)));
  if (x < 0 || like < 0) return unknown(call);
  ANYNPU_ASSIGN(const ValueId shape, call.list(call.shape(like)));
  return call.add("BroadcastTo", {x, shape}, {});
}

// Ones and Zeros: shape, type. FillScalar: shape, value, type.
Values rule_fill(Call& call) {
  const bool scalar = call.type == "FillScalar";
  ANYNPU_ASSIGN(const Ints shape, call.integers(call.argument(0), "the shape"));
  const Item plain = Item::of(singleop::Attr(int64_t{call.type == "Ones"}));
  DType dtype = DType::f32;
  if (const Item& item = call.argument(scalar ? 2 : 1); !item.is_nothing()) {
    ANYNPU_ASSIGN(dtype, call.dtype(item, "dtype"));
  }
  ANYNPU_ASSIGN(const ValueId dims, call.list(shape));
  ANYNPU_ASSIGN(const ValueId number,
                call.number(scalar ? call.argument(1) : plain, dtype, "the value"));
  return call.add("Fill", {dims, number}, {});
}

// x, dim, start, length.
Values rule_narrow(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return unknown(call);
  const Shape shape = call.shape(x);
  ANYNPU_ASSIGN(const int64_t axis, axis_of(call, call.argument(1), shape));
  ANYNPU_ASSIGN(const int64_t start, call.integer(call.argument(2), "start"));
  ANYNPU_ASSIGN(const int64_t length, call.integer(call.argument(3), "length"));
  Ints begin(shape.size(), 0), size(shape.begin(), shape.end());
  begin[static_cast<size_t>(axis)] = start < 0 ? start + shape[static_cast<size_t>(axis)] : start;
  size[static_cast<size_t>(axis)] = length;
  ANYNPU_ASSIGN(const ValueId begins, call.list(begin));
  ANYNPU_ASSIGN(const ValueId sizes, call.list(size));
  return call.add("Slice", {x, begins, sizes}, {});
}

// x, dim, index: one slice, without the axis.
Values rule_select_index(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return unknown(call);
  ANYNPU_ASSIGN(const int64_t axis, axis_of(call, call.argument(1), call.shape(x)));
  ANYNPU_ASSIGN(const ValueId index, call.tensor(call.argument(2), DType::i64));
  ANYNPU_ASSIGN(const ValueId along, call.list({axis}));
  return call.add("GatherV2", {x, index, along}, {});
}

// x, dim, start, end, step.
Values rule_slice_ext(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  std::vector<ValueId> inputs = {x};
  for (size_t i : {size_t{2}, size_t{3}, size_t{1}, size_t{4}}) {
    ANYNPU_ASSIGN(const int64_t number, call.integer(call.argument(i), "dim, start, end, step"));
    ANYNPU_ASSIGN(const ValueId list, call.list({number}));
    inputs.push_back(list);
  }
  return call.add("StridedSliceV2", std::move(inputs), {});
}

// x, multiples: more of these than axes put axes in front.
Values rule_tile(Call& call) {
  ANYNPU_ASSIGN(ValueId x, call.tensor(call.argument(0)));
  ANYNPU_ASSIGN(Ints multiples, call.integers(call.argument(1), "multiples"));
  if (x < 0) return unknown(call);
  const Shape shape = call.shape(x);
  if (multiples.size() > shape.size()) {
    Shape wide(multiples.size() - shape.size(), 1);
    wide.insert(wide.end(), shape.begin(), shape.end());
    ANYNPU_ASSIGN(const ValueId dims, call.list(wide));
    ANYNPU_ASSIGN(x, call.step("Reshape", {x, dims}));
  }
  while (multiples.size() < shape.size()) multiples.insert(multiples.begin(), 1);
  return call.add("TileD", {x}, {{"multiples", multiples}});
}

// x, dim0, dim1.
Values rule_swap_axes(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return unknown(call);
  ANYNPU_ASSIGN(const int64_t a, axis_of(call, call.argument(1), call.shape(x)));
  ANYNPU_ASSIGN(const int64_t b, axis_of(call, call.argument(2), call.shape(x)));
  Ints order;
  for (size_t d = 0; d < call.shape(x).size(); ++d) order.push_back(static_cast<int64_t>(d));
  std::swap(order[static_cast<size_t>(a)], order[static_cast<size_t>(b)]);
  ANYNPU_ASSIGN(const ValueId perm, call.list(order));
  return call.add("Transpose", {x, perm}, {});
}

// Embedding: indices, weight. EmbeddingLookup: weight, indices, offset.
Values rule_embedding(Call& call) {
  const bool lookup = call.type == "EmbeddingLookup";
  ANYNPU_ASSIGN(const ValueId table, call.tensor(call.argument(lookup ? 0 : 1)));
  ANYNPU_ASSIGN(const ValueId indices, call.tensor(call.argument(lookup ? 1 : 0)));
  if (lookup && call.has(2)) {
    ANYNPU_ASSIGN(const int64_t offset, call.integer(call.argument(2), "offset"));
    if (offset != 0) return fail(Code::unsupported_feature, "its offset is {}, expected 0", offset);
  }
  ANYNPU_ASSIGN(const ValueId axis, call.list({0}));
  return call.add("GatherV2", {table, indices, axis}, {});
}

// x, axis, indices.
Values rule_index_select(Call& call) {
  ANYNPU_ASSIGN(const ValueId x, call.tensor(call.argument(0)));
  if (x < 0) return unknown(call);
  ANYNPU_ASSIGN(const int64_t axis, axis_of(call, call.argument(1), call.shape(x)));
  ANYNPU_ASSIGN(const ValueId indices, call.tensor(call.argument(2)));
  ANYNPU_ASSIGN(const ValueId along, call.list({axis}));
  return call.add("GatherV2", {x, indices, along}, {});
}

}  // namespace anynpu::mindspore
