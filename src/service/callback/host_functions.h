// SPDX-License-Identifier: Apache-2.0
// Functions of the program that run on the host between the tasks of a stream: in a thread of the
// runtime, or, for a stream that a thread subscribed to, inside that thread's process calls.
// Thread-safe.
#pragma once

#include <cstdint>

#include "base/handle_table.h"
#include "base/status.h"

namespace anynpu::service {

using HostFunction = void (*)(void*);

Status launch_host_function(Handle stream, HostFunction function, void* data);

// As subscriptions to callbacks (device/report.h); the default stream takes none.
Status subscribe_host_functions(uint64_t thread, Handle stream);
Status unsubscribe_host_functions(uint64_t thread, Handle stream);
// -1: forever, or more than 0 milliseconds.
Status process_host_functions(int32_t timeout_ms);

}  // namespace anynpu::service
