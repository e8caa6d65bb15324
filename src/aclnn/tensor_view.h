// SPDX-License-Identifier: Apache-2.0
// Tensors, scalars and arrays as programs pass them to aclnn operators: plain values that own
// copies of shapes and strides. A tensor is a view into a storage: element (i, j, ...) is at
// data + (offset + i * strides[0] + j * strides[1] ...) * element size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "tensor/dtype.h"
#include "tensor/shape.h"

namespace anynpu::aclnn {

// Extents or strides, stored inline: descriptors are created for every call of an operator.
class Dims {
 public:
  static constexpr size_t kMost = 16;

  Dims() = default;
  // At most kMost values.
  explicit Dims(std::span<const int64_t> values) {
    for (int64_t value : values) push_back(value);
  }
  void push_back(int64_t value) { values_[count_++] = value; }
  size_t size() const { return count_; }
  bool empty() const { return count_ == 0; }
  int64_t& operator[](size_t index) { return values_[index]; }
  int64_t operator[](size_t index) const { return values_[index]; }
  const int64_t* begin() const { return values_.data(); }
  const int64_t* end() const { return values_.data() + count_; }
  Shape shape() const { return Shape(begin(), end()); }

 private:
  size_t count_ = 0;
  std::array<int64_t, kMost> values_;
};

struct TensorView {
  DType dtype = DType::undefined;
  Format format = Format::nd;
  int64_t offset = 0;  // of the first element, in elements from `data`
  void* data = nullptr;
  Dims shape, strides, storage_shape;

  int64_t count() const;  // of elements
  bool contiguous() const;
  // The range of elements from the first to the last one that the view reaches: the index of the
  // first, from `data`, and their number. Empty for an empty view.
  struct Span {
    int64_t first = 0, count = 0;
  };
  Span span() const;
  // The addresses of that range.
  std::byte* begin() const;
  size_t span_bytes() const;

  void set_contiguous(std::span<const int64_t> extents);
};

using anynpu::to_string;
// "float32 2x3", with strides where they are not those of the shape.
std::string to_string(const TensorView& view);

// Fails if there are too many axes, an extent is negative, an element is outside of the storage
// or the view is so large that its size overflows.
Status check(const TensorView& view);

// One value of any type that a tensor can have.
struct Scalar {
  DType dtype = DType::undefined;
  alignas(16) std::array<std::byte, 16> bytes{};

  double real() const;  // the real part of a complex number
  double imaginary() const;
  int64_t integer() const;  // truncated
  bool truth() const;
  bool operator==(const Scalar& other) const {
    return dtype == other.dtype && bytes == other.bytes;
  }
};

// `value` points to one value of `dtype`. Fails for types that are not numeric.
Result<Scalar> make_scalar(const void* value, DType dtype);
Scalar scalar_of(double value);
Scalar scalar_of(int64_t value);
// The same number in another type.
Scalar converted(const Scalar& scalar, DType dtype);

}  // namespace anynpu::aclnn
