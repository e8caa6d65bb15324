// SPDX-License-Identifier: Apache-2.0
// Profiling that starts and ends with the library, by its configuration or by msprof
// (PROFILER_SAMPLECONFIG). With PROFILING_MODE set, nothing starts until msprof requests it
// (prof/remote.h). A folder that cannot be used is replaced by the documented default; if that
// fails too, the program runs anyway, with a message on standard error.
#pragma once

#include "service/config/config.h"

namespace anynpu::service {

// Fails only when PROFILER_SAMPLECONFIG is invalid.
Status start_configured_profiling(const RuntimeConfig& config);
void end_configured_profiling();

}  // namespace anynpu::service
