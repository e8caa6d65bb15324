// SPDX-License-Identifier: Apache-2.0
// The storage formats of the cube unit as moves: a tensor is padded to whole blocks, split into
// them and its axes are put in order; the way back slices the padding off again.
#include "tensor/layout.h"

#include <initializer_list>

#include "base/align.h"
#include "import/singleop/builder.h"

namespace anynpu::singleop {

namespace {

// `value` with extents raised to `shape` by zeros at the end.
ValueId pad_to(Builder& b, ValueId value, const Shape& shape) {
  if (!b.ok() || b.shape(value) == shape) return value;
  std::vector<int64_t> pads(shape.size() * 2, 0);
  for (size_t d = 0; d < shape.size(); ++d) pads[shape.size() + d] = shape[d] - b.shape(value)[d];
  return b.node("Pad", 13, {value, b.list(pads), b.scalar(b.dtype(value), 0)});
}

ValueId cut_to(Builder& b, ValueId value, const Shape& shape) {
  if (!b.ok() || b.shape(value) == shape) return value;
  return b.node("Slice", 13, {value, b.list(Shape(shape.size(), 0)), b.list(shape)});
}

int64_t round_up(int64_t extent, int64_t width) { return block_count(extent, width) * width; }

bool all_known(Builder& b, ValueId value) {
  if (!b.ok()) return false;
  if (is_static(b.shape(value))) return true;
  b.refuse(Code::unsupported_shape, "a blocked format needs known extents, got {}",
           to_string(b.shape(value)));
  return false;
}

// The permutation that keeps the first `lead` axes and puts the others in the order `tail`.
std::vector<int64_t> behind_leading(int64_t lead, std::initializer_list<int64_t> tail) {
  std::vector<int64_t> order;
  for (int64_t d = 0; d < lead; ++d) order.push_back(d);
  for (int64_t d : tail) order.push_back(lead + d);
  return order;
}

ValueId to_matrix_blocks(Builder& b, ValueId value, DType dtype) {
  if (b.rank(value) < 2) {
    b.refuse(Code::unsupported_shape, "FRACTAL_NZ needs at least 2 dimensions, got {}",
             to_string(b.shape(value)));
    return kNoValue;
  }
  const int64_t width = block_width(dtype);
  Shape padded = b.shape(value);
  const size_t r = padded.size() - 2, c = padded.size() - 1;
  padded[r] = round_up(padded[r], kBlockRows);
  padded[c] = round_up(padded[c], width);
  value = pad_to(b, value, padded);
  Shape split(padded.begin(), padded.end() - 2);
  const int64_t lead = static_cast<int64_t>(split.size());
  split.insert(split.end(), {padded[r] / kBlockRows, kBlockRows, padded[c] / width, width});
  return b.transpose(b.reshape(value, split), behind_leading(lead, {2, 0, 1, 3}));
}

ValueId from_matrix_blocks(Builder& b, ValueId value, const Shape& shape) {
  const Shape blocks = b.shape(value);
  if (blocks.size() < 4 || blocks.size() != shape.size() + 2) {
    b.refuse(Code::shape_mismatch, "a FRACTAL_NZ tensor of {} cannot hold {}", to_string(blocks),
             to_string(shape));
    return kNoValue;
  }
  const auto lead = static_cast<int64_t>(shape.size()) - 2;
  Shape padded(blocks.begin(), blocks.end() - 4);
  const Shape tail(blocks.end() - 4, blocks.end());
  padded.insert(padded.end(), {tail[1] * tail[2], tail[0] * tail[3]});
  return cut_to(b, b.reshape(b.transpose(value, behind_leading(lead, {1, 2, 0, 3})), padded),
                shape);
}

}  // namespace

ValueId permute_axes(Builder& b, ValueId value, Format from, Format to) {
  if (!b.ok() || from == to) return value;
  const std::vector<int64_t> order = axis_order(from, to);
  if (order.empty() || b.rank(value) != static_cast<int64_t>(order.size())) {
    b.refuse(Code::unsupported_shape, "no way from {} in {} to {}", to_string(b.shape(value)),
             name_of(from), name_of(to));
    return kNoValue;
  }
  return b.transpose(value, order);
}

ValueId to_blocked(Builder& b, ValueId value, Format from, Format to, DType dtype) {
  if (!all_known(b, value)) return kNoValue;
  if (to == Format::fractal_nz) return to_matrix_blocks(b, value, dtype);
  value = permute_axes(b, value, from == Format::nd ? Format::nchw : from, Format::nchw);
  if (!b.ok()) return kNoValue;
  const int64_t width = block_width(dtype);
  Shape s = b.shape(value);
  if (s.size() != 4) {
    b.refuse(Code::unsupported_shape, "{} needs 4 dimensions, got {}", name_of(to), to_string(s));
    return kNoValue;
  }
  s[1] = round_up(s[1], width);
  if (to == Format::fractal_z) s[0] = round_up(s[0], kBlockRows);
  value = pad_to(b, value, s);
  if (to == Format::nc1hwc0) {
    return b.transpose(b.reshape(value, {s[0], s[1] / width, width, s[2], s[3]}), {0, 1, 3, 4, 2});
  }
  value = b.reshape(value, {s[0] / kBlockRows, kBlockRows, s[1] / width, width, s[2], s[3]});
  value = b.transpose(value, {2, 4, 5, 0, 1, 3});
  return b.reshape(value, {s[1] / width * s[2] * s[3], s[0] / kBlockRows, kBlockRows, width});
}

ValueId from_blocked(Builder& b, ValueId value, Format from, Format to, const Shape& shape) {
  if (!all_known(b, value)) return kNoValue;
  if (from == Format::fractal_nz) return from_matrix_blocks(b, value, shape);
  const Format axes = to == Format::nd ? Format::nchw : to;
  Result<Shape> nchw = shape_in_format(shape, axes, Format::nchw, b.dtype(value));
  const Shape blocks = b.shape(value);
  if (!nchw.ok() || shape.size() != 4 ||
      blocks.size() != (from == Format::nc1hwc0 ? size_t{5} : size_t{4})) {
    b.refuse(Code::shape_mismatch, "a {} tensor of {} cannot hold {} in {}", name_of(from),
             to_string(blocks), to_string(shape), name_of(to));
    return kNoValue;
  }
  const Shape& s = *nchw;
  if (from == Format::nc1hwc0) {
    value = b.reshape(b.transpose(value, {0, 1, 4, 2, 3}),
                      {blocks[0], blocks[1] * blocks[4], blocks[2], blocks[3]});
  } else {
    const int64_t width = blocks[3], c1 = block_count(s[1], width);
    value = b.reshape(value, {c1, s[2], s[3], blocks[1], blocks[2], width});
    value = b.reshape(b.transpose(value, {3, 4, 0, 5, 1, 2}),
                      {blocks[1] * blocks[2], c1 * width, s[2], s[3]});
  }
  return permute_axes(b, cut_to(b, value, s), Format::nchw, axes);
}

}  // namespace anynpu::singleop
