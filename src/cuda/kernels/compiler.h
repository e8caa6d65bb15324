// SPDX-License-Identifier: Apache-2.0
// CUDA C++ compiled at run time (NVRTC). Compiled kernels are cached in memory and on disk, in the
// cache folder (base/env.h), under a hash of the source. Thread-safe.
#pragma once

#include <string>

#include "cuda/gpu.h"

namespace anynpu::device::cuda {

// The function `kernel` (extern "C" __global__) of `source`, for `gpu`. Sources begin with
// kPrelude's functions: loads and stores of short floats.
Result<CUfunction> compile_kernel(const Gpu& gpu, const std::string& source);

// Kernels for this GPU are launched before the kernel in front of them has ended
// (CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION); they wait for it themselves.
bool uses_programmatic_launch(const Gpu& gpu);

// For machines without a GPU: whether NVRTC is there, and whether it compiles `source` for a
// compute capability such as 90.
Status compiler_available();
Status check_source(const std::string& source, int capability);

}  // namespace anynpu::device::cuda
