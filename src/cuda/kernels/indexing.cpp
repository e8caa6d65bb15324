// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/indexing.h"

#include "base/format.h"

namespace anynpu::device::cuda {

namespace {

struct Axis {
  int64_t extent;
  int64_t stride;
};

// Drops axes of size 1 and merges neighbouring axes that are contiguous.
std::vector<Axis> joined(const Shape& out, const std::vector<int64_t>& strides) {
  std::vector<Axis> axes;
  for (size_t d = 0; d < out.size(); ++d) {
    if (out[d] == 1) continue;
    if (!axes.empty() && axes.back().stride == strides[d] * out[d]) {
      axes.back() = {axes.back().extent * out[d], strides[d]};
    } else {
      axes.push_back({out[d], strides[d]});
    }
  }
  return axes;
}

}  // namespace

std::string strided_index(const Shape& out, const std::vector<int64_t>& strides, int64_t offset,
                          std::string_view index) {
  const std::vector<Axis> axes = joined(out, strides);
  std::string text = format("{}", offset);
  int64_t behind = 1;  // output elements per step along the axis
  for (size_t d = axes.size(); d-- > 0;) {
    const auto [extent, stride] = axes[d];
    if (stride != 0) {
      const std::string along =
          behind == 1 ? std::string(index) : format("({} / {})", index, behind);
      const std::string wrapped = d == 0 ? along : format("({} % {})", along, extent);
      text += format(" + (i64){} * {}", wrapped, stride);
    }
    behind *= extent;
  }
  return text;
}

std::string broadcast_index(const Shape& in, const Shape& out) {
  std::vector<int64_t> strides(out.size(), 0);
  int64_t stride = 1;
  for (size_t back = 1; back <= in.size(); ++back) {
    const int64_t extent = in[in.size() - back];
    if (extent != 1) strides[out.size() - back] = stride;
    stride *= extent;
  }
  return strided_index(out, strides, 0);
}

}  // namespace anynpu::device::cuda
