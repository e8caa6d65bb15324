// SPDX-License-Identifier: Apache-2.0
// Names of service/model/failed_ops.h for the entry points of operators and kernels.
#pragma once

#include "service/model/failed_ops.h"

namespace anynpu::acl {

using service::OpInfo;

inline void note_failed_op(OpInfo op) { service::FailedOps::instance().note(std::move(op)); }

}  // namespace anynpu::acl
