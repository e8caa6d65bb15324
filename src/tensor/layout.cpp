// SPDX-License-Identifier: Apache-2.0
#include "tensor/layout.h"

#include <string_view>

namespace anynpu {

namespace {

// The axes of a format that only orders them; empty for blocked formats and ND.
std::string_view axes_of(Format format) {
  switch (format) {
    case Format::nchw:
      return "NCHW";
    case Format::nhwc:
      return "NHWC";
    case Format::hwcn:
      return "HWCN";
    case Format::ncdhw:
      return "NCDHW";
    case Format::ndhwc:
      return "NDHWC";
    case Format::nc:
      return "NC";
    case Format::ncl:
      return "NCL";
    default:
      return {};
  }
}

int64_t times(std::initializer_list<int64_t> extents) {
  int64_t product = 1;
  for (int64_t extent : extents) {
    if (extent < 0) return kDynamicDim;
    product *= extent;
  }
  return product;
}

Status no_way(const Shape& shape, Format from, Format to) {
  return fail(
      Code::unsupported_shape,
      "a tensor of {} in {} has no {} form; expected a conversion among NCHW, NHWC and HWCN, "
      "among NCDHW and NDHWC, or from those or ND to NC1HWC0, FRACTAL_Z or FRACTAL_NZ",
      to_string(shape), name_of(from), name_of(to));
}

// Orders the extents of `from` as the axes of `to`; fails when the axes differ.
Result<Shape> reorder(const Shape& shape, Format from, Format to) {
  const std::vector<int64_t> order = axis_order(from, to);
  if (order.empty() || shape.size() != order.size()) return no_way(shape, from, to);
  Shape out;
  for (int64_t axis : order) out.push_back(shape[static_cast<size_t>(axis)]);
  return out;
}

Result<Shape> to_fractal_nz(const Shape& shape, Format from, DType type) {
  if (shape.size() < 2) return no_way(shape, from, Format::fractal_nz);
  const int64_t rows = shape[shape.size() - 2];
  const int64_t columns = shape[shape.size() - 1];
  Shape out(shape.begin(), shape.end() - 2);
  out.insert(out.end(), {block_count(columns, block_width(type)), block_count(rows, kBlockRows),
                         kBlockRows, block_width(type)});
  return out;
}

}  // namespace

std::vector<int64_t> axis_order(Format from, Format to) {
  const std::string_view source = axes_of(from), target = axes_of(to);
  if (source.size() != target.size()) return {};
  std::vector<int64_t> order;
  for (char axis : target) {
    const size_t at = source.find(axis);
    if (at == std::string_view::npos) return {};
    order.push_back(static_cast<int64_t>(at));
  }
  return order;
}

int64_t block_width(DType type) {
  switch (bits_of(type)) {
    case 8:
      return 32;
    case 4:
      return 64;
    default:
      return kBlockRows;
  }
}

Result<Shape> shape_in_format(const Shape& shape, Format from, Format to, DType type) {
  if (from == to || to == Format::nd) return shape;
  if (to == Format::fractal_nz) return to_fractal_nz(shape, from, type);
  if (to != Format::nc1hwc0 && to != Format::fractal_z) return reorder(shape, from, to);
  auto nchw = from == Format::nchw && shape.size() == 4 ? Result<Shape>(shape)
                                                        : reorder(shape, from, Format::nchw);
  if (!nchw.ok()) return no_way(shape, from, to);
  const int64_t n = nchw.value()[0], c = nchw.value()[1], h = nchw.value()[2], w = nchw.value()[3];
  const int64_t width = block_width(type);
  if (to == Format::nc1hwc0) return Shape{n, block_count(c, width), h, w, width};
  return Shape{times({block_count(c, width), h, w}), block_count(n, kBlockRows), kBlockRows, width};
}

}  // namespace anynpu
