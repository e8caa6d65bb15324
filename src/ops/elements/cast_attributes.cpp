// SPDX-License-Identifier: Apache-2.0
#include "ops/elements/cast_attributes.h"

#include "tensor/onnx_type.h"

namespace anynpu::ops {

SmallFloatRule small_float_rule(const OpContext& context) {
  const bool special = context.has_attr("saturate") && context.int_attr("saturate") == 0;
  const std::string mode = context.string_attr("round_mode");
  return {special ? Overflow::special : Overflow::saturate, mode == "down" ? ScaleRounding::down
                                                            : mode == "nearest"
                                                                ? ScaleRounding::nearest
                                                                : ScaleRounding::up};
}

Result<DType> dtype_of_onnx(const OpContext& context, int64_t number) {
  const DType type = dtype_of_onnx_number(number);
  if (type != DType::undefined) return type;
  return fail(Code::unsupported_dtype,
              "{}: ONNX data type {} is not supported, AscendCL has no description for it",
              context.label(), number);
}

}  // namespace anynpu::ops
