// SPDX-License-Identifier: Apache-2.0
#include "ops/block/wide.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tensor/element.h"

namespace anynpu::ops {

namespace {

struct Truth {  // bool as bytes of 0 and 1
  uint8_t value;
};

template <typename T, typename W>
T narrowed(W value) {
  if constexpr (std::is_same_v<T, Truth>) {
    return {static_cast<uint8_t>(value != W(0))};
  } else if constexpr (std::is_integral_v<T> && std::is_floating_point_v<W>) {
    // Values outside any integer would be undefined: they become the most negative, as processors
    // do.
    if constexpr (std::is_same_v<T, uint64_t>) {
      if (value >= 0x1p63 && value < 0x1p64) return static_cast<T>(value);
    }
    if (!(value >= -0x1p63 && value < 0x1p63))
      return static_cast<T>(std::numeric_limits<int64_t>::min());
    return static_cast<T>(static_cast<int64_t>(value));
  } else {
    return Element<T>::store(value);
  }
}

template <typename T, typename W>
void load(const std::byte* base, int64_t at, int64_t step, W* out, int64_t count) {
  const T* x = reinterpret_cast<const T*>(base) + at;
  const auto widened = [](T value) {
    if constexpr (std::is_same_v<T, Truth>) {
      return static_cast<W>(value.value != 0);
    } else if constexpr (std::is_floating_point_v<typename Element<T>::Wide> &&
                         !std::is_floating_point_v<W>) {
      return narrowed<W>(static_cast<double>(Element<T>::load(value)));
    } else {
      return static_cast<W>(Element<T>::load(value));
    }
  };
  if (step == 1) {  // a loop of its own becomes vector instructions
    for (int64_t i = 0; i < count; ++i) out[i] = widened(x[i]);
  } else {
    for (int64_t i = 0; i < count; ++i) out[i] = widened(x[i * step]);
  }
}

template <typename T, typename W>
void store(std::byte* base, int64_t at, const W* in, int64_t count) {
  T* y = reinterpret_cast<T*>(base) + at;
  for (int64_t i = 0; i < count; ++i) y[i] = narrowed<T>(in[i]);
}

template <typename T, typename W>
void load_float8(const std::byte* base, int64_t at, int64_t step, W* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const auto value =
        static_cast<double>(to_float(T{std::to_integer<uint8_t>(base[at + i * step])}));
    out[i] = narrowed<W>(value);
  }
}

template <auto encode, Overflow overflow, typename W>
void store_float8(std::byte* base, int64_t at, const W* in, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    base[at + i] = static_cast<std::byte>(encode(static_cast<double>(in[i]), overflow).bits);
}

template <auto encode, typename W>
StoreBlock<W> store_float8(Overflow overflow) {
  return overflow == Overflow::saturate ? store_float8<encode, Overflow::saturate, W>
                                        : store_float8<encode, Overflow::special, W>;
}

// Two to a byte, the first in the low half.
template <typename W>
void load_int4(const std::byte* base, int64_t at, int64_t step, W* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = at + i * step;
    const int half = std::to_integer<int>(base[index / 2]) >> (index % 2 * 4) & 15;
    out[i] = static_cast<W>(half > 7 ? half - 16 : half);
  }
}

template <typename W>
void store_int4(std::byte* base, int64_t at, const W* in, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = at + i;
    W value = in[i];
    if constexpr (std::is_floating_point_v<W>)
      value = std::clamp(std::nearbyint(value), W(-8), W(7));
    const auto half = static_cast<unsigned>(narrowed<int8_t>(value)) & 15u;
    const unsigned other = std::to_integer<unsigned>(base[index / 2]);
    // The first of a pair clears the second, so that the last byte of an odd count has no rest.
    base[index / 2] = static_cast<std::byte>(index % 2 == 0 ? half : (other & 15u) | half << 4);
  }
}

}  // namespace

WideKind wide_kind(DType type) {
  switch (type) {
    case DType::f32:
    case DType::f64:
    case DType::f16:
    case DType::bf16:
    case DType::f8e5m2:
    case DType::f8e4m3:
      return WideKind::real;
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return WideKind::natural;
    default:
      return WideKind::whole;
  }
}

template <typename W>
LoadBlock<W> load_block(DType type) {
  if (type == DType::boolean) return load<Truth, W>;
  if (type == DType::i4) return load_int4<W>;
  if (type == DType::f8e5m2) return load_float8<F8E5M2, W>;
  if (type == DType::f8e4m3) return load_float8<F8E4M3, W>;
  LoadBlock<W> found = nullptr;
  visit_numbers(type, [&](auto zero) { found = load<decltype(zero), W>; });
  return found;
}

template <typename W>
StoreBlock<W> store_block(DType type, Overflow overflow) {
  if (type == DType::boolean) return store<Truth, W>;
  if (type == DType::i4) return store_int4<W>;
  if (type == DType::f8e5m2) return store_float8<to_f8e5m2, W>(overflow);
  if (type == DType::f8e4m3) return store_float8<to_f8e4m3, W>(overflow);
  StoreBlock<W> found = nullptr;
  visit_numbers(type, [&](auto zero) { found = store<decltype(zero), W>; });
  return found;
}

template <typename W>
W load_one(DType type, const std::byte* base, int64_t at) {
  W value{};
  if (const auto load = load_block<W>(type)) load(base, at, 0, &value, 1);
  return value;
}

template LoadBlock<double> load_block(DType);
template LoadBlock<int64_t> load_block(DType);
template LoadBlock<uint64_t> load_block(DType);
template StoreBlock<double> store_block(DType, Overflow);
template StoreBlock<int64_t> store_block(DType, Overflow);
template StoreBlock<uint64_t> store_block(DType, Overflow);
template double load_one(DType, const std::byte*, int64_t);
template int64_t load_one(DType, const std::byte*, int64_t);
template uint64_t load_one(DType, const std::byte*, int64_t);

}  // namespace anynpu::ops
