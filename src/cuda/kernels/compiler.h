// SPDX-License-Identifier: Apache-2.0
// CUDA C++ that is compiled while a program runs (NVRTC). What was compiled once is kept in memory,
// and on disk below the cache folder (base/env.h), by a hash of the source. Thread-safe.
#pragma once

#include <string>

#include "cuda/gpu.h"

namespace anynpu::device::cuda {

// The function `kernel` (extern "C" __global__) of `source`, for `gpu`. Sources begin with
// kPrelude's functions: loads and stores of short floats.
Result<CUfunction> compile_kernel(const Gpu& gpu, const std::string& source);

}  // namespace anynpu::device::cuda
