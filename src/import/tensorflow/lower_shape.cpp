// SPDX-License-Identifier: Apache-2.0
// Other shapes, axes in another order, joined and padded tensors.
#include <algorithm>
#include <limits>
#include <numeric>

#include "import/tensorflow/lower.h"

namespace anynpu::tensorflow {

namespace {

// Tensors with one axis in front each are joined along `axis`.
void join(Builder& b, size_t begin, size_t end, int64_t axis) {
  if (begin >= end || end > b.input_count())
    return b.refuse(Code::corrupt_model, "it joins no tensors");
  // Channels first when all are, or can be without work.
  bool first = false;
  for (size_t i = begin; i < end; ++i) first = first || b.is_first(i);
  std::vector<ValueId> parts;
  int64_t rank = 0;
  for (size_t i = begin; i < end; ++i) {
    const ValueId id = first ? b.in_first(i) : b.in(i);
    if (b.has_shape(id)) rank = b.rank(id);
    parts.push_back(id);
  }
  if (!b.ok()) return;
  if (axis < 0 && rank > 0) axis = b.axis(axis, rank);
  if (first) axis = first_axis(axis, static_cast<size_t>(rank));
  const ValueId y = parts.size() == 1 ? parts[0] : b.node("Concat", 13, parts, {{"axis", axis}});
  first ? b.out_first(0, y) : b.out(0, y);
}

}  // namespace

namespace {

// Rows of several axes that were joined for a product and are split again behind it: the product
// takes them as they are.
ValueId product_of_rows(Builder& b, ValueId x, const Shape& to) {
  const graph::Node* product = b.maker(x);
  if (!product || product->op != "MatMul" || b.rank(x) != 2 || to.size() < 3) return kNoValue;
  const graph::Node* joined = b.maker(product->inputs[0]);
  if (!joined || joined->op != "Reshape") return kNoValue;
  const ValueId rows = joined->inputs[0], weights = product->inputs[1];
  if (!b.is_fixed(rows) || b.shape(rows).size() != to.size() || b.rank(weights) != 2 ||
      b.shape(rows).back() != b.shape(weights)[0] || to.back() != b.shape(weights)[1] ||
      !std::equal(to.begin(), to.end() - 1, b.shape(rows).begin()))
    return kNoValue;
  return b.node("MatMul", 13, {rows, weights});
}

// What was brought into another shape and comes back to its own.
ValueId brought_back(Builder& b, ValueId x, const Shape& to) {
  const graph::Node* there = b.maker(x);
  if (!there || there->op != "Reshape") return kNoValue;
  const ValueId from = there->inputs[0];
  return b.is_fixed(from) && b.shape(from) == to ? from : kNoValue;
}

// Heads that are split from, or joined to, rows of two axes: through the form with three, which is
// the one that the compiler knows attention by.
ValueId through_three_axes(Builder& b, ValueId x, const Shape& to) {
  if (!b.is_fixed(x)) return kNoValue;
  const Shape& from = b.shape(x);
  const Shape &two = from.size() == 2 ? from : to, &four = from.size() == 2 ? to : from;
  if (two.size() != 2 || four.size() != 4 || two[0] != four[0] * four[1] ||
      two[1] != four[2] * four[3] || element_count(four) == 0)
    return kNoValue;
  const Ints three = {four[0], four[1], two[1]};
  return b.node("Reshape", 14, {b.node("Reshape", 14, {x, b.list(three)}), b.list(to)});
}

}  // namespace

// An extent of 0 is 0 here, and not that of the input.
void lower_reshape(Builder& b) {
  const ValueId shape = b.in_row(1);
  if (!b.ok()) return;
  const ValueId x = b.in(0);
  const auto extents = b.known(shape);
  const bool zero = extents && std::count(extents->begin(), extents->end(), 0) > 0;
  if (extents && !zero && b.is_constant(x)) return b.out(0, b.reshape(x, *extents));
  if (extents && !zero && b.is_fixed(x)) {
    Shape to = *extents;
    const auto inferred = std::find(to.begin(), to.end(), -1);
    int64_t others = 1;
    for (int64_t extent : to) others *= extent == -1 ? 1 : extent;
    if (inferred != to.end() && others > 0) *inferred = element_count(b.shape(x)) / others;
    for (const ValueId y :
         {brought_back(b, x, to), product_of_rows(b, x, to), through_three_axes(b, x, to)}) {
      if (y != kNoValue) return b.out(0, y);
    }
  }
  NodeAttrs attrs;
  if (zero || !extents) attrs["allowzero"] = int64_t{1};
  b.out(0, b.node("Reshape", 14, {x, shape}, attrs));
}

// The order of axes comes at run time: every element is gathered from its place in a row. A step
// along axis k of the result is one along axis order[k] of the input.
static ValueId transposed_at_run_time(Builder& b, ValueId x, ValueId order) {
  if (!b.has_rank(x, "the tensor", 1) || !b.need_fixed(x, "the tensor")) return kNoValue;
  const Shape s = b.shape(x);
  Ints steps(s.size(), 1);
  for (size_t i = s.size(); i-- > 1;) steps[i - 1] = steps[i] * s[i];
  const ValueId extents = b.node("Gather", 13, {b.list(s), order});
  const ValueId strides = b.node("Gather", 13, {b.list(steps), order});
  ValueId place = b.whole(DType::i64, 0);
  for (size_t k = 0; k < s.size(); ++k) {
    const auto at = static_cast<int64_t>(k);
    const ValueId count = b.squeeze(b.slice(extents, 0, at, at + 1), {0});
    const ValueId numbers =
        b.node("Range", 11, {b.whole(DType::i64, 0), count, b.whole(DType::i64, 1)});
    Ints shape(s.size(), 1);
    shape[k] = -1;
    place = add(b, place, b.reshape(mul(b, numbers, b.slice(strides, 0, at, at + 1)), shape));
  }
  return b.node("Gather", 13, {b.reshape(x, {-1}), place});
}

void lower_transpose(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.is_known(1) && b.ok()) return b.out(0, transposed_at_run_time(b, x, b.in_row(1)));
  Ints order = b.in_values(1);
  if (!b.ok()) return;
  for (int64_t& axis : order) axis = b.axis(axis, static_cast<int64_t>(order.size()));
  // The way to channels first, or back, of what lies so already.
  if (b.is_first(0) && order == to_first_order(order.size())) return b.out(0, b.in_first(0));
  b.out(0, b.transpose(x, order));
}

