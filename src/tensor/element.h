// SPDX-License-Identifier: Apache-2.0
// How kernels read and write elements of any type: Element<T>::load widens to the type arithmetic
// is done in, store rounds back. visit_* calls a generic lambda with a value of the C++ type of a
// DType and returns false for a type outside the family.
#pragma once

#include <cstdint>
#include <type_traits>

#include "tensor/dtype.h"
#include "tensor/half.h"

namespace anynpu {

template <typename T>
struct Element {
  using Wide = T;  // arithmetic of element-wise operators
  using Sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;  // of long sums
  static Wide load(T value) { return value; }
  template <typename W>
  static T store(W value) {
    return static_cast<T>(value);
  }
};
template <>
struct Element<F16> {
  using Wide = float;
  using Sum = double;
  static float load(F16 value) { return to_float(value); }
  template <typename W>
  static F16 store(W value) {
    return to_f16(static_cast<float>(value));
  }
};
template <>
struct Element<BF16> {
  using Wide = float;
  using Sum = double;
  static float load(BF16 value) { return to_float(value); }
  template <typename W>
  static BF16 store(W value) {
    return to_bf16(static_cast<float>(value));
  }
};

template <typename F>
bool visit_floats(DType type, F&& f) {
  switch (type) {
    case DType::f32:
      f(float{});
      return true;
    case DType::f64:
      f(double{});
      return true;
    case DType::f16:
      f(F16{});
      return true;
    case DType::bf16:
      f(BF16{});
      return true;
    default:
      return false;
  }
}

template <typename F>
bool visit_integers(DType type, F&& f) {
  switch (type) {
    case DType::i8:
      f(int8_t{});
      return true;
    case DType::i16:
      f(int16_t{});
      return true;
    case DType::i32:
      f(int32_t{});
      return true;
    case DType::i64:
      f(int64_t{});
      return true;
    case DType::u8:
      f(uint8_t{});
      return true;
    case DType::u16:
      f(uint16_t{});
      return true;
    case DType::u32:
      f(uint32_t{});
      return true;
    case DType::u64:
      f(uint64_t{});
      return true;
    default:
      return false;
  }
}

template <typename F>
bool visit_numbers(DType type, F&& f) {
  return visit_floats(type, f) || visit_integers(type, f);
}

}  // namespace anynpu
