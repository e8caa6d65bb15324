// SPDX-License-Identifier: Apache-2.0
#include "import/ge/chip_formats.h"

#include <cstring>

#include "tensor/layout.h"

namespace anynpu::ge {

namespace {

bool can_undo(Format format) {
  return format == Format::nc1hwc0 || format == Format::fractal_z || format == Format::fractal_nz;
}

// The offset of element (n, c, h, w) of an image, or (.., r, c) of a matrix, in blocks.
struct Blocks {
  Format format;
  int64_t width;  // of the innermost block
  Shape plain;    // N, C, H, W; or leading axes, rows, columns

  int64_t offset(const Shape& at) const {
    if (format == Format::fractal_nz) {
      const size_t r = plain.size() - 2;
      int64_t lead = 0;
      for (size_t d = 0; d < r; ++d) lead = lead * plain[d] + at[d];
      const int64_t rows = block_count(plain[r], kBlockRows);
      const int64_t columns = block_count(plain[r + 1], width);
      return (((lead * columns + at[r + 1] / width) * rows + at[r] / kBlockRows) * kBlockRows +
              at[r] % kBlockRows) *
                 width +
             at[r + 1] % width;
    }
    const int64_t c1 = at[1] / width, c0 = at[1] % width;
    if (format == Format::nc1hwc0) {
      const int64_t count = block_count(plain[1], width);
      return (((at[0] * count + c1) * plain[2] + at[2]) * plain[3] + at[3]) * width + c0;
    }
    const int64_t filters = block_count(plain[0], kBlockRows) * kBlockRows;
    return (((c1 * plain[2] + at[2]) * plain[3] + at[3]) * filters + at[0]) * width + c0;
  }

  int64_t elements() const {
    if (format == Format::fractal_nz) {
      int64_t count = 1;
      for (size_t d = 0; d + 2 < plain.size(); ++d) count *= plain[d];
      return count * block_count(plain[plain.size() - 2], kBlockRows) * kBlockRows *
             block_count(plain.back(), width) * width;
    }
    const int64_t channels = block_count(plain[1], width) * width;
    const int64_t filters =
        format == Format::fractal_z ? block_count(plain[0], kBlockRows) * kBlockRows : plain[0];
    return filters * channels * plain[2] * plain[3];
  }
};

Result<std::span<const std::byte>> bytes_of_constant(const TensorDef& value, const Source& source) {
  if (!value.data.empty()) return value.data;
  const int64_t count = element_count(value.shape);
  if (count == 0) return value.data;
  const auto stated = value.weight_size > 0 ? static_cast<uint64_t>(value.weight_size)
                      : count > 0           ? bytes_of(value.dtype, static_cast<size_t>(count))
                                            : uint64_t{0};
  const auto begin = static_cast<uint64_t>(value.data_offset);
  if (source.weights.empty()) {
    return fail(Code::unsupported_feature, "its data is not in the file");
  }
  if (value.data_offset < 0 || begin > source.weights.size() ||
      stated > source.weights.size() - begin) {
    return fail(Code::corrupt_model,
                "its {} bytes at {} lie outside the {} bytes of weights; the file is cut short or "
                "damaged",
                stated, begin, source.weights.size());
  }
  return source.weights.subspan(begin, stated);
}

// Steps through every index of `shape`, the last axis first.
bool next_index(const Shape& shape, Shape& at) {
  for (size_t d = shape.size(); d-- > 0;) {
    if (++at[d] < shape[d]) return true;
    at[d] = 0;
  }
  return false;
}

Result<PlainConstant> undo(const TensorDef& value, std::span<const std::byte> bytes) {
  const Shape& origin = value.origin_shape;
  const size_t width = size_of(value.dtype);
  if (!can_undo(value.format) || width == 0 || bits_of(value.dtype) % 8 != 0) {
    return fail(Code::unsupported_feature, "it lies in the chip's format {} of {}", value.layout,
                name_of(value.dtype));
  }
  const bool matrix = value.format == Format::fractal_nz;
  const std::vector<int64_t> order = axis_order(
      value.origin_format == Format::nd ? Format::nchw : value.origin_format, Format::nchw);
  if ((matrix ? origin.size() < 2 : origin.size() != 4 || order.size() != 4) ||
      (origin == value.shape && value.origin_format == value.format) ||
      !check_desc_shape(origin).ok() || !is_static(origin)) {
    return fail(Code::unsupported_feature,
                "it lies in the chip's format {} and the file does not say which shape it had",
                value.layout);
  }
  Blocks blocks{value.format, block_width(value.dtype), origin};
  constexpr int64_t kWidest = 1024;
  if (!value.shape.empty() && value.shape.back() > 0 && value.shape.back() <= kWidest)
    blocks.width = value.shape.back();
  if (!matrix) {
    for (size_t d = 0; d < 4; ++d) blocks.plain[d] = origin[static_cast<size_t>(order[d])];
  }
  const int64_t count = element_count(origin);
  if (count == 0) return PlainConstant{value.dtype, origin, {}};
  if (count > static_cast<int64_t>(bytes.size() / width) ||
      blocks.elements() > static_cast<int64_t>(bytes.size() / width)) {
    return fail(Code::corrupt_model, "it has {} bytes, {} in {} needs more", bytes.size(),
                to_string(origin), value.layout);
  }
  auto plain = std::make_shared<std::vector<std::byte>>(static_cast<size_t>(count) * width);
  Shape at(origin.size(), 0), placed(origin.size(), 0);
  for (size_t n = 0; n < static_cast<size_t>(count); ++n, next_index(origin, at)) {
    for (size_t d = 0; d < at.size(); ++d)
      placed[d] = matrix ? at[d] : at[static_cast<size_t>(order[d])];
    const auto from = static_cast<size_t>(blocks.offset(placed)) * width;
    std::memcpy(plain->data() + n * width, bytes.data() + from, width);
  }
  return PlainConstant{value.dtype, origin, {plain, *plain}};
}

}  // namespace

Format plain_format(const TensorDef& desc) {
  const Format format = desc.is_blocked() ? desc.origin_format : desc.format;
  if (!can_undo(format) && format != Format::undefined) return format;
  return desc.format == Format::nc1hwc0 ? Format::nchw : Format::nd;
}

Result<PlainConstant> constant_of(const TensorDef& value, const TensorDef* desc,
                                  const Source& source) {
  TensorDef tensor = value;
  // The description of the operator's output says what its value leaves open.
  if (desc && tensor.dtype == DType::undefined) tensor.dtype = desc->dtype;
  if (desc && !tensor.has_shape) {
    tensor.shape = desc->shape;
    tensor.has_shape = desc->has_shape;
  }
  if (desc && desc->is_blocked() && desc->format == tensor.format &&
      tensor.origin_shape == tensor.shape) {
    tensor.origin_shape = desc->origin_shape;
    tensor.origin_format = desc->origin_format;
  }
  if (size_of(tensor.dtype) == 0) {
    return fail(Code::unsupported_feature, "it has no type that is known");
  }
  ANYNPU_ASSIGN(const auto bytes, bytes_of_constant(tensor, source));
  if (tensor.is_blocked()) return undo(tensor, bytes);
  const int64_t count = element_count(tensor.shape);
  const size_t wanted = count < 0 ? 0 : bytes_of(tensor.dtype, static_cast<size_t>(count));
  // Constants in a part of weights may be padded to a boundary.
  const auto cut = bytes.size() > wanted ? bytes.first(wanted) : bytes;
  return PlainConstant{tensor.dtype, tensor.shape, {source.owner, cut}};
}

}  // namespace anynpu::ge
