// SPDX-License-Identifier: Apache-2.0
// Device settings that a program sets and queries: limits, cores, system parameters, timeouts, peer
// access. They last until finalize; peer access lasts as long as the process. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

// Limits of the current device by number, in the order of the interface.
inline constexpr size_t kDeviceLimits = 5;
// Rounds up to the limit's unit. Needs a current context.
Status set_device_limit(int limit, uint64_t value);
// Empty if the limit was never set.
Result<std::optional<uint64_t>> device_limit(int limit);

// Core limits: `kind` is 0 (cube) or 1 (vector). They are only stored; all streams share the
// threads of a CPU device.
Status set_core_limit(int32_t device, int kind, uint32_t cores);
Result<uint32_t> core_limit(int32_t device, int kind);
Status reset_core_limits(int32_t device);

Status set_stream_core_limit(Handle stream, int kind, uint32_t cores);
Result<uint32_t> stream_core_limit(Handle stream, int kind);
Status reset_stream_core_limits(Handle stream);
// The calling thread uses the limits of this stream; with `use` false it no longer does.
Status use_stream_core_limits(Handle stream, bool use);
// The limit of that stream if there is one, else of the current device.
Result<uint32_t> thread_core_limit(int kind);

// How devices treat values that overflow: 1 (infinities and NaN) is the only mode there is.
Status set_overflow_mode(int mode);

Status set_system_option(int option, int64_t value);
// 0 when it was never set.
Result<int64_t> system_option(int option);

// Time limits of tasks; they need a current context. 0 is no limit.
Status set_wait_limit_s(uint64_t seconds);
uint64_t wait_limit_ms();
Status set_execute_limit_us(uint64_t microseconds);
Result<uint64_t> execute_limit_us();

// Peer access of the current device to another one. Only stored: copies work
// either way.
Status enable_peer_access(int32_t peer);
Status disable_peer_access(int32_t peer);
Result<bool> peer_access(int32_t device, int32_t peer);

}  // namespace anynpu::service
