// SPDX-License-Identifier: Apache-2.0
// Operators that move elements. D forms have attributes where the others have inputs.
#include <algorithm>
#include <limits>

#include "base/text.h"
#include "import/singleop/lower.h"
#include "tensor/layout.h"

namespace anynpu::singleop {

namespace {

using Type = Builder::Type;

// A list that is an attribute of a D form and input `index` of the other.
ValueId list_or_input(Builder& b, size_t index, const char* attribute) {
  return is_input(b, index, attribute) ? b.in_row(index) : b.list(b.ints(attribute));
}

int64_t known_number(Builder& b, size_t index, const char* attribute) {
  return is_input(b, index, attribute) ? b.in_value(index) : b.i(attribute);
}

void concat(Builder& b, size_t first, size_t end, int64_t axis) {
  std::vector<ValueId> inputs;
  for (size_t i = first; i < end; ++i) inputs.push_back(b.in(i));
  b.counts("N", static_cast<int64_t>(inputs.size()), "tensors are described");
  b.out(0, b.node("Concat", 13, inputs, {{"axis", axis}}));
}

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

Format format_named(const std::string& name) {
  for (Format f : {Format::nchw, Format::nhwc, Format::nd, Format::nc1hwc0, Format::fractal_z,
                   Format::hwcn, Format::fractal_nz, Format::ncdhw, Format::ndhwc}) {
    if (name_of(f) == name) return f;
  }
  return Format::undefined;
}

}  // namespace

void lower_transpose(Builder& b) { b.out(0, b.transpose(b.in(0), known_list(b, 1, "perm"))); }

// Formats come from the attributes, else from the descriptions.
void lower_trans_data(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const auto stated = [&](const char* name, const TensorDesc& desc) {
    return b.has_attr(name) ? format_named(b.s(name, "")) : desc.format;
  };
  const TensorDesc& target = b.op().outputs[0];
  const Format from = stated("src_format", b.op().inputs[0]), to = stated("dst_format", target);
  for (const auto& [name, format] : {std::pair("src_format", from), std::pair("dst_format", to)}) {
    if (format == Format::undefined)
      return b.refuse(Code::invalid_argument, "{} is '{}', expected a format such as NC1HWC0", name,
                      b.s(name, "undefined"));
  }
  if (b.i("groups", 1) != 1)
    return b.refuse(Code::unsupported_feature, "groups is {}, expected 1", b.i("groups", 1));
  if (is_blocked(from) && is_blocked(to)) {
    return b.refuse(Code::unsupported_feature, "no way from {} to {}; go through NCHW or ND",
                    name_of(from), name_of(to));
  }
  if (is_blocked(from)) {
    if (!is_static(target.shape))
      return b.refuse(Code::unsupported_shape, "describe the output with its full shape");
    return b.out(0, from_blocked(b, x, from, to, target.shape));
  }
  if (is_blocked(to)) return b.out(0, to_blocked(b, x, from, to, b.dtype(x)));
  b.out(0, permute_axes(b, x, from, to));
}

void lower_reshape(Builder& b) {
  b.out(0, b.node("Reshape", 13, {b.in(0), list_or_input(b, 1, "shape")}));
}

void lower_flatten(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t first = b.axis(b.i("axis", 1), x);
  const int64_t last = b.axis(b.type() == "FlattenV2" ? b.i("end_axis", -1) : -1, x);
  const Shape& s = b.shape(x);
  Shape shape;
  for (int64_t d = 0; d < first; ++d) shape.push_back(0);
  shape.push_back(-1);
  for (size_t d = static_cast<size_t>(last) + 1; d < s.size(); ++d) shape.push_back(s[d]);
  b.out(0, b.reshape(x, shape));
}

void lower_squeeze(Builder& b) {
  const auto axes = b.ints(b.has_attr("axes") ? "axes" : "axis", {});
  b.out(0, b.node("Squeeze", 13, {b.in(0), axes.empty() ? kNoValue : b.list(axes)}));
}

void lower_unsqueeze(Builder& b) {
  if (b.type() == "ExpandDims") {
    const ValueId axis = b.in_row(1);
    if (!b.has_count(axis, "axis", 1)) return;
    return b.out(0, b.node("Unsqueeze", 13, {b.in(0), axis}));
  }
  b.out(0,
        b.node("Unsqueeze", 13, {b.in(0), b.list(b.ints(b.has_attr("axis") ? "axis" : "axes"))}));
}

void lower_concat(Builder& b) { concat(b, 0, b.input_count(), b.i("concat_dim")); }
void lower_concat_first(Builder& b) {
  const int64_t axis = b.in_value(0);
  if (b.ok()) concat(b, 1, b.input_count(), axis);
}
void lower_concat_last(Builder& b) {
  if (b.input_count() == 0) return b.refuse(Code::invalid_argument, "no input is described");
  const int64_t axis = b.in_value(b.input_count() - 1);
  if (b.ok()) concat(b, 0, b.input_count() - 1, axis);
}

void lower_pack(Builder& b) {
  const int64_t axis = b.i("axis", 0);
  b.counts("N", static_cast<int64_t>(b.input_count()), "tensors are described");
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < b.input_count(); ++i)
    inputs.push_back(b.node("Unsqueeze", 13, {b.in(i), b.list({axis})}));
  b.out(0, b.node("Concat", 13, inputs, {{"axis", axis}}));
}

