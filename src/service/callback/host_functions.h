// SPDX-License-Identifier: Apache-2.0
// Functions of the program that run on the host between the tasks of a stream: in a thread of the
// runtime, or, if a thread subscribed to the stream, in that thread while it is in
// process_host_functions().
// Thread-safe.
#pragma once

#include <cstdint>

#include "base/handle_table.h"
#include "base/status.h"

namespace anynpu::service {

using HostFunction = void (*)(void*);

Status launch_host_function(Handle stream, HostFunction function, void* data);

// Like subscriptions to callbacks (device/report.h). The default stream cannot be subscribed to.
Status subscribe_host_functions(uint64_t thread, Handle stream);
Status unsubscribe_host_functions(uint64_t thread, Handle stream);
// The timeout is -1 (wait forever) or more than 0.
Status process_host_functions(int32_t timeout_ms);

}  // namespace anynpu::service
