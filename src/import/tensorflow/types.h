// SPDX-License-Identifier: Apache-2.0
// DataType of TensorFlow and the element types that AscendCL has for them.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "tensor/dtype.h"

namespace anynpu::tensorflow {

// Numbers of DataType that are not element types: references to variables, and tensor lists.
constexpr int64_t kResourceType = 20;
constexpr int64_t kVariantType = 21;

// "float", "resource", ...: TensorFlow's name; "type 99" for a number it does not have.
std::string type_name(int64_t number);

// The element type; a quantised type becomes the integer type it is stored in. Fails for resources,
// variants and types that AscendCL cannot describe.
Result<DType> dtype_of(int64_t number);

}  // namespace anynpu::tensorflow
