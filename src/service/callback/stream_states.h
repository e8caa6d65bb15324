// SPDX-License-Identifier: Apache-2.0
// Callbacks of the program for streams that were created or are about to be destroyed.
// Thread-safe.
#pragma once

#include <cstdint>

#include "base/handle_table.h"
#include "base/status.h"

namespace anynpu::service {

// `state` as device::StreamState.
using StreamStateCallback = void (*)(Handle stream, uint32_t state, void* function, void* data);

// By name; a null `function` removes it. `call` knows the type of the function.
Status set_stream_state_callback(const char* name, void* function, void* data,
                                 StreamStateCallback call);

}  // namespace anynpu::service
