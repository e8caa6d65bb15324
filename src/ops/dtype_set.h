// SPDX-License-Identifier: Apache-2.0
// DTypeSet: the element types an operator or a kernel takes, as a bit mask.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>

#include "tensor/dtype.h"

namespace anynpu::ops {

class DTypeSet {
 public:
  constexpr DTypeSet() = default;
  constexpr DTypeSet(std::initializer_list<DType> types) {
    for (DType type : types) bits_ |= bit(type);
  }
  constexpr bool has(DType type) const { return (bits_ & bit(type)) != 0; }
  constexpr DTypeSet operator|(DTypeSet other) const {
    DTypeSet both;
    both.bits_ = bits_ | other.bits_;
    return both;
  }
  // "float32, float16": for messages.
  std::string to_string() const;

 private:
  static constexpr uint64_t bit(DType type) {
    return type == DType::undefined ? 0 : uint64_t{1} << static_cast<int>(type);
  }
  uint64_t bits_ = 0;
};

constexpr DTypeSet kFloats{DType::f32, DType::f16, DType::bf16, DType::f64};
constexpr DTypeSet kIntegers{DType::i8, DType::i16, DType::i32, DType::i64,
                             DType::u8, DType::u16, DType::u32, DType::u64};
constexpr DTypeSet kNumbers = kFloats | kIntegers;
constexpr DTypeSet kComplex{DType::c32, DType::c64, DType::c128};
// All types with values: numbers, complex numbers and bool.
constexpr DTypeSet kValues = kNumbers | kComplex | DTypeSet{DType::boolean};
// Floats of 8 bits and less: stored and converted, not computed with. Those of 8 bits are moved by
// every operator that moves bytes.
constexpr DTypeSet kFloat8{DType::f8e5m2, DType::f8e4m3};
constexpr DTypeSet kHiFloat8{DType::hif8};
constexpr DTypeSet kScaleFloat{DType::f8e8m0};
constexpr DTypeSet kFloat6{DType::f6e3m2, DType::f6e2m3};
constexpr DTypeSet kFloat4{DType::f4e2m1};
constexpr DTypeSet kSmallFloats = kFloat8 | kHiFloat8 | kScaleFloat | kFloat6 | kFloat4;
// Whatever has a fixed size per element: what data movement takes.
constexpr DTypeSet kAnyFixed = kValues | kFloat8 | kHiFloat8 | kScaleFloat;
// Two elements to a byte: what views, Transpose and Pad take besides.
constexpr DTypeSet kAnyPacked = kAnyFixed | kFloat4 | DTypeSet{DType::i4};

// A complex element is two consecutive elements of another type; other types are their own part.
constexpr DType part_of(DType type) {
  if (type == DType::c32) return DType::f16;
  if (type == DType::c64) return DType::f32;
  return type == DType::c128 ? DType::f64 : type;
}
constexpr int64_t parts_of(DType type) { return kComplex.has(type) ? 2 : 1; }

}  // namespace anynpu::ops
