// SPDX-License-Identifier: Apache-2.0
#include "tensor/half_arrays.h"

#include <cstdint>

#include "base/clones.h"

namespace anynpu {

namespace {

ANYNPU_CLONES("arch=x86-64-v4", "arch=x86-64-v3")
void widen_f16(const uint16_t* in, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t half = in[i];
    const uint32_t shifted = (half & 0x7fffu) << 13;
    // The exponents differ by 112; the product gets denormals right as well.
    const float scaled = __builtin_bit_cast(float, shifted) * 0x1p112f;
    const uint32_t special = shifted | 0x7f800000u;  // infinities and NaNs
    const uint32_t magnitude =
        shifted >= (0x7c00u << 13) ? special : __builtin_bit_cast(uint32_t, scaled);
    out[i] = __builtin_bit_cast(float, magnitude | ((half & 0x8000u) << 16));
  }
}

ANYNPU_CLONES("arch=x86-64-v4", "arch=x86-64-v3")
void widen_bf16(const uint16_t* in, float* out, size_t count) {
  for (size_t i = 0; i < count; ++i) out[i] = __builtin_bit_cast(float, uint32_t{in[i]} << 16);
}

ANYNPU_CLONES("arch=x86-64-v4", "arch=x86-64-v3")
void narrow_f16(const float* in, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, in[i]);
    const uint32_t magnitude = bits & 0x7fffffffu;
    const uint32_t normal = (magnitude + 0xfffu + ((magnitude >> 13) & 1u) - (112u << 23)) >> 13;
    // The adder rounds denormals at the right place.
    const uint32_t tiny =
        __builtin_bit_cast(uint32_t, __builtin_bit_cast(float, magnitude) + 0.5f) - 0x3f000000u;
    uint32_t half = magnitude < 0x38800000u ? tiny : normal;
    half = magnitude >= 0x477ff000u ? 0x7c00u : half;
    half = magnitude > 0x7f800000u ? 0x7e00u : half;
    out[i] = static_cast<uint16_t>(half | ((bits >> 16) & 0x8000u));
  }
}

ANYNPU_CLONES("arch=x86-64-v4", "arch=x86-64-v3")
void narrow_bf16(const float* in, uint16_t* out, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const uint32_t bits = __builtin_bit_cast(uint32_t, in[i]);
    const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    out[i] = static_cast<uint16_t>(nan ? (bits >> 16) | 0x40u : rounded);
  }
}

}  // namespace

void widen(DType from, const std::byte* in, float* out, size_t count) {
  const auto* shorts = reinterpret_cast<const uint16_t*>(in);
  from == DType::f16 ? widen_f16(shorts, out, count) : widen_bf16(shorts, out, count);
}

void narrow(DType to, const float* in, std::byte* out, size_t count) {
  auto* shorts = reinterpret_cast<uint16_t*>(out);
  to == DType::f16 ? narrow_f16(in, shorts, count) : narrow_bf16(in, shorts, count);
}

}  // namespace anynpu
