// SPDX-License-Identifier: Apache-2.0
// Times alternative implementations of the same work on a GPU. Not thread-safe.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cuda/gpu.h"
#include "tensor/dtype.h"

namespace anynpu::device::cuda {

class Autotuner {
 public:
  static Result<std::unique_ptr<Autotuner>> on(const Gpu& gpu);
  ~Autotuner();

  // GPU memory with random values between -1 and 1, freed with this object.
  Result<void*> allocate_random(size_t count, DType type);
  // The same, uninitialized.
  Result<void*> allocate(size_t count);

  // Microseconds for one execution of `work`, which enqueues on the stream; infinity if it fails.
  // Times a CUDA graph of several executions, so launch overhead does not count.
  double time(const std::function<Status(CUstream)>& work);

 private:
  Autotuner(const Gpu& gpu, CUstream stream) : gpu_(gpu), stream_(stream) {}
  Result<double> time_graph(const std::function<Status(CUstream)>& work);

  const Gpu& gpu_;
  const CUstream stream_;
  std::vector<CUdeviceptr> blocks_;
};

}  // namespace anynpu::device::cuda
