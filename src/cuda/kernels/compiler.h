// SPDX-License-Identifier: Apache-2.0
// Run-time compilation of CUDA C++ with NVRTC. Compiled kernels are cached in memory and on disk
// (cuda/kernels/disk_cache.h), keyed by a hash of the source. Thread-safe.
#pragma once

#include <string>

#include "cuda/gpu.h"

namespace anynpu::device::cuda {

// Compiles `source` for `gpu` and returns its function `kernel` (extern "C" __global__). kPrelude
// is prepended: type names, load() and store() of 16-bit floats, and helpers.
Result<CUfunction> compile_kernel(const Gpu& gpu, const std::string& source);

// Whether kernels use programmatic dependent launch on this GPU: a kernel may start before the
// previous one in the stream has ended, and waits for it with griddepcontrol.wait.
bool uses_programmatic_launch(const Gpu& gpu);

// For tests without a GPU: whether NVRTC is available, and whether `source` compiles for a compute
// capability such as 90.
Status compiler_available();
Status check_source(const std::string& source, int capability);

}  // namespace anynpu::device::cuda
