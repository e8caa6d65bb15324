// SPDX-License-Identifier: Apache-2.0
// Starting and ending the library, with its parts in order of dependency. Thread-safe: one thread
// at a time starts or ends it.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu::service {

// With a configuration file; null: none. If the library is already started, only the count of
// starts changes (already_initialized).
Status start_library(const char* config_path);
// Runs the program's callbacks, then releases what services registered, profiles and devices.
Status end_library();
// One start less; ends the library when none is `left`.
Status drop_library_start(uint64_t* left);

}  // namespace anynpu::service
