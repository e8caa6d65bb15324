// SPDX-License-Identifier: Apache-2.0
// Names of service/dump/dump_control.h for the entry points of operators and kernels.
#pragma once

#include "service/dump/dump_control.h"

namespace anynpu::acl {

using service::kernel_dump_target;
using service::KernelDumpTarget;
using service::observer_for_operators;

}  // namespace anynpu::acl
