// SPDX-License-Identifier: Apache-2.0
// Profiling that aclInit starts, as acl.json or msprof (PROFILER_SAMPLECONFIG) asks for it, and
// aclFinalize ends. With PROFILING_MODE set, nothing starts until msprof says so (prof/remote.h).
// A profile that cannot be written is no reason not to run: it is logged.
#pragma once

#include "api/acl/config.h"

namespace anynpu::acl {

// Fails only when PROFILER_SAMPLECONFIG is no valid configuration.
Failure start_configured_profiling(const AclConfig& config);
void end_configured_profiling();

}  // namespace anynpu::acl
