// SPDX-License-Identifier: Apache-2.0
// Half precision and element sizes: pure functions, callable at any time.
#include "acl/acl_base.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

extern "C" {

float aclFloat16ToFloat(aclFloat16 value) {
  return anynpu::to_float(anynpu::F16{value});
}

aclFloat16 aclFloatToFloat16(float value) {
  return anynpu::to_f16(value).bits;
}

size_t aclDataTypeSize(aclDataType dataType) {
  switch (static_cast<int>(dataType)) {
    case ACL_HIFLOAT8:
    case ACL_FLOAT8_E5M2:
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E8M0:
      return 1;
    default: {
      const size_t bits = anynpu::bits_of(static_cast<anynpu::DType>(dataType));
      return bits % 8 == 0 ? bits / 8 : 0;
    }
  }
}

}  // extern "C"
