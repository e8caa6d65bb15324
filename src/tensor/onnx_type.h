// SPDX-License-Identifier: Apache-2.0
// TensorProto.DataType of ONNX and the element types that AscendCL has for them.
#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace anynpu {

// DType::undefined for a number that ONNX does not have or AscendCL does not describe (the FNUZ
// forms of 8-bit floats, UINT4, UINT2, INT2).
DType dtype_of_onnx_number(int64_t number);

// 0 (TensorProto.UNDEFINED) for types that ONNX does not have.
int64_t onnx_number(DType type);

// A value of the attribute `to` of Cast: ONNX's number or, for a type that ONNX does not have, 1000
// + AscendCL's number. The latter never occur in model files.
int64_t cast_number(DType type);
DType dtype_of_cast_number(int64_t number);

}  // namespace anynpu
