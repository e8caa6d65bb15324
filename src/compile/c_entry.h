// SPDX-License-Identifier: Apache-2.0
// A C interface for bundles of models: `anynpu bundle` calls these through ctypes. Thread-safe.
// Each returns 0, or 1 with the error message in `message` (cut to `message_bytes`, always
// terminated).
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Writes `count` offline models to one bundle.
int anynpu_bundle(const char* const* models, size_t count, const char* output_path, char* message,
                  size_t message_bytes);
// Calls `show` with one line of text for each model of a bundle, after all of them were checked.
int anynpu_bundle_list(const char* path, void (*show)(const char* line), char* message,
                       size_t message_bytes);

#ifdef __cplusplus
}
#endif
