// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies and fills of GPU memory, used by CudaMemory and CudaQueue.
#pragma once

#include "cuda/gpu.h"
#include "device/device_memory.h"

namespace anynpu::device::cuda {

// Source and destination may overlap if both are on `gpu`.
Status enqueue_copy(const Gpu& gpu, const CopyRows& rows, CUstream stream);
Status enqueue_fill(void* address, int value, size_t bytes, CUstream stream);

// The calling thread's own stream on `gpu`, for calls that synchronize before they return. Makes
// the GPU's context current.
Result<CUstream> stream_of_thread(const Gpu& gpu);

}  // namespace anynpu::device::cuda
