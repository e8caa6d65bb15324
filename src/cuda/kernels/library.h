// SPDX-License-Identifier: Apache-2.0
// Loads libraries of the CUDA toolkit (NVRTC, cuBLASLt, cuDNN) with dlopen: from the loader's
// search path, ANYNPU_CUDA_LIBRARIES, NVIDIA's PyPI packages beside this library, or the toolkit's
// folder. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace anynpu::device::cuda {

// Never closed. Fails with unsupported_feature, the paths tried and the package to install.
Result<void*> open_library(const char* file, const char* package);

// Looks up a function; the error names it.
Result<void*> function_of(void* library, const char* file, const char* name);

}  // namespace anynpu::device::cuda
