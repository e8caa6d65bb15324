// SPDX-License-Identifier: Apache-2.0
// What the two files of aclTensorDesc functions share.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "tensor/shape.h"

namespace anynpu::acl {

// A shape from a C array, checked: at most 128 extents of 0 or more, -1, or the single -2.
Result<Shape> read_shape(int count, const int64_t* dims);

}  // namespace anynpu::acl