void lower_shape_of(Builder& b) {
  const DType type = b.type("out_type", DType::i32);
  // The extents are told without the tensor itself, in whatever order it lies.
  if (b.is_first(0)) {
    const ValueId first = b.in_first(0);
    const ValueId extents = b.shape_of(first);
    const Ints order = to_last_order(static_cast<size_t>(b.rank(first)));
    return b.out(0, b.cast(b.node("Gather", 13, {extents, b.list(order)}), type));
  }
  b.out(0, b.cast(b.shape_of(b.in(0)), type));
}

void lower_expand_dims(Builder& b) {
  const ValueId x = b.in(0);
  const int64_t given = b.in_value(1);
  if (!b.has_rank(x, "the tensor", 0, 7)) return;
  b.out(0, b.unsqueeze(x, {b.axis(given, b.rank(x) + 1)}));
}

void lower_squeeze(Builder& b) {
  Ints axes = b.ints("squeeze_dims");
  if (axes.empty()) axes = b.ints("axis");
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  if (axes.empty()) return b.out(0, b.node("Squeeze", 13, {x}));
  b.out(0, b.squeeze(x, axes));
}

void lower_pack(Builder& b) {
  const int64_t given = b.i("axis", 0);
  std::vector<ValueId> parts;
  int64_t axis = given;
  for (size_t i = 0; i < b.input_count(); ++i) {
    const ValueId x = b.in(i);
    if (given < 0 && b.has_rank(x, "the tensor", 0, 7)) axis = b.axis(given, b.rank(x) + 1);
    parts.push_back(b.unsqueeze(x, {axis}));
  }
  if (parts.empty()) return b.refuse(Code::corrupt_model, "it joins no tensors");
  b.out(0, b.node("Concat", 13, parts, {{"axis", axis}}));
}

void lower_concat(Builder& b) {
  const int64_t axis = b.in_value(0);
  if (b.ok()) join(b, 1, b.input_count(), axis);
}

void lower_concat_v2(Builder& b) {
  if (b.input_count() < 2) return b.refuse(Code::corrupt_model, "it joins no tensors");
  const int64_t axis = b.in_value(b.input_count() - 1);
  if (b.ok()) join(b, 0, b.input_count() - 1, axis);
}

namespace {

// MirrorPad with SYMMETRIC: the edge is repeated. Elements are gathered by their places.
void pad_symmetric(Builder& b) {
  ValueId x = b.in(0);
  const Ints rows = b.in_values(1);
  if (!b.need_fixed(x, "the tensor")) return;
  for (size_t axis = 0; axis * 2 + 1 < rows.size() && b.ok(); ++axis) {
    const int64_t before = rows[axis * 2], after = rows[axis * 2 + 1];
    const int64_t extent = axis < b.shape(x).size() ? b.shape(x)[axis] : 0;
    if (before < 0 || after < 0 || before > extent || after > extent) {
      return b.refuse(Code::invalid_argument,
                      "it pads {} and {} at an axis of {}; expected 0 to {} each", before, after,
                      extent, extent);
    }
    if (before + after == 0) continue;
    Ints places;
    for (int64_t i = -before; i < extent + after; ++i)
      places.push_back(i < 0 ? -i - 1 : i >= extent ? 2 * extent - 1 - i : i);
    x = b.node("Gather", 13, {x, b.list(places)}, {{"axis", static_cast<int64_t>(axis)}});
  }
  b.out(0, x);
}

}  // namespace

