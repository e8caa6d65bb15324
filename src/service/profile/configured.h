// SPDX-License-Identifier: Apache-2.0
// Profiling that starts with the library, as its configuration or msprof (PROFILER_SAMPLECONFIG)
// asks for it, and ends with it. With PROFILING_MODE set, nothing starts until msprof says so
// (prof/remote.h). A folder that cannot be used is replaced by the documented default; a profile
// that cannot be written there either is no reason not to run: it is said on standard error.
#pragma once

#include "service/config/config.h"

namespace anynpu::service {

// Fails only when PROFILER_SAMPLECONFIG is no valid configuration.
Status start_configured_profiling(const RuntimeConfig& config);
void end_configured_profiling();

}  // namespace anynpu::service
