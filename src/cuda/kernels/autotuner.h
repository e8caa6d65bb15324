// SPDX-License-Identifier: Apache-2.0
// Times of pieces of work on a GPU, to choose among ways to do the same. One caller at a time.
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

  // Memory of the GPU with random numbers between -1 and 1, until the end of this object.
  Result<void*> allocate_random(size_t count, DType type);
  // Without contents.
  Result<void*> allocate(size_t count);

  // Microseconds of one piece in a row of the same; infinity when it fails. `work` enqueues.
  double time(const std::function<Status(CUstream)>& work);

 private:
  Autotuner(const Gpu& gpu, CUstream stream) : gpu_(gpu), stream_(stream) {}
  Result<double> time_graph(const std::function<Status(CUstream)>& work);

  const Gpu& gpu_;
  const CUstream stream_;
  std::vector<CUdeviceptr> blocks_;
};

}  // namespace anynpu::device::cuda
