// SPDX-License-Identifier: Apache-2.0
#include "aclnn/tensor_view.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ops/dtype_set.h"
#include "ops/elements/wide.h"

namespace anynpu::aclnn {

namespace {

// At most INT64_MAX: extents that nobody has checked yet may be any numbers.
int64_t times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

}  // namespace

int64_t TensorView::count() const {
  int64_t count = 1;
  for (int64_t extent : shape) count *= extent;
  return count;
}

bool TensorView::contiguous() const {
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != step) return false;
    step = times(step, shape[i]);
  }
  return true;
}

TensorView::Span TensorView::span() const {
  int64_t low = 0, high = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return {};
    const int64_t reach = (shape[i] - 1) * strides[i];
    (reach < 0 ? low : high) += reach;
  }
  return {offset + low, high - low + 1};
}

std::byte* TensorView::begin() const {
  return static_cast<std::byte*>(data) + span().first * static_cast<int64_t>(bits_of(dtype)) / 8;
}

size_t TensorView::span_bytes() const { return bytes_of(dtype, static_cast<size_t>(span().count)); }

void TensorView::set_contiguous(std::span<const int64_t> extents) {
  shape = strides = Dims(extents);
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    step = times(step, std::max<int64_t>(shape[i], 1));
  }
}

std::string to_string(const TensorView& view) {
  std::string text = format("{} {}", name_of(view.dtype), to_string(view.shape.shape()));
  if (!view.contiguous()) text += format(" with strides {}", view.strides.shape());
  return text;
}

Status check(const TensorView& view) {
  if (bits_of(view.dtype) == 0) {
    return fail(Code::unsupported_dtype, "a tensor has the data type {}; expected a number type",
                static_cast<int>(view.dtype));
  }
  constexpr int64_t kMost = int64_t{1} << 48;  // elements; so that products stay below 2^63
  int64_t count = 1;
  for (size_t i = 0; i < view.shape.size(); ++i) {
    const int64_t extent = view.shape[i], stride = view.strides[i];
    if (extent < 0 || extent > kMost / count) {
      return fail(Code::invalid_argument,
                  "a tensor has the shape {}; expected extents from 0 up, and at most {} elements",
                  view.shape.shape(), kMost);
    }
    count *= std::max<int64_t>(extent, 1);
    const int64_t most_stride = kMost / std::max<int64_t>(extent, 1);
    if (stride > most_stride || stride < -most_stride) {
      return fail(Code::invalid_argument, "stride {} of a tensor is {}; expected at most {}", i,
                  stride, most_stride);
    }
  }
  if (view.offset < 0 || view.offset > kMost) {
    return fail(Code::invalid_argument, "a tensor of {} begins at offset {}; expected 0 to {}",
                to_string(view), view.offset, kMost);
  }
  const TensorView::Span span = view.span();
  if (span.first < 0 || span.first > kMost) {
    return fail(Code::invalid_argument,
                "a tensor of {} begins at offset {} and reaches {} elements before its storage; "
                "offset and strides must stay inside it",
                to_string(view), view.offset, span.first);
  }
  return {};
}

namespace {

template <typename W>
W load(const Scalar& scalar) {
  const DType part = ops::part_of(scalar.dtype);
  const auto block = ops::load_block<W>(part);
  W value{};
  if (block) block(scalar.bytes.data(), 0, 1, &value, 1);
  return value;
}

}  // namespace

double Scalar::real() const { return load<double>(*this); }
double Scalar::imaginary() const {
  if (ops::parts_of(dtype) == 1) return 0;
  const DType part = ops::part_of(dtype);
  double value = 0;
  ops::load_block<double>(part)(bytes.data(), 1, 1, &value, 1);
  return value;
}
int64_t Scalar::integer() const { return load<int64_t>(*this); }
bool Scalar::truth() const {
  return is_floating(ops::part_of(dtype)) ? real() != 0 || imaginary() != 0 : integer() != 0;
}

Result<Scalar> make_scalar(const void* value, DType dtype) {
  const bool number = ops::kValues.has(dtype);
  if (!number) {
    return fail(Code::unsupported_dtype, "a scalar has the data type {}; expected a number type",
                static_cast<int>(dtype));
  }
  Scalar scalar{dtype, {}};
  std::memcpy(scalar.bytes.data(), value, size_of(dtype));
  return scalar;
}

Scalar scalar_of(double value) {
  Scalar scalar{DType::f64, {}};
  std::memcpy(scalar.bytes.data(), &value, sizeof(value));
  return scalar;
}
Scalar scalar_of(int64_t value) {
  Scalar scalar{DType::i64, {}};
  std::memcpy(scalar.bytes.data(), &value, sizeof(value));
  return scalar;
}

Scalar converted(const Scalar& scalar, DType dtype) {
  if (scalar.dtype == dtype) return scalar;
  Scalar out{dtype, {}};
  const DType part = ops::part_of(dtype);
  const bool from_float = is_floating(ops::part_of(scalar.dtype));
  if (is_floating(part) || from_float) {
    // Like torch, a float that becomes an integer is truncated; one out of range wraps.
    const double parts[2] = {scalar.real(), scalar.imaginary()};
    if (dtype == DType::boolean) {
      out.bytes[0] = std::byte{scalar.truth()};
    } else if (is_floating(part)) {
      ops::store_block<double>(part)(out.bytes.data(), 0, parts, ops::parts_of(dtype));
    } else {
      const int64_t value = scalar.integer();
      ops::store_block<int64_t>(part)(out.bytes.data(), 0, &value, 1);
    }
  } else {
    const int64_t value = scalar.integer();
    ops::store_block<int64_t>(part)(out.bytes.data(), 0, &value, 1);
  }
  return out;
}

}  // namespace anynpu::aclnn
