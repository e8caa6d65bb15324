// SPDX-License-Identifier: Apache-2.0
// Callbacks of the program for initialisation and finalisation of the library. One that is
// registered after initialisation is called at once. A type says which part of the library a
// function belongs to; a function is registered once per type. Return values are logged.
// Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/status.h"

namespace anynpu::service {

// Parts 0 to 7, or 0xFFFF for others. `key` tells functions apart.
using InitCallback = std::function<int32_t(const char* text, size_t length)>;
Status add_init_callback(int type, const void* key, InitCallback callback);
Status remove_init_callback(int type, const void* key);
using FinalizeCallback = std::function<int32_t()>;
Status add_finalize_callback(int type, const void* key, FinalizeCallback callback);
Status remove_finalize_callback(int type, const void* key);

// With the text of the active configuration.
void run_init_callbacks();
void run_finalize_callbacks();

}  // namespace anynpu::service
