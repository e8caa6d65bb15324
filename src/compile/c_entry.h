// SPDX-License-Identifier: Apache-2.0
// What makes model files, in process for callers that speak C (Python's ctypes). Thread-safe. Each
// returns 0; else 1 with the sentence of the failure in `message` (cut to `message_bytes`, always
// terminated).
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// The same path as the program atc: compiles the ONNX file `model_path` to `output_path` (with its
// suffix .om). `input_shape` has the grammar of --input_shape; null or "" leaves the model's own
// shapes.
int anynpu_atc(const char* model_path, const char* output_path, const char* soc_version,
               const char* input_shape, char* message, size_t message_bytes);

// Writes `count` offline models to one bundle.
int anynpu_bundle(const char* const* models, size_t count, const char* output_path, char* message,
                  size_t message_bytes);
// Calls `show` with one line of text for each model of a bundle, after all of them were checked.
int anynpu_bundle_list(const char* path, void (*show)(const char* line), char* message,
                       size_t message_bytes);

#ifdef __cplusplus
}
#endif
