// SPDX-License-Identifier: Apache-2.0
// Maps Status to aclnn's error codes. The message goes where that of a failed acl function goes:
// the log, aclGetRecentErrMsg, aclrtPeekAtLastError.
#pragma once

#include "api/acl/errors.h"

namespace anynpu::acl_nn {

aclError number_of(const acl::Failure& failure);
aclError report(const char* function, const acl::Failure& failure);

}  // namespace anynpu::acl_nn
