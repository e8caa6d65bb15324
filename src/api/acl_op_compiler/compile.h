// SPDX-License-Identifier: Apache-2.0
// What the functions that compile operators share.
#pragma once

#include "acl/acl_op_compiler.h"
#include "base/status.h"

namespace anynpu::acl {

Status check_engine(aclopEngineType engine);

}  // namespace anynpu::acl
