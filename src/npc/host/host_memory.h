// SPDX-License-Identifier: Apache-2.0
// Host memory that is locked in place: allocated so, or registered by a program. Pages are locked
// where the system lets the process (RLIMIT_MEMLOCK); the calls succeed either way, as copies do
// not depend on it. Thread-safe.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/status.h"

namespace anynpu::npc {

Result<void*> allocate_locked(size_t bytes);
// `address` must be one that allocate_locked gave and that is not freed yet.
Status free_locked(void* address);

// Fails for memory that is not there and for a start that is registered already.
Status register_host(void* address, size_t bytes);
// `address` must be the start of a registration.
Status unregister_host(void* address);

}  // namespace anynpu::npc