void lower_unpack(Builder& b) {
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t axis = b.axis(b.i("axis", 0), x);
  b.counts("num", static_cast<int64_t>(b.output_count()), "outputs are described");
  const auto parts = b.nodes("Split", 2, {x}, b.output_count(), {{"axis", axis}});
  for (size_t o = 0; o < parts.size(); ++o)
    b.out(o, b.node("Squeeze", 13, {parts[o], b.list({axis})}));
}

// Equal parts; Split has the axis as its first input.
void lower_split(Builder& b) {
  const bool input = b.type() == "Split";
  const ValueId x = b.in(input ? 1 : 0);
  const int64_t axis = input ? b.in_value(0) : b.i("split_dim");
  b.counts("num_split", static_cast<int64_t>(b.output_count()), "outputs are described");
  const auto parts = b.nodes("Split", 2, {x}, b.output_count(), {{"axis", axis}});
  for (size_t o = 0; o < parts.size(); ++o) b.out(o, parts[o]);
}

void lower_split_v(Builder& b) {
  std::vector<int64_t> sizes = known_list(b, 1, "size_splits");
  const ValueId x = b.in(0);
  if (!b.ok()) return;
  const int64_t axis = b.axis(known_number(b, 2, "split_dim"), x);
  if (!b.ok()) return;
  // One size may be left to what remains.
  b.counts("num_split", static_cast<int64_t>(b.output_count()), "outputs are described");
  int64_t rest = b.shape(x)[static_cast<size_t>(axis)];
  for (int64_t size : sizes) {
    if (size > rest && rest >= 0)
      return b.refuse(Code::invalid_argument, "size_splits asks for {} elements where {} are left",
                      size, rest);
    rest -= size > 0 ? size : 0;
  }
  for (int64_t& size : sizes) size = size < 0 ? rest : size;
  const auto parts = b.nodes("Split", 2, {x}, b.output_count(), {{"axis", axis}, {"split", sizes}});
  for (size_t o = 0; o < parts.size(); ++o) b.out(o, parts[o]);
}

void lower_slice(Builder& b) {
  const ValueId x = b.in(0);
  const bool known = b.has_attr("offsets") || b.is_known(1);
  if (!known) {  // sizes at run time: the description states the result
    const ValueId start = b.index(b.in(1));
    return b.out(0, b.node("Slice", 13, {x, start, b.node("Add", 13, {start, b.index(b.in(2))})}));
  }
  const auto offsets = known_list(b, 1, "offsets"), sizes = known_list(b, 2, "size");
  if (!b.ok()) return;
  if (offsets.size() != sizes.size() || static_cast<int64_t>(offsets.size()) != b.rank(x)) {
    return b.refuse(Code::invalid_argument, "{} offsets and {} sizes, expected {} of each",
                    offsets.size(), sizes.size(), b.rank(x));
  }
  std::vector<int64_t> ends;
  for (size_t d = 0; d < offsets.size(); ++d) {
    const int64_t extent = b.shape(x)[d], most = extent < 0 ? kFar / 2 : extent;
    if (offsets[d] < 0 || offsets[d] > most || sizes[d] > most - offsets[d]) {
      return b.refuse(Code::invalid_argument, "axis {}: {} elements from {} of {}", d, sizes[d],
                      offsets[d], extent);
    }
    ends.push_back(sizes[d] < 0 ? extent : offsets[d] + sizes[d]);
  }
  b.out(0, b.node("Slice", 13, {x, b.list(offsets), b.list(ends)}));
}

void lower_tile(Builder& b) {
  b.out(0, b.node("Tile", 13, {b.in(0), list_or_input(b, 1, "multiples")}));
}

