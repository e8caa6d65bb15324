// SPDX-License-Identifier: Apache-2.0
#include "ops/elements/wide.h"

#include <limits>

#include "tensor/element.h"
#include "tensor/hifloat8.h"

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

// Consecutive elements of `bits` each, the first in the lowest bits of the first byte.
template <int bits>
unsigned code_at(const std::byte* base, int64_t index) {
  const int64_t at = index * bits / 8;
  const int shift = static_cast<int>(index * bits % 8);
  unsigned code = std::to_integer<unsigned>(base[at]) >> shift;
  if (shift + bits > 8) code |= std::to_integer<unsigned>(base[at + 1]) << (8 - shift);
  return code & ((1u << bits) - 1);
}

// Clears what follows in the bytes it touches, so that the last one of a tensor has no rest.
template <int bits>
void set_code(std::byte* base, int64_t index, unsigned code) {
  const int64_t at = index * bits / 8;
  const int shift = static_cast<int>(index * bits % 8);
  const unsigned before = std::to_integer<unsigned>(base[at]) & ((1u << shift) - 1);
  base[at] = static_cast<std::byte>((before | code << shift) & 255u);
  if (shift + bits > 8) base[at + 1] = static_cast<std::byte>(code >> (8 - shift));
}

template <typename T, int bits, typename W>
void load_small(const std::byte* base, int64_t at, int64_t step, W* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const T value{static_cast<uint8_t>(code_at<bits>(base, at + i * step))};
    out[i] = narrowed<W>(static_cast<double>(to_float(value)));
  }
}

template <auto encode, int bits, SmallFloatRule rule, typename W>
void store_small(std::byte* base, int64_t at, const W* in, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    set_code<bits>(base, at + i, encode(static_cast<double>(in[i]), rule).bits);
}

// One type as a row: how its codes are made and read.
template <typename W>
struct SmallFloat {
  DType type;
  LoadBlock<W> load;
  StoreBlock<W> saturating, special;
};

F8E5M2 encode_e5m2(double value, SmallFloatRule rule) { return to_f8e5m2(value, rule.overflow); }
F8E4M3 encode_e4m3(double value, SmallFloatRule rule) { return to_f8e4m3(value, rule.overflow); }
HiF8 encode_hif8(double value, SmallFloatRule) { return to_hif8(value); }

template <typename T, auto encode, int bits, typename W>
constexpr SmallFloat<W> small_float(DType type) {
  return {type, load_small<T, bits, W>, store_small<encode, bits, SmallFloatRule{}, W>,
          store_small<encode, bits, SmallFloatRule{Overflow::special}, W>};
}

template <typename W>
constexpr SmallFloat<W> kSmallFloatRows[] = {small_float<F8E5M2, encode_e5m2, 8, W>(DType::f8e5m2),
                                             small_float<F8E4M3, encode_e4m3, 8, W>(DType::f8e4m3),
                                             small_float<HiF8, encode_hif8, 8, W>(DType::hif8),
                                             small_float<F8E8M0, to_f8e8m0, 8, W>(DType::f8e8m0),
                                             small_float<F6E3M2, to_f6e3m2, 6, W>(DType::f6e3m2),
                                             small_float<F6E2M3, to_f6e2m3, 6, W>(DType::f6e2m3),
                                             small_float<F4E2M1, to_f4e2m1, 4, W>(DType::f4e2m1)};

// E8M0 alone has a way of rounding; `up` stands in its row.
template <ScaleRounding rounding, typename W>
StoreBlock<W> store_scale(Overflow overflow) {
  constexpr SmallFloatRule kSaturating{Overflow::saturate, rounding};
  constexpr SmallFloatRule kSpecial{Overflow::special, rounding};
  return overflow == Overflow::saturate ? store_small<to_f8e8m0, 8, kSaturating, W>
                                        : store_small<to_f8e8m0, 8, kSpecial, W>;
}

template <typename W>
StoreBlock<W> store_small_float(const SmallFloat<W>& row, SmallFloatRule rule) {
  if (row.type == DType::f8e8m0 && rule.rounding == ScaleRounding::down)
    return store_scale<ScaleRounding::down, W>(rule.overflow);
  if (row.type == DType::f8e8m0 && rule.rounding == ScaleRounding::nearest)
    return store_scale<ScaleRounding::nearest, W>(rule.overflow);
  return rule.overflow == Overflow::saturate ? row.saturating : row.special;
}

template <typename W>
void load_int4(const std::byte* base, int64_t at, int64_t step, W* out, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const int code = static_cast<int>(code_at<4>(base, at + i * step));
    out[i] = static_cast<W>(code > 7 ? code - 16 : code);
  }
}

template <typename W>
void store_int4(std::byte* base, int64_t at, const W* in, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    set_code<4>(base, at + i, static_cast<unsigned>(narrowed<int8_t>(in[i])) & 15u);
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
    case DType::hif8:
    case DType::f8e8m0:
    case DType::f6e3m2:
    case DType::f6e2m3:
    case DType::f4e2m1:
      return WideKind::float64;
    case DType::u8:
    case DType::u16:
    case DType::u32:
    case DType::u64:
      return WideKind::uint64;
    default:
      return WideKind::int64;
  }
}

template <typename W>
LoadBlock<W> load_block(DType type) {
  if (type == DType::boolean) return load<Truth, W>;
  if (type == DType::i4) return load_int4<W>;
  for (const auto& small : kSmallFloatRows<W>) {
    if (small.type == type) return small.load;
  }
  LoadBlock<W> found = nullptr;
  visit_numbers(type, [&](auto zero) { found = load<decltype(zero), W>; });
  return found;
}

template <typename W>
StoreBlock<W> store_block(DType type, SmallFloatRule rule) {
  if (type == DType::boolean) return store<Truth, W>;
  if (type == DType::i4) return store_int4<W>;
  for (const auto& small : kSmallFloatRows<W>) {
    if (small.type == type) return store_small_float(small, rule);
  }
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
template StoreBlock<double> store_block(DType, SmallFloatRule);
template StoreBlock<int64_t> store_block(DType, SmallFloatRule);
template StoreBlock<uint64_t> store_block(DType, SmallFloatRule);
template double load_one(DType, const std::byte*, int64_t);
template int64_t load_one(DType, const std::byte*, int64_t);
template uint64_t load_one(DType, const std::byte*, int64_t);

}  // namespace anynpu::ops
