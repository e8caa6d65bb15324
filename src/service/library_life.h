// SPDX-License-Identifier: Apache-2.0
// Starting and ending the library, in the order in which its parts need each other. Thread-safe:
// one thread at a time starts or ends.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu::service {

// With the configuration of a file; null: none. A library that is started already is not changed
// and counts one start more (already_initialized).
Status start_library(const char* config_path);
// Runs the program's callbacks, then releases what services registered, profiles and devices.
Status end_library();
// One start less; ends the library when none is `left`.
Status drop_library_start(uint64_t* left);

}  // namespace anynpu::service