// Rows [before, after] for each axis.
void lower_pad(Builder& b) {
  const bool first = b.is_first(0);
  const ValueId x = first ? b.in_first(0) : b.in(0);
  NodeAttrs attrs;
  if (b.type() == "MirrorPad") {
    const std::string mode = b.word("mode", "REFLECT", {"REFLECT", "SYMMETRIC"});
    if (mode == "SYMMETRIC") return pad_symmetric(b);
    attrs["mode"] = std::string("reflect");
  }
  const ValueId fill = b.type() == "PadV2" ? b.in(2) : kNoValue;
  if (!b.ok()) return;
  if (!b.is_known(1)) {
    const ValueId rows = b.index(b.in(1));
    const ValueId pads = b.reshape(b.transpose(rows, {1, 0}), {-1});
    return b.out(0, b.node("Pad", 18, {b.in(0), pads, fill}, attrs));
  }
  const Ints rows = b.in_values(1);
  Ints before, after;
  for (size_t i = 0; i + 1 < rows.size(); i += 2) {
    before.push_back(rows[i]);
    after.push_back(rows[i + 1]);
  }
  if (!b.ok()) return;
  if (b.has_shape(x) && static_cast<int64_t>(before.size()) != b.rank(x)) {
    return b.refuse(Code::shape_mismatch, "it has paddings for {} axes, the tensor has {}",
                    before.size(), b.rank(x));
  }
  // Rows and columns of a picture: what reads it next is a convolution.
  const bool picture = before.size() == 4 && b.has_shape(x) && before[0] + after[0] == 0 &&
                       before[3] + after[3] == 0 && before[1] + before[2] + after[1] + after[2] > 0;
  const ValueId from = picture ? b.in_first(0) : x;
  if (first || picture) {
    before = first_list(before);
    after = first_list(after);
  }
  before.insert(before.end(), after.begin(), after.end());
  const ValueId y = b.node("Pad", 18, {from, b.list(before), fill}, attrs);
  first || picture ? b.out_first(0, y) : b.out(0, y);
}

// What a mirrored padding adds goes back to the elements that it showed.
void lower_mirror_pad_grad(Builder& b) {
  ValueId x = b.in(0);
  const Ints rows = b.in_values(1);
  const bool reflect = b.word("mode", "REFLECT", {"REFLECT", "SYMMETRIC"}) == "REFLECT";
  if (!b.need_fixed(x, "the gradient")) return;
  const auto rank = static_cast<size_t>(b.rank(x));
  if (rows.size() != 2 * rank)
    return b.refuse(Code::shape_mismatch, "it has {} paddings, the gradient is {}", rows.size(),
                    to_string(b.shape(x)));
  for (size_t a = 0; a < rank && b.ok(); ++a) {
    const int64_t axis = static_cast<int64_t>(a), before = rows[2 * a], after = rows[2 * a + 1];
    const int64_t kept = b.shape(x)[a] - before - after, edge = reflect ? 1 : 0;
    if (before < 0 || after < 0 || kept < std::max(before, after) + edge)
      return b.refuse(Code::shape_mismatch, "paddings {} and {} of {} elements along axis {}",
                      before, after, b.shape(x)[a], axis);
    // `count` elements from `begin` on, turned around, at `at` of the result.
    const auto mirrored = [&](int64_t begin, int64_t count, int64_t at) {
      const ValueId turned =
          b.node("Slice", 13,
                 {x, b.list({begin + count - 1}), b.list({begin - 1 - b.shape(x)[a]}),
                  b.list({axis}), b.list({-1})});
      Ints pads(2 * rank, 0);
      pads[a] = at;
      pads[rank + a] = kept - at - count;
      return b.node("Pad", 18, {turned, b.list(pads)});
    };
    ValueId sum = b.slice(x, axis, before, before + kept);
    if (before > 0) sum = b.node("Add", 14, {sum, mirrored(0, before, edge)});
    if (after > 0)
      sum = b.node("Add", 14, {sum, mirrored(before + kept, after, kept - edge - after)});
    x = sum;
  }
  b.out(0, x);
}

}  // namespace anynpu::tensorflow
