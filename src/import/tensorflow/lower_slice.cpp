// SPDX-License-Identifier: Apache-2.0
// Parts of tensors.
#include <algorithm>
#include <limits>
#include <numeric>

#include "graph/tensor_value.h"
#include "import/tensorflow/lower.h"
#include "import/tensorflow/table.h"

namespace anynpu::tensorflow {

namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

// What the masks of a StridedSlice say about each entry of begin, end and strides.
struct SliceMasks {
  int64_t begin, end, ellipsis, fresh, shrink;
  bool is(int64_t mask, size_t entry) const { return (mask >> entry & 1) != 0; }
};

// Every entry is an index that comes at run time, or a whole axis: x[i], x[:, i].
bool takes_only_rows(const SliceMasks& masks, const std::vector<size_t>& entries,
                     const Ints& steps) {
  for (size_t k = 0; k < entries.size(); ++k) {
    const size_t e = entries[k];
    const bool whole = masks.is(masks.begin, e) && masks.is(masks.end, e) && steps[k] == 1;
    if (!masks.is(masks.shrink, e) && !whole) return false;
  }
  return true;
}

// By Gather, whose result has a known shape. Later axes first, so that the others keep their place.
ValueId rows_at(Builder& b, ValueId x, ValueId begins, const Ints& axes,
                const std::vector<size_t>& entries, const SliceMasks& masks) {
  for (size_t k = axes.size(); k-- > 0;) {
    const auto at = static_cast<int64_t>(entries[k]);
    if (!masks.is(masks.shrink, entries[k])) continue;
    const ValueId index = b.squeeze(b.slice(begins, 0, at, at + 1), {0});
    x = b.node("Gather", 13, {x, index}, {{"axis", axes[k]}});
  }
  return x;
}

}  // namespace

// Each entry is a range of an axis, an index that takes the axis away, a new axis of 1, or the
// ellipsis, which stands for all axes that no other entry means.
void lower_strided_slice(Builder& b) {
  const ValueId seen = b.is_first(0) ? b.in_first(0) : b.in(0);  // for its rank
  const SliceMasks masks{b.i("begin_mask", 0), b.i("end_mask", 0), b.i("ellipsis_mask", 0),
                         b.i("new_axis_mask", 0), b.i("shrink_axis_mask", 0)};
  const ValueId begins = b.in_row(1), ends = b.in_row(2);
  const Ints strides = b.in_values(3);
  if (!b.has_rank(seen, "the tensor", 0, 8)) return;
  const int64_t rank = b.rank(seen);
  const size_t entries = strides.size();
  if (entries > 32) return b.refuse(Code::corrupt_model, "it has {} entries", entries);
  const auto known_begin = b.known(begins), known_end = b.known(ends);
  if ((known_begin && known_begin->size() != entries) ||
      (known_end && known_end->size() != entries)) {
    return b.refuse(Code::shape_mismatch, "begin, end and strides have different lengths");
  }
  int64_t used = 0;
  for (size_t e = 0; e < entries; ++e)
    used += !masks.is(masks.ellipsis, e) && !masks.is(masks.fresh, e);
  if (used > rank) {
    return b.refuse(Code::shape_mismatch, "it slices {} axes of a tensor with {}", used, rank);
  }
  Ints axes, steps, shrunk, fresh;
  std::vector<size_t> from_entry;
  int64_t axis = 0, target = 0;  // in the tensor, and in the result before axes are taken away
  for (size_t e = 0; e < entries; ++e) {
    if (masks.is(masks.ellipsis, e)) {
      axis += rank - used;
      target += rank - used;
      used = rank;  // a second ellipsis means nothing
      continue;
    }
    if (masks.is(masks.fresh, e)) {
      fresh.push_back(target++);
      continue;
    }
    const bool shrink = masks.is(masks.shrink, e);
    if (shrink) shrunk.push_back(axis);
    if (strides[e] == 0) return b.refuse(Code::invalid_argument, "stride {} is 0", e);
    axes.push_back(axis++);
    steps.push_back(shrink ? 1 : strides[e]);
    from_entry.push_back(e);
    if (!shrink) ++target;
  }
  // Begin and end of each sliced axis.
  std::vector<ValueId> begin_parts, end_parts;
  Ints begin_list, end_list;
  const bool all_known = known_begin && known_end;
  for (size_t k = 0; k < axes.size(); ++k) {
    const size_t e = from_entry[k];
    const auto at = static_cast<int64_t>(e);
    const bool shrink = masks.is(masks.shrink, e);
    const bool open_begin = !shrink && masks.is(masks.begin, e);
    const bool open_end = !shrink && masks.is(masks.end, e);
    const int64_t from = steps[k] > 0 ? 0 : kEnd, to = steps[k] > 0 ? kEnd : -kEnd;
    if (all_known) {
      const int64_t first = (*known_begin)[e];
      begin_list.push_back(open_begin ? from : first);
      // The element behind -1 is the end.
      end_list.push_back(open_end ? to
                         : shrink ? (first == -1 ? kEnd : first + 1)
                                  : (*known_end)[e]);
      continue;
    }
    const ValueId first = open_begin ? b.list({from}) : b.slice(begins, 0, at, at + 1);
    begin_parts.push_back(first);
    if (open_end) {
      end_parts.push_back(b.list({to}));
    } else if (!shrink) {
      end_parts.push_back(b.slice(ends, 0, at, at + 1));
    } else {
      const ValueId next = b.node("Add", 14, {first, b.list({1})});
      const ValueId wraps = b.node("Equal", 13, {next, b.list({0})});
      end_parts.push_back(b.node("Where", 16, {wraps, b.list({kEnd}), next}));
    }
  }
  // Parts of a picture, in the order in which it lies.
  if (b.is_first(0) && all_known && shrunk.empty() && fresh.empty() && !axes.empty()) {
    for (int64_t& one : axes) one = first_axis(one, static_cast<size_t>(rank));
    return b.out_first(0, b.node("Slice", 13,
                                 {b.in_first(0), b.list(begin_list), b.list(end_list), b.list(axes),
                                  b.list(steps)}));
  }
  const ValueId x = b.in(0);
  if (!all_known && fresh.empty() && takes_only_rows(masks, from_entry, steps)) {
    return b.out(0, rows_at(b, x, begins, axes, from_entry, masks));
  }
  ValueId y = x;
  if (!axes.empty()) {
    const auto joined = [&](const std::vector<ValueId>& parts) {
      return parts.size() == 1 ? parts[0] : b.node("Concat", 13, parts, {{"axis", int64_t{0}}});
    };
    const ValueId begin = all_known ? b.list(begin_list) : joined(begin_parts);
    const ValueId end = all_known ? b.list(end_list) : joined(end_parts);
    y = b.node("Slice", 13, {x, begin, end, b.list(axes), b.list(steps)});
  }
  if (!shrunk.empty()) y = b.squeeze(y, shrunk);
  if (!fresh.empty()) y = b.unsqueeze(y, fresh);
  b.out(0, y);
}

