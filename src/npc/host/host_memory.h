// SPDX-License-Identifier: Apache-2.0
// Locked host memory: allocated here, or registered by a program. Pages are locked as far as the
// process may (RLIMIT_MEMLOCK); the calls succeed either way, because copies do not depend on it.
// Thread-safe.
#pragma once

#include <cstddef>

#include "base/result.h"
#include "base/status.h"

namespace anynpu::npc {

Result<void*> allocate_locked(size_t bytes);
// `address` must come from allocate_locked and not be freed yet.
Status free_locked(void* address);

// Fails for memory that is not there and for a start that is registered already.
Status register_host(void* address, size_t bytes);
// `address` must be the start of a registration.
Status unregister_host(void* address);

}  // namespace anynpu::npc
