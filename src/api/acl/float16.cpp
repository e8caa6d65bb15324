// SPDX-License-Identifier: Apache-2.0
// Half precision and element sizes: pure functions, callable at any time.
#include "acl/acl_base.h"
#include "api/acl/entry.h"
#include "tensor/dtype.h"
#include "tensor/half.h"

namespace {

// 0, with the sentence that the number alone does not tell.
size_t explain_unknown(aclDataType type) {
  using namespace anynpu;
  return acl::enter_value<acl::When::always>("aclDataTypeSize", size_t{0}, [&]() -> Result<size_t> {
    return fail(Code::invalid_argument, "data type {} is unknown; expected one of aclDataType",
                static_cast<int>(type));
  });
}

}  // namespace

extern "C" {

float aclFloat16ToFloat(aclFloat16 value) { return anynpu::to_float(anynpu::F16{value}); }

aclFloat16 aclFloatToFloat16(float value) { return anynpu::to_f16(value).bits; }

size_t aclDataTypeSize(aclDataType dataType) {
  const size_t bits = anynpu::bits_of(static_cast<anynpu::DType>(dataType));
  if (bits == 0) return explain_unknown(dataType);
  return bits % 8 == 0 ? bits / 8 : 0;
}

}  // extern "C"
