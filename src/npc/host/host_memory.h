// SPDX-License-Identifier: Apache-2.0
// Host memory that a program registers as locked in place. Pages are locked where the system lets
// the process (RLIMIT_MEMLOCK); the registration holds either way, as copies do not depend on it.
// Allocated locked memory is device::allocate_host. Thread-safe.
#pragma once

#include <cstddef>

#include "base/status.h"

namespace anynpu::npc {

// Fails for memory that is not there and for a start that is registered already.
Status register_host(void* address, size_t bytes);
// `address` must be the start of a registration.
Status unregister_host(void* address);

}  // namespace anynpu::npc
