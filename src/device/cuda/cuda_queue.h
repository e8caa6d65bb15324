// SPDX-License-Identifier: Apache-2.0
// The queue of one stream of a program: a CUDA stream. Calls return when the work is enqueued.
#pragma once

#include <atomic>
#include <mutex>

#include "device/cuda/gpu.h"
#include "device/queue.h"

namespace anynpu::device::cuda {

class CudaQueue final : public Queue {
 public:
  // 0 is the highest of 8 priorities. A CUDA stream that cannot be made fails the calls.
  CudaQueue(Gpu& gpu, uint32_t priority);
  ~CudaQueue() override;

  Status copy(const CopyRows& rows) override;
  Status fill(void* address, int value, size_t bytes) override;
  bool idle() const override;
  void when_idle(std::function<void(Status)> done) override;

 private:
  Status enter() const;

  Gpu& gpu_;
  CUstream stream_ = nullptr;
  Status made_;
};

}  // namespace anynpu::device::cuda
