// SPDX-License-Identifier: Apache-2.0
// Libraries of the CUDA toolkit (NVRTC, cuBLASLt, cuDNN), opened on first use: from the loader's
// paths, from ANYNPU_CUDA_LIBRARIES, or from the toolkit's folder. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace anynpu::device::cuda {

// Stays open. Fails with unsupported_feature, the paths that were tried and the package to install.
Result<void*> open_library(const char* file, const char* package);

// A function of it; fails with the name.
Result<void*> function_of(void* library, const char* file, const char* name);

}  // namespace anynpu::device::cuda
