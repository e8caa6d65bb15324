// SPDX-License-Identifier: Apache-2.0
// Slices with a start, an end and a step for each axis, and their gradient.
#include <algorithm>
#include <limits>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

// The slices of some axes, then axes that are removed and added.
struct Slices {
  std::vector<int64_t> starts, ends, steps, axes, gone, added;
};

// From inputs or attributes. Masks are bits of whole numbers; a bit of new_axis_mask inserts an
// axis.
Slices read_slices(Builder& b, int64_t rank) {
  Slices out;
  const auto begin = known_list(b, 1, "begin"), end = known_list(b, 2, "end");
  std::vector<int64_t> strides(begin.size(), 1);
  if (b.has_attr("strides") || b.has(3)) strides = known_list(b, 3, "strides");
  const int64_t begin_mask = b.i("begin_mask", 0), end_mask = b.i("end_mask", 0);
  const int64_t ellipsis = b.i("ellipsis_mask", 0), added = b.i("new_axis_mask", 0);
  const int64_t shrink = b.i("shrink_axis_mask", 0);
  if (!b.ok()) return out;
  if (begin.size() != end.size() || begin.size() != strides.size()) {
    b.refuse(Code::invalid_argument, "begin, end and strides have {}, {} and {} entries",
             begin.size(), end.size(), strides.size());
    return out;
  }
  if (begin.size() > 32) {
    b.refuse(Code::invalid_argument, "begin has {} entries, expected at most 32", begin.size());
    return out;
  }
  const auto bit = [](int64_t mask, size_t n) { return (mask >> n & 1) != 0; };
  int64_t axis = 0, made = 0;
  for (size_t n = 0; n < begin.size(); ++n) {
    if (bit(ellipsis, n)) {
      int64_t later = 0;
      for (size_t m = n + 1; m < begin.size(); ++m) later += !bit(added, m);
      const int64_t skipped = std::max<int64_t>(rank - axis - later, -1);
      if (skipped < 0) {
        axis += later;
        break;
      }
      axis += skipped;
      made += skipped;
      continue;
    }
    if (bit(added, n)) {
      out.added.push_back(made++);
      continue;
    }
    const int64_t step = strides[n];
    const bool one = bit(shrink, n);
    const int64_t next = begin[n] == -1 || begin[n] == kToTheEnd ? kToTheEnd : begin[n] + 1;
    out.starts.push_back(!one && bit(begin_mask, n) ? (step > 0 ? 0 : kToTheEnd) : begin[n]);
    out.ends.push_back(one                ? next
                       : bit(end_mask, n) ? (step > 0 ? kToTheEnd : -kToTheEnd)
                                          : end[n]);
    out.steps.push_back(one ? 1 : step);
    out.axes.push_back(axis++);
    if (one) {
      out.gone.push_back(out.axes.back());
    } else {
      ++made;
    }
  }
  if (axis > rank) {
    b.refuse(Code::invalid_argument, "{} axes are sliced, the tensor has {}", axis, rank);
  }
  return out;
}

// The elements that a slice takes of an axis: from the lowest on, `step` apart.
struct Taken {
  int64_t first = 0, count = 0, step = 1;
  bool backwards = false;
};

Taken taken(int64_t start, int64_t end, int64_t step, int64_t extent) {
  const bool back = step < 0;
  const int64_t least = back ? -1 : 0, most = back ? extent - 1 : extent;
  const auto inside = [&](int64_t at) {
    return std::clamp(at < 0 ? at + extent : at, least, most);
  };
  const int64_t from = inside(start), to = inside(end), length = back ? from - to : to - from;
  const int64_t stride = back ? -std::max(step, -kToTheEnd) : step;
  const int64_t count = length <= 0 ? 0 : (length - 1) / stride + 1;
  return {back ? from - (count - 1) * stride : from, count, stride, back};
}

// x in the order that it has in the sliced tensor, with zeros between and around it.
ValueId spread_axis(Builder& b, ValueId x, size_t axis, const Taken& part, int64_t extent) {
  const auto at = static_cast<int64_t>(axis);
  if (part.backwards) {
    x = b.node("Slice", 13, {x, b.list({-1}), b.list({-kToTheEnd}), b.list({at}), b.list({-1})});
  }
  if (!b.ok()) return x;
  const Shape shape = b.shape(x);
  const auto padded = [&](ValueId y, size_t along, int64_t before, int64_t after) {
    std::vector<int64_t> pads(2 * b.shape(y).size(), 0);
    pads[along] = before;
    pads[b.shape(y).size() + along] = after;
    return b.node("Pad", 13, {y, b.list(pads)});
  };
  int64_t length = part.count;
  if (part.step > 1 && part.count > 1) {
    // Each element gets an axis of its own, with the zeros behind it; those behind the last go
    // again.
    Shape apart = shape;
    apart.insert(apart.begin() + at + 1, 1);
    x = padded(b.reshape(x, apart), axis + 1, 0, part.step - 1);
    Shape joined = shape;
    joined[axis] = part.count * part.step;
    length = (part.count - 1) * part.step + 1;
    x = b.node("Slice", 13, {b.reshape(x, joined), b.list({0}), b.list({length}), b.list({at})});
  }
  if (!b.ok() || length == extent) return x;
  return padded(x, axis, part.first, extent - part.first - length);
}

}  // namespace

void lower_strided_slice(Builder& b) {
  ValueId x = b.in(0);
  if (!b.ok()) return;
  const Slices s = read_slices(b, b.rank(x));
  if (!b.ok()) return;
  if (!s.axes.empty()) {
    x = b.node("Slice", 13, {x, b.list(s.starts), b.list(s.ends), b.list(s.axes), b.list(s.steps)});
  }
  if (!s.gone.empty()) x = b.node("Squeeze", 13, {x, b.list(s.gone)});
  if (!s.added.empty()) x = b.node("Unsqueeze", 13, {x, b.list(s.added)});
  b.out(0, x);
}

void lower_strided_slice_v2(Builder& b) {
  std::vector<ValueId> inputs{b.in(0)};
  for (size_t i = 1; i < 5; ++i) inputs.push_back(b.has(i) ? b.in_row(i) : kNoValue);
  b.out(0, b.node("Slice", 13, inputs));
}

// Shape of the sliced tensor, begin, end, strides, gradient of the slice -> gradient of the tensor:
// 0 where nothing was taken.
void lower_strided_slice_gradient(Builder& b) {
  const Shape wide = known_list(b, 0, "shape");
  const ValueId dy = b.in(b.input_count() > 4 ? 4 : 0);
  const Slices s = read_slices(b, static_cast<int64_t>(wide.size()));
  if (!b.ok()) return;
  std::vector<Taken> parts;
  for (const int64_t extent : wide) parts.push_back({0, extent, 1, false});
  for (size_t n = 0; n < s.axes.size(); ++n) {
    const auto axis = static_cast<size_t>(s.axes[n]);
    if (s.steps[n] == 0) return b.refuse(Code::invalid_argument, "the step of axis {} is 0", axis);
    parts[axis] = taken(s.starts[n], s.ends[n], s.steps[n], wide[axis]);
  }
  Shape narrow;
  for (const Taken& part : parts) narrow.push_back(part.count);
  if (!b.has_count(dy, "the gradient", element_count(narrow))) return;
  if (element_count(narrow) == 0) return b.out(0, b.filled(b.dtype(dy), wide, 0));
  ValueId x = b.reshape(dy, narrow);
  for (size_t axis = 0; axis < wide.size(); ++axis)
    x = spread_axis(b, x, axis, parts[axis], wide[axis]);
  b.out(0, x);
}

}  // namespace anynpu::singleop
