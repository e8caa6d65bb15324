// SPDX-License-Identifier: Apache-2.0
#include "collective/element.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/clones.h"
#include "tensor/half_arrays.h"

namespace anynpu::collective {

namespace {

struct ElementInfo {
  Element element;
  std::string_view name;
  size_t bytes;
  bool reducible;
};
constexpr ElementInfo kElementInfos[] = {
    {Element::i8, "int8", 1, true},         {Element::i16, "int16", 2, true},
    {Element::i32, "int32", 4, true},       {Element::f16, "fp16", 2, true},
    {Element::f32, "fp32", 4, true},        {Element::i64, "int64", 8, true},
    {Element::u64, "uint64", 8, true},      {Element::u8, "uint8", 1, true},
    {Element::u16, "uint16", 2, true},      {Element::u32, "uint32", 4, true},
    {Element::f64, "fp64", 8, true},        {Element::bf16, "bf16", 2, true},
    {Element::i128, "int128", 16, false},   {Element::hif8, "hif8", 1, false},
    {Element::f8e4m3, "fp8e4m3", 1, false}, {Element::f8e5m2, "fp8e5m2", 1, false},
    {Element::f8e8m0, "fp8e8m0", 1, false},
};
constexpr std::string_view kReduceOps[] = {"sum", "prod", "max", "min"};

const ElementInfo* find_info(int64_t number) {
  for (const ElementInfo& info : kElementInfos) {
    if (static_cast<int64_t>(info.element) == number) return &info;
  }
  return nullptr;
}
const ElementInfo& info_of(Element element) { return *find_info(static_cast<int64_t>(element)); }

// One step of a reduction over a block; plain loops that the compiler turns into vectors.
constexpr size_t kBlock = 2048;

template <typename T>
T multiply(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  } else {
    return a * b;
  }
}
template <typename T>
T add(T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  } else {
    return a + b;
  }
}
// NaN wins, and the first one of two.
template <typename T>
T larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a > b || a != a ? a : b;
  } else {
    return a > b ? a : b;
  }
}
template <typename T>
T smaller(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || a != a ? a : b;
  } else {
    return a < b ? a : b;
  }
}

#define ANYNPU_FOLD_STEP(name, T, call)                              \
  ANYNPU_CLONES("arch=x86-64-v4", "arch=x86-64-v3")                  \
  void name(T* out, const T* a, const T* b, size_t count) {          \
    for (size_t i = 0; i < count; ++i) out[i] = call<T>(a[i], b[i]); \
  }
