// SPDX-License-Identifier: Apache-2.0
// Copies and fills of GPU memory in a CUDA stream, shared by memory and queues.
#pragma once

#include "cuda/gpu.h"
#include "device/device_memory.h"

namespace anynpu::device::cuda {

// Enqueues the copy. Ranges may overlap where both are on `gpu`.
Status enqueue_copy(const Gpu& gpu, const CopyRows& rows, CUstream stream);
Status enqueue_fill(void* address, int value, size_t bytes, CUstream stream);

// A stream of the calling thread on `gpu`, for work that is synchronized at once. Makes the GPU's
// context current.
Result<CUstream> stream_of_thread(const Gpu& gpu);

}  // namespace anynpu::device::cuda
