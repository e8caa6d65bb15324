// SPDX-License-Identifier: Apache-2.0
// Half precision and element sizes: pure functions, callable at any time.
#include <cmath>

#include "acl/acl_base.h"
#include "api/acl/entry.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace {

// The documents have neither infinities nor NaN in half precision: what is too large becomes the
// largest number, and the highest exponent is one like the others.
constexpr aclFloat16 kExponent = 0x7c00;
constexpr aclFloat16 kLargest = 0x7bff;

// 0, with a message, because the number does not show the failure.
size_t explain_unknown(aclDataType type) {
  using namespace anynpu;
  return acl::enter_value<acl::When::always>("aclDataTypeSize", size_t{0}, [&]() -> Result<size_t> {
    return fail(Code::invalid_argument, "data type {} is unknown; expected one of aclDataType",
                static_cast<int>(type));
  });
}

}  // namespace

extern "C" {

float aclFloat16ToFloat(aclFloat16 value) {
  if ((value & kExponent) != kExponent) return anynpu::to_float(anynpu::F16{value});
  const float magnitude = 65536.0f * (1.0f + static_cast<float>(value & 0x3ff) / 1024.0f);
  return value & 0x8000 ? -magnitude : magnitude;
}

aclFloat16 aclFloatToFloat16(float value) {
  if (std::isnan(value)) return kLargest;
  const aclFloat16 half = anynpu::to_f16(value).bits;
  if ((half & kExponent) != kExponent) return half;
  return static_cast<aclFloat16>(half & 0x8000 ? kLargest | 0x8000 : kLargest);
}

size_t aclDataTypeSize(aclDataType dataType) {
  const size_t bits = anynpu::bits_of(static_cast<anynpu::DType>(dataType));
  if (bits == 0) return explain_unknown(dataType);
  return bits % 8 == 0 ? bits / 8 : 0;
}

}  // extern "C"