#define ANYNPU_FOLD_STEPS(T)                                                                    \
  ANYNPU_FOLD_STEP(sum_##T, T, add)                                                             \
  ANYNPU_FOLD_STEP(prod_##T, T, multiply)                                                       \
  ANYNPU_FOLD_STEP(max_##T, T, larger)                                                          \
  ANYNPU_FOLD_STEP(min_##T, T, smaller)                                                         \
  constexpr void (*kSteps_##T[])(T*, const T*, const T*, size_t) = {sum_##T, prod_##T, max_##T, \
                                                                    min_##T};
ANYNPU_FOLD_STEPS(int8_t)
ANYNPU_FOLD_STEPS(int16_t)
ANYNPU_FOLD_STEPS(int32_t)
ANYNPU_FOLD_STEPS(int64_t)
ANYNPU_FOLD_STEPS(uint8_t)
ANYNPU_FOLD_STEPS(uint16_t)
ANYNPU_FOLD_STEPS(uint32_t)
ANYNPU_FOLD_STEPS(uint64_t)
ANYNPU_FOLD_STEPS(float)
ANYNPU_FOLD_STEPS(double)

template <typename T>
using Step = void (*)(T*, const T*, const T*, size_t);

// The inputs of one block, all of them before the next block: what was summed stays in the cache.
template <typename T>
void reduce_as(Step<T> step, void* out, std::span<const void* const> in, size_t count) {
  alignas(64) T sum[kBlock];
  for (size_t first = 0; first < count; first += kBlock) {
    const size_t n = std::min(kBlock, count - first);
    const auto at = [&](size_t rank) { return static_cast<const T*>(in[rank]) + first; };
    T* const to = static_cast<T*>(out) + first;
    if (in.size() == 2) {
      step(to, at(0), at(1), n);
      continue;
    }
    step(sum, at(0), at(1), n);
    for (size_t rank = 2; rank + 1 < in.size(); ++rank) step(sum, sum, at(rank), n);
    step(to, sum, at(in.size() - 1), n);
  }
}

void reduce_halves(DType type, Step<float> step, void* out, std::span<const void* const> in,
                   size_t count) {
  alignas(64) float sum[kBlock];
  alignas(64) float next[kBlock];
  for (size_t first = 0; first < count; first += kBlock) {
    const size_t n = std::min(kBlock, count - first);
    widen(type, static_cast<const std::byte*>(in[0]) + 2 * first, sum, n);
    for (size_t rank = 1; rank < in.size(); ++rank) {
      widen(type, static_cast<const std::byte*>(in[rank]) + 2 * first, next, n);
      step(sum, sum, next, n);
    }
    narrow(type, sum, static_cast<std::byte*>(out) + 2 * first, n);
  }
}

}  // namespace

Result<Element> element_of(int64_t number) {
  if (const ElementInfo* info = find_info(number)) return info->element;
  return fail(Code::invalid_argument,
              "the data type is {}; expected a number of HcclDataType: 0 to 12, 14 to 17", number);
}

Result<ReduceOp> reduce_op_of(int64_t number) {
  if (number >= 0 && number <= 3) return static_cast<ReduceOp>(number);
  return fail(Code::invalid_argument,
              "the operation is {}; expected 0 (sum), 1 (prod), 2 (max) or 3 (min)", number);
}

Status check_reducible(Element element) {
  if (info_of(element).reducible) return {};
  return fail(Code::unsupported_dtype,
              "data of type {} cannot be reduced; it can be sent, gathered and scattered",
              name_of(element));
}

size_t bytes_of(Element element) { return info_of(element).bytes; }
std::string_view name_of(Element element) { return info_of(element).name; }
std::string_view name_of(ReduceOp reduce_op) { return kReduceOps[static_cast<size_t>(reduce_op)]; }

void reduce_elements(Element element, ReduceOp reduce_op, void* out,
                     std::span<const void* const> in, size_t count) {
  if (in.size() == 1) {
    std::memmove(out, in[0], count * bytes_of(element));
    return;
  }
  const auto f = static_cast<size_t>(reduce_op);
  switch (element) {
    case Element::i8:
      return reduce_as<int8_t>(kSteps_int8_t[f], out, in, count);
    case Element::i16:
      return reduce_as<int16_t>(kSteps_int16_t[f], out, in, count);
    case Element::i32:
      return reduce_as<int32_t>(kSteps_int32_t[f], out, in, count);
    case Element::i64:
      return reduce_as<int64_t>(kSteps_int64_t[f], out, in, count);
    case Element::u8:
      return reduce_as<uint8_t>(kSteps_uint8_t[f], out, in, count);
    case Element::u16:
      return reduce_as<uint16_t>(kSteps_uint16_t[f], out, in, count);
    case Element::u32:
      return reduce_as<uint32_t>(kSteps_uint32_t[f], out, in, count);
    case Element::u64:
      return reduce_as<uint64_t>(kSteps_uint64_t[f], out, in, count);
    case Element::f32:
      return reduce_as<float>(kSteps_float[f], out, in, count);
    case Element::f64:
      return reduce_as<double>(kSteps_double[f], out, in, count);
    case Element::f16:
      return reduce_halves(DType::f16, kSteps_float[f], out, in, count);
    case Element::bf16:
      return reduce_halves(DType::bf16, kSteps_float[f], out, in, count);
    default:
      return;  // refused by check_reducible
  }
}

}  // namespace anynpu::collective
