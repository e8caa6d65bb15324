// SPDX-License-Identifier: Apache-2.0
#include "tensor/tensor_desc.h"

namespace anynpu {

namespace {

constexpr int32_t kLastFormat = 54;  // FRACTAL_NZ_C0_8

}  // namespace

TensorDesc::~TensorDesc() {
  for (Handle handle : list_handles) HandleTable::instance().remove<TensorDesc>(handle);
}

size_t TensorDesc::element_count() const {
  if (unknown_rank()) return 0;
  const int64_t count = anynpu::element_count(shape);
  return count < 0 ? 0 : static_cast<size_t>(count);
}

size_t TensorDesc::byte_count() const { return bytes_of(dtype, element_count()); }

Range TensorDesc::range_of(size_t index) const {
  if (index < shape_ranges.size()) return shape_ranges[index];
  const int64_t extent = shape[index];
  return extent < 0 ? Range{0, -1} : Range{extent, extent};
}

Status check_dtype(int32_t dtype) {
  const auto type = static_cast<DType>(dtype);
  if (type == DType::undefined || name_of(type) != name_of(DType::undefined)) return {};
  return fail(Code::invalid_argument,
              "data type {} does not exist; expected a value of aclDataType, such as ACL_FLOAT (0)",
              dtype);
}

Status check_format(int32_t format) {
  if (format >= -1 && format <= kLastFormat) return {};
  return fail(Code::invalid_argument,
              "format {} does not exist; expected a value of aclFormat, such as ACL_FORMAT_ND (2)",
              format);
}

Status check_desc_shape(const Shape& shape) {
  if (shape.size() > kMaxDims) {
    return fail(Code::invalid_argument, "a shape of {} dimensions; expected at most {}",
                shape.size(), kMaxDims);
  }
  if (shape.size() == 1 && shape[0] == kUnknownRank) return {};
  return check_shape(shape);
}

Status check_ranges(const std::vector<Range>& ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    const auto [low, high] = ranges[i];
    if (low >= 0 && (high == -1 || high >= low)) continue;
    return fail(Code::invalid_argument,
                "range {} is [{}, {}]; expected 0 <= first <= second, or -1 as second for no limit",
                i, low, high);
  }
  return {};
}

}  // namespace anynpu
