// SPDX-License-Identifier: Apache-2.0
// Elements that are written by their places, blocks that move between axes, and paddings.
#include <numeric>

#include "import/singleop/lower.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

ValueId added_rows(Builder& b, ValueId x, ValueId rows, ValueId at, const char* how) {
  return b.node("ScatterND", 18, {x, at, rows}, {{"reduction", std::string(how)}});
}

// 0, 1 .. as a value of any integer type.
ValueId counted(Builder& b, int64_t count, const Shape& shape, DType type) {
  std::vector<float> numbers(static_cast<size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  return b.cast(b.table(shape, numbers), type);
}

}  // namespace

// x and rows: rows `indices` of x are added to, subtracted from or replaced.
void lower_inplace_rows(Builder& b) {
  const ValueId x = b.in(0);
  const auto indices = b.ints("indices");
  ValueId rows = b.in(1);
  if (!b.has_rank(x, "x", 1)) return;
  for (const int64_t index : indices) {
    if (index < 0 || index >= b.shape(x)[0])
      return b.refuse(Code::invalid_argument, "an index is {}, expected 0 to {}", index,
                      b.shape(x)[0] - 1);
  }
  if (b.type() == "InplaceSubD") rows = b.node("Neg", 13, {rows});
  const ValueId at = b.reshape(b.list(indices), {static_cast<int64_t>(indices.size()), 1});
  b.out(0, added_rows(b, x, rows, at, b.type() == "InplaceUpdateD" ? "none" : "add"));
}

// x, indices and updates along an axis, added.
void lower_inplace_index_add(Builder& b) {
  const ValueId x = b.in(0), at = b.index(b.in(1)), updates = b.in(2);
  if (!b.ok()) return;
  const auto axis = static_cast<size_t>(b.axis(b.i("axis", 0), x));
  if (b.has(3)) b.leave(3);
  if (!b.ok() || b.rank(updates) != b.rank(x)) {
    return b.refuse(Code::unsupported_shape, "x and the updates have {} and {} axes", b.rank(x),
                    b.rank(updates));
  }
  const Shape shape = b.shape(updates);
  if (!b.has_count(at, "the indices", shape[axis])) return;
  Shape line(shape.size(), 1);
  line[axis] = shape[axis];
  const ValueId wide =
      b.node("Expand", 13, {b.reshape(at, line), b.list({shape.begin(), shape.end()})});
  b.out(0, b.node("ScatterElements", 18, {x, wide, updates},
                  {{"axis", static_cast<int64_t>(axis)}, {"reduction", std::string("add")}}));
}

// x, the axis, indices and a value: slices of the axis, which is known at run time only, get the
// value.
void lower_index_fill(Builder& b) {
  const ValueId x = b.in(0), axis = b.reshape(b.index(b.in(1)), {}), given = b.index(b.in(2));
  if (!b.ok()) return;
  const ValueId value = b.reshape(b.cast(b.in(3), b.dtype(x)), {});
  const int64_t rank = b.rank(x), count = element_count(b.shape(given));
  ValueId any = kNoValue;
  for (int64_t d = 0; d < rank && b.ok(); ++d) {
    const int64_t extent = b.shape(x)[static_cast<size_t>(d)];
    const ValueId row = b.reshape(given, {1, count}), last = b.whole(DType::i64, extent);
    const ValueId place = b.node(
        "Where", 16, {b.node("Less", 13, {row, b.whole(DType::i64, 0)}), add(b, row, last), row});
    const ValueId same = b.node("Equal", 13, {counted(b, extent, {extent, 1}, DType::i64), place});
    const ValueId hits = sum(b, b.cast(same, DType::i32), {1}, false);
    const auto is_axis = [&](int64_t number) {
      return b.node("Equal", 13, {axis, b.whole(DType::i64, number)});
    };
    const ValueId chosen = b.node("Or", 7, {is_axis(d), is_axis(d - rank)});
    const ValueId there =
        b.node("And", 7, {b.node("Greater", 13, {hits, b.whole(DType::i32, 0)}), chosen});
    Shape line(static_cast<size_t>(rank), 1);
    line[static_cast<size_t>(d)] = extent;
    const ValueId mask = b.reshape(there, line);
    any = any == kNoValue ? mask : b.node("Or", 7, {any, mask});
  }
  b.out(0, any == kNoValue ? b.node("Identity", 13, {x}) : b.node("Where", 16, {any, value, x}));
}

// Values and their places in each plane -> planes with zeros elsewhere.
void lower_max_unpool(Builder& b) {
  const ValueId x = b.in(0), at = b.index(b.in(1));
  const Shape made = b.op().outputs[0].shape;
  const int64_t rank = b.type() == "MaxUnpool3D" ? 5 : 4;
  if (!b.has_rank(x, "x", rank, rank)) return;
  const Shape in = b.shape(x);
  if (!is_static(made) || made.size() != in.size() || made[0] != in[0] || made[1] != in[1] ||
      b.shape(at) != in) {
    return b.refuse(Code::unsupported_shape,
                    "x, its places and the output have the shapes {}, {} and {}; expected the "
                    "places of x and the same "
                    "planes in the output",
                    to_string(in), to_string(b.shape(at)), to_string(made));
  }
  const int64_t planes = in[0] * in[1], points = element_count(Shape(in.begin() + 2, in.end()));
  const int64_t all = element_count(Shape(made.begin() + 2, made.end()));
  const ValueId flat = b.node("ScatterElements", 18,
                              {b.filled(b.dtype(x), {planes, all}, 0),
                               b.reshape(at, {planes, points}), b.reshape(x, {planes, points})},
                              {{"axis", int64_t{1}}, {"reduction", std::string("none")}});
  b.out(0, b.reshape(flat, made), Type::any);
}

