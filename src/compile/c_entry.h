// SPDX-License-Identifier: Apache-2.0
// atc in process for callers that speak C (Python's ctypes): the same path as the program atc, from
// a model file to a .om file. Thread-safe.
#pragma once

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

// Compiles the ONNX file `model_path` to `output_path` (with its suffix .om). `input_shape` has the
// grammar of --input_shape; null or "" leaves the model's own shapes. Returns 0; else 1 with the
// sentence of the failure in `message` (cut to `message_bytes`, always terminated).
int anynpu_atc(const char* model_path, const char* output_path, const char* soc_version,
               const char* input_shape, char* message, size_t message_bytes);

#ifdef __cplusplus
}
#endif
