// SPDX-License-Identifier: Apache-2.0
#include "tensor/shape.h"

namespace anynpu {

namespace {
constexpr int64_t kMaxElements = int64_t{1} << 62;
}

int64_t element_count(const Shape& shape) {
  int64_t count = 1;
  bool dynamic = false;
  for (int64_t extent : shape) {
    if (extent == 0) return 0;
    if (extent < 0) {
      dynamic = true;
    } else if (count <= kMaxElements / extent) {
      count *= extent;
    }
  }
  return dynamic ? kDynamicDim : count;
}

bool is_static(const Shape& shape) {
  for (int64_t extent : shape) {
    if (extent < 0) return false;
  }
  return true;
}

Status check_shape(const Shape& shape) {
  int64_t count = 1;
  for (int64_t extent : shape) {
    if (extent < kDynamicDim) {
      return fail(Code::invalid_argument,
                  "shape {} has the extent {}; expected 0 or more, or -1 for dynamic", shape,
                  extent);
    }
    if (extent <= 0) continue;
    if (count > kMaxElements / extent) {
      return fail(Code::invalid_argument, "shape {} has more than 2^62 elements", shape);
    }
    count *= extent;
  }
  return {};
}

std::string to_string(const Shape& shape) {
  if (shape.empty()) return "scalar";
  std::string text;
  for (int64_t extent : shape) {
    if (!text.empty()) text += 'x';
    text += extent < 0 ? "?" : std::to_string(extent);
  }
  return text;
}

std::vector<int64_t> strides_of(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  return strides;
}

}  // namespace anynpu
