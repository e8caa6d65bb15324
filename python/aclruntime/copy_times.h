// SPDX-License-Identifier: Apache-2.0
// The milliseconds of every copy between host and device of this process, in time order: what
// MemorySummary shows. Thread-safe.
#pragma once

#include <cstddef>
#include <vector>

#include "aclruntime/failure.h"

namespace anynpu::aclruntime {

enum class CopyKind { to_device, to_host, on_device };

// Copies `bytes` and records the time; device-to-device copies are not recorded.
Failure timed_copy(void* to, size_t room, const void* from, size_t bytes, CopyKind kind);

std::vector<double> copy_times(CopyKind kind);
void reset_copy_times();

// Milliseconds since the first call, on a clock that never goes back: one for all sessions.
double now_ms();

}  // namespace anynpu::aclruntime