// Paddings are pairs per axis; ours are all starts, then all ends.
void lower_pad(Builder& b) {
  const ValueId x = b.in(0);
  std::vector<int64_t> pairs;
  const auto found = b.op().attrs.find("paddings");
  if (found == b.op().attrs.end()) {
    pairs = b.in_values(1);
  } else if (const auto* lists = std::get_if<std::vector<std::vector<int64_t>>>(&found->second)) {
    for (const auto& pair : *lists) pairs.insert(pairs.end(), pair.begin(), pair.end());
  } else {
    pairs = b.ints("paddings");
  }
  if (!b.ok()) return;
  const auto rank = static_cast<size_t>(b.rank(x));
  if (pairs.size() != rank * 2)
    return b.refuse(Code::invalid_argument, "paddings has {} numbers, expected {}", pairs.size(),
                    rank * 2);
  const bool by_axis = b.flag("paddings_contiguous", true);
  std::vector<int64_t> pads;
  for (size_t end = 0; end < 2; ++end) {
    for (size_t d = 0; d < rank; ++d)
      pads.push_back(by_axis ? pairs[d * 2 + end] : pairs[end * rank + d]);
  }
  const std::string mode = lower(b.s("mode", "constant"));
  ValueId value = kNoValue;
  if (mode == "constant") {
    if (b.has(2)) {
      value = b.in(2);
      if (b.ok() && b.rank(value) > 0) value = b.reshape(value, {});
    } else {
      value = b.whole(b.dtype(x), b.i("constant_values", 0));
    }
  }
  if (mode == "symmetric") return b.out(0, padded_symmetrically(b, x, pads));
  b.out(0, b.node("Pad", 13, {x, b.list(pads), value}, {{"mode", mode}}));
}

void lower_broadcast(Builder& b) {
  b.out(0, b.node("Expand", 13, {b.in(0), list_or_input(b, 1, "shape")}));
}

// Along each axis from the last element to the first. Axes that come at run time are checked by the
// run; the shape is that of x in any case.
void lower_reverse(Builder& b) {
  const ValueId x = b.in(0);
  const bool at_run_time = is_input(b, 1, "axis") && !b.is_known(1);
  ValueId axes = kNoValue;
  if (at_run_time) {
    axes = b.in_row(1);
  } else {
    axes = b.list(b.axes(known_list(b, 1, "axis"), x));
  }
  if (!b.ok()) return;
  const auto count = static_cast<size_t>(std::max<int64_t>(element_count(b.shape(axes)), 0));
  const std::vector<int64_t> starts(count, -1), steps(count, -1);
  const std::vector<int64_t> ends(count, std::numeric_limits<int64_t>::min() + 1);
  const ValueId y = b.node("Slice", 13, {x, b.list(starts), b.list(ends), axes, b.list(steps)});
  b.out(0, at_run_time ? b.reshape(y, b.shape(x)) : y);
}

// x as large as another tensor from `axis` on; `offsets` is one number for all of these axes, or
// one for each.
void lower_crop(Builder& b) {
  const ValueId x = b.in(0), like = b.in(1);
  if (!b.ok()) return;
  const int64_t first = b.axis(b.i("axis", 2), x);
  if (!b.ok()) return;
  const Shape &from = b.shape(x), &to = b.shape(like);
  std::vector<int64_t> offsets = b.ints("offsets", {0});
  const auto count = from.size() - static_cast<size_t>(first);
  if (from.size() != to.size() || (offsets.size() != 1 && offsets.size() != count))
    return b.refuse(Code::invalid_argument,
                    "x has {} axes, size {}, and there are {} offsets; expected as many axes, and "
                    "one offset or {}",
                    from.size(), to.size(), offsets.size(), count);
  offsets.resize(count, offsets[0]);
  std::vector<int64_t> ends, axes;
  for (size_t i = 0; i < count; ++i) {
    const size_t d = static_cast<size_t>(first) + i;
    if (offsets[i] < 0 || offsets[i] > from[d] - to[d])
      return b.refuse(Code::invalid_argument,
                      "axis {}: {} of {} elements from {} on do not lie inside", d, to[d], from[d],
                      offsets[i]);
    ends.push_back(offsets[i] + to[d]);
    axes.push_back(static_cast<int64_t>(d));
  }
  b.out(0, b.node("Slice", 13, {x, b.list(offsets), b.list(ends), b.list(axes)}));
}

void lower_triangle(Builder& b) {
  const ValueId k = b.whole(DType::i64, b.i("diagonal", 0));
  b.out(0, b.node("Trilu", 14, {b.in(0), k}, {{"upper", int64_t{b.type() == "Triu"}}}));
}

void lower_shape(Builder& b) { b.out(0, b.node("Shape", 13, {b.in(0)}), Type::any); }
void lower_size(Builder& b) { b.out(0, b.node("Size", 13, {b.in(0)}), Type::any); }

void lower_fill(Builder& b) {
  const bool attribute = b.type() == "FillD";
  const ValueId dims = attribute ? b.list(b.ints("dims")) : b.in_row(0);
  b.out(0, b.node("Expand", 13, {b.in(attribute ? 0 : 1), dims}));
}

void lower_range(Builder& b) {
  std::vector<ValueId> inputs;
  for (size_t i = 0; i < 3; ++i) {
    ValueId v = b.in(i);
    if (b.ok() && b.rank(v) > 0) v = b.reshape(v, {});
    inputs.push_back(v);
  }
  b.out(0, b.node("Range", 11, inputs), Type::any);
}

}  // namespace anynpu::singleop
