// SPDX-License-Identifier: Apache-2.0
// Times of kernels and copies on GPUs, for the trace, measured with CUPTI. Work that a queue does
// between begin_work() and end_work() carries a number; CUPTI reports the number with each kernel
// and copy, and a drain of the trace (trace/registry.h) gets one slice for it, from the first start
// to the last end. CUPTI is opened by the first traced work and switched off when nothing is
// traced. Thread-safe.
#pragma once

#include "device/queue.h"

namespace anynpu::device::cuda {

class CudaQueue;

class Profiler {
 public:
  // The GPU's context is current. False when CUPTI cannot be used, which is logged once.
  static bool begin_work(CudaQueue& queue, const TimedWork& work);
  static void end_work(CudaQueue& queue);
};

}  // namespace anynpu::device::cuda