namespace {

// The places of a slice in a tensor of `shape`, counted along all of it: the slice of those
// numbers. Inputs `first` and behind it are begin, end and strides.
ValueId places_of_slice(Builder& b, const Shape& shape, size_t first) {
  constexpr int64_t kMost = int64_t{1} << 24;
  const int64_t count = element_count(shape);
  if (count < 0 || count > kMost) {
    b.refuse(Code::unsupported_shape,
             "the tensor is {}; expected known extents and at most {} elements", to_string(shape),
             kMost);
    return kNoValue;
  }
  Ints numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), int64_t{0});
  Tensor whole;
  whole.plain = b.constant(DType::i64, shape, graph::constant_of(std::move(numbers)));
  std::vector<Tensor> inputs = {whole};
  for (size_t i = first; i < first + 3 && i < b.input_count(); ++i) inputs.push_back(b.tensor(i));
  const auto made = b.lower_as(b.def(), find_tf_op("StridedSlice"), std::move(inputs));
  return made.empty() ? kNoValue : b.plain(made[0]);
}

// `values`, broadcast to the places, in a row of elements.
ValueId put(Builder& b, ValueId row, ValueId places, ValueId values, const Shape& shape) {
  if (!b.ok()) return kNoValue;
  const ValueId spread = b.node("Expand", 13, {values, b.shape_of(places)});
  const ValueId made =
      b.node("ScatterND", 16, {row, b.reshape(places, {-1, 1}), b.reshape(spread, {-1})});
  return b.reshape(made, shape);
}

}  // namespace

// Zeros with the gradient where the slice was.
void lower_strided_slice_grad(Builder& b) {
  const Ints shape = b.in_values(0);
  if (!b.ok()) return;
  const ValueId places = places_of_slice(b, shape, 1), gradient = b.in(4);
  if (b.ok())
    b.out(0,
          put(b, b.filled(b.dtype(gradient), {element_count(shape)}, 0), places, gradient, shape));
}

void lower_strided_slice_update(Builder& b) {
  const ValueId x = b.in(0), values = b.in(4);
  if (!b.need_fixed(x, "the tensor")) return;
  const Shape shape = b.shape(x);
  const ValueId places = places_of_slice(b, shape, 1);
  if (b.ok()) b.out(0, put(b, b.reshape(x, {-1}), places, values, shape));
}

}  // namespace anynpu::tensorflow
