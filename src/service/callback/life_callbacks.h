// SPDX-License-Identifier: Apache-2.0
// Functions of the program that are called when the library is initialised and finalised. One that
// is registered after the initialisation is called at once. A type says which part of the library a
// function belongs to; a function is kept once for each type. What they return is logged.
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

// With the text of the configuration that is in force.
void run_init_callbacks();
void run_finalize_callbacks();

}  // namespace anynpu::service
