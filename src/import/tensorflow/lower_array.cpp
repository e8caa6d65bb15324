// SPDX-License-Identifier: Apache-2.0
// Tensors that are made, repeated, cut and turned round.
#include <algorithm>
#include <limits>
#include <numeric>

#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

// The pieces of a tensor along an axis, in the order in which it lies.
void cut(Builder& b, size_t input, int64_t axis, const Ints& sizes, size_t count) {
  const bool first = b.is_first(input);
  const ValueId x = first ? b.in_first(input) : b.in(input);
  if (!b.has_rank(x, "the tensor", 1)) return;
  axis = b.axis_of(axis, x);
  if (first) axis = first_axis(axis, static_cast<size_t>(b.rank(x)));
  if (count == 0 || count > 4096)
    return b.refuse(Code::invalid_argument, "it cuts into {} parts, expected 1 to 4096", count);
  if (sizes.empty()) {
    const int64_t extent = b.shape(x)[static_cast<size_t>(axis)];
    if (extent >= 0 && extent % static_cast<int64_t>(count) != 0)
      return b.refuse(Code::shape_mismatch, "it cuts {} rows into {} equal parts", extent, count);
  }
  std::vector<ValueId> parts;
  if (count == 1) {
    parts = {x};
  } else if (sizes.empty()) {
    parts = b.nodes("Split", 18, {x}, count,
                    {{"axis", axis}, {"num_outputs", static_cast<int64_t>(count)}});
  } else {
    parts = b.nodes("Split", 13, {x, b.list(sizes)}, count, {{"axis", axis}});
  }
  for (size_t i = 0; i < parts.size(); ++i) first ? b.out_first(i, parts[i]) : b.out(i, parts[i]);
}

}  // namespace

void lower_split(Builder& b) {
  const int64_t axis = b.in_value(0);
  const int64_t count = b.i("num_split", 1);
  if (b.ok()) cut(b, 1, axis, {}, static_cast<size_t>(std::max<int64_t>(count, 0)));
}

void lower_split_v(Builder& b) {
  Ints sizes = b.in_values(1);
  const int64_t axis = b.in_value(2);
  const bool first = b.is_first(0);
  const ValueId x = first ? b.in_first(0) : b.in(0);
  if (!b.has_rank(x, "the tensor", 1)) return;
  const auto inferred = std::find(sizes.begin(), sizes.end(), -1);
  if (inferred != sizes.end()) {
    int64_t at = b.axis_of(axis, x);
    if (first) at = first_axis(at, static_cast<size_t>(b.rank(x)));
    const int64_t extent = b.shape(x)[static_cast<size_t>(at)];
    if (extent < 0 && !b.need_fixed(x, "the tensor")) return;
    *inferred = extent - std::accumulate(sizes.begin(), sizes.end(), int64_t{1});
    if (*inferred < 0) return b.refuse(Code::shape_mismatch, "its sizes are more than {}", extent);
  }
  cut(b, 0, axis, sizes, sizes.size());
}

void lower_unpack(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the tensor", 1)) return;
  const int64_t axis = b.axis_of(b.i("axis", 0), x);
  const int64_t count = b.i("num", 0);
  if (!b.ok()) return;
  if (count < 1 || count > 4096)
    return b.refuse(Code::invalid_argument, "it cuts into {} parts, expected 1 to 4096", count);
  const auto parts = count == 1 ? std::vector<ValueId>{x}
                                : b.nodes("Split", 18, {x}, static_cast<size_t>(count),
                                          {{"axis", axis}, {"num_outputs", count}});
  for (size_t i = 0; i < parts.size(); ++i) b.out(i, b.squeeze(parts[i], {axis}));
}

// A size of -1 means up to the end.
void lower_slice(Builder& b) {
  const ValueId begin = b.in_row(1), size = b.in_row(2);
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the tensor", 1)) return;
  Ints axes(static_cast<size_t>(b.rank(x)));
  std::iota(axes.begin(), axes.end(), int64_t{0});
  const auto known_begin = b.known(begin), known_size = b.known(size);
  if (known_begin && known_size && known_begin->size() == axes.size() &&
      known_size->size() == axes.size()) {
    Ints from = *known_begin, to = *known_size;
    for (size_t i = 0; i < to.size(); ++i) to[i] = to[i] == -1 ? kToEnd : from[i] + to[i];
    // In the order in which a picture lies.
    const bool first = b.is_first(0);
    if (first) {
      from = first_list(from);
      to = first_list(to);
    }
    const ValueId y =
        b.node("Slice", 13, {first ? b.in_first(0) : x, b.list(from), b.list(to), b.list(axes)});
    return first ? b.out_first(0, y) : b.out(0, y);
  }
  const ValueId to_end = b.node("Equal", 13, {size, b.list({-1})});
  const ValueId end = b.node("Where", 16, {to_end, b.list({kToEnd}), add(b, begin, size)});
  b.out(0, b.node("Slice", 13, {x, begin, end, b.list(axes)}));
}

void lower_tile(Builder& b) { b.out(0, b.node("Tile", 13, {b.in(0), b.in_row(1)})); }

void lower_fill(Builder& b) { b.out(0, b.node("Expand", 13, {b.in(1), b.in_row(0)})); }

void lower_broadcast_to(Builder& b) { b.out(0, b.node("Expand", 13, {b.in(0), b.in_row(1)})); }

void lower_range(Builder& b) {
  const auto scalar = [&](size_t i) { return b.reshape(b.in(i), {}); };
  b.out(0, b.node("Range", 11, {scalar(0), scalar(1), scalar(2)}));
}

void lower_size(Builder& b) {
  const DType type = b.type("out_type", DType::i32);
  const ValueId x = b.is_first(0) ? b.in_first(0) : b.in(0);
  b.out(0, b.cast(b.node("Size", 13, {x}), type));
}

void lower_rank(Builder& b) {
  const ValueId x = b.is_first(0) ? b.in_first(0) : b.in(0);
  if (b.has_rank(x, "the tensor", 0, 64)) b.out(0, b.whole(DType::i32, b.rank(x)));
}

void lower_shape_n(Builder& b) {
  const DType type = b.type("out_type", DType::i32);
  for (size_t i = 0; i < b.input_count(); ++i) b.out(i, b.cast(b.shape_of(b.in(i)), type));
}

// Each axis from its end to its start.
void lower_reverse(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.has_rank(x, "the tensor", 0)) return;
  Ints axes = b.in_values(1);
  if (b.type() == "Reverse") {
    Ints chosen;
    for (size_t i = 0; i < axes.size(); ++i) {
      if (axes[i] != 0) chosen.push_back(static_cast<int64_t>(i));
    }
    axes = chosen;
  }
  if (!b.ok()) return;
  if (axes.empty()) return b.out(0, x);
  for (int64_t& axis : axes) axis = b.axis_of(axis, x);
  const Ints last(axes.size(), -1), before(axes.size(), -kToEnd), steps(axes.size(), -1);
  b.out(0, b.node("Slice", 13, {x, b.list(last), b.list(before), b.list(axes), b.list(steps)}));
}

void lower_cumulate(Builder& b) {
  const ValueId x = b.in(0);
  const int64_t axis = b.in_value(1);
  if (!b.has_rank(x, "the tensor", 1)) return;
  const NodeAttrs attrs{{"exclusive", int64_t{b.flag("exclusive", false)}},
                        {"reverse", int64_t{b.flag("reverse", false)}}};
  b.out(0, b.node(b.row().becomes, b.row().opset, {x, b.whole(DType::i64, b.axis_of(axis, x))},
                  attrs));
}

}  // namespace anynpu::tensorflow