// Blocks of the axes behind the first become its elements, or the other way round.
void lower_blocks(Builder& b) {
  ValueId x = b.in(0);
  const auto block = b.in_values(1), borders = b.in_values(2);
  const bool to_batch = b.type() == "SpaceToBatchND";
  if (!b.has_rank(x, "x", static_cast<int64_t>(block.size()) + 1)) return;
  int64_t factor = 1;
  for (const int64_t size : block) factor *= std::max<int64_t>(size, 0);
  if (borders.size() != 2 * block.size() || factor < 1) {
    return b.refuse(Code::invalid_argument,
                    "{} borders for {} block sizes, which must be 1 or more; expected pairs",
                    borders.size(), block.size());
  }
  const auto rank = static_cast<size_t>(b.rank(x));
  const size_t axes = block.size();
  if (to_batch) {
    std::vector<int64_t> pads(2 * rank, 0);
    for (size_t i = 0; i < axes; ++i)
      pads[1 + i] = borders[2 * i], pads[rank + 1 + i] = borders[2 * i + 1];
    x = b.node("Pad", 13, {x, b.list(pads)});
  }
  if (!b.ok()) return;
  const Shape shape = b.shape(x);
  Shape apart, made;
  std::vector<int64_t> order;
  for (size_t i = 0; i < axes; ++i) {
    if (to_batch ? shape[1 + i] % block[i] != 0 : shape[0] % factor != 0)
      return b.refuse(Code::unsupported_shape,
                      "x has the shape {}, which blocks of {} do not divide", to_string(shape),
                      block[i]);
  }
  const auto n = static_cast<int64_t>(axes);
  if (to_batch) {
    apart.push_back(shape[0]);
    made.push_back(shape[0] * factor);
    for (size_t i = 0; i < axes; ++i) {
      apart.insert(apart.end(), {shape[1 + i] / block[i], block[i]});
      made.push_back(shape[1 + i] / block[i]);
      order.push_back(2 + 2 * static_cast<int64_t>(i));
    }
    order.push_back(0);
    for (int64_t i = 0; i < n; ++i) order.push_back(1 + 2 * i);
  } else {
    apart.insert(apart.end(), block.begin(), block.end());
    apart.push_back(shape[0] / factor);
    made.push_back(shape[0] / factor);
    order.push_back(n);
    for (size_t i = 0; i < axes; ++i) {
      apart.push_back(shape[1 + i]);
      made.push_back(shape[1 + i] * block[i]);
      order.insert(order.end(), {n + 1 + static_cast<int64_t>(i), static_cast<int64_t>(i)});
    }
  }
  const auto more = static_cast<int64_t>(apart.size());
  for (size_t i = axes + 1; i < rank; ++i) {
    apart.push_back(shape[i]);
    made.push_back(shape[i]);
    order.push_back(more + static_cast<int64_t>(i - axes - 1));
  }
  x = b.reshape(b.transpose(b.reshape(x, apart), order), made);
  if (!to_batch) {
    std::vector<int64_t> from, to, along;
    for (size_t i = 0; i < axes; ++i) {
      from.push_back(borders[2 * i]);
      to.push_back(made[1 + i] - borders[2 * i + 1]);
      along.push_back(static_cast<int64_t>(i) + 1);
    }
    x = b.node("Slice", 13, {x, b.list(from), b.list(to), b.list(along)});
  }
  b.out(0, x, Type::any);
}

// The last axis, of one element, with zeros behind.
void lower_padding(Builder& b) {
  const ValueId x = b.in(0);
  const int64_t size = b.i("pad_dim_size", 8);
  if (!b.has_rank(x, "x", 1)) return;
  const int64_t more = size - b.shape(x).back();
  if (more < 0)
    return b.refuse(Code::invalid_argument, "pad_dim_size is {}, expected {} or more", size,
                    b.shape(x).back());
  std::vector<int64_t> pads(2 * b.shape(x).size(), 0);
  pads.back() = more;
  b.out(0, b.node("Pad", 13, {x, b.list(pads)}));
}

// Mirrored at the edges with the outermost elements twice: all borders in front, then all behind.
ValueId padded_symmetrically(Builder& b, ValueId x, const std::vector<int64_t>& pads) {
  const auto rank = static_cast<size_t>(b.rank(x));
  for (size_t axis = 0; axis < rank && b.ok(); ++axis) {
    const int64_t extent = b.shape(x)[axis], before = pads[axis], after = pads[rank + axis];
    if (before == 0 && after == 0) continue;
    if (before < 0 || after < 0 || before > extent || after > extent) {
      b.refuse(Code::invalid_argument,
               "axis {} has {} elements and borders of {} and {}; expected at most as many", axis,
               extent, before, after);
      return x;
    }
    std::vector<int64_t> places;
    for (int64_t i = before; i-- > 0;) places.push_back(i);
    for (int64_t i = 0; i < extent; ++i) places.push_back(i);
    for (int64_t i = 0; i < after; ++i) places.push_back(extent - 1 - i);
    x = b.node("Gather", 13, {x, b.list(places)}, {{"axis", static_cast<int64_t>(axis)}});
  }
  return x;
}

}  // namespace anynpu::singleop
