// SPDX-License-Identifier: Apache-2.0
// Shapes as the structures of acl/mdl/desc.h have them.
#pragma once

#include "acl/mdl/desc.h"
#include "base/status.h"
#include "tensor/tensor_desc.h"

namespace anynpu::acl {

// Fails for more dims than aclmdlIODims holds. `name` is cut where it does not fit.
Status to_io_dims(const std::string& name, const Shape& shape, aclmdlIODims* dims);
// The same for the number of dims alone.
Status check_dim_count(const std::string& name, const Shape& shape);

}  // namespace anynpu::acl
