// SPDX-License-Identifier: Apache-2.0
// The queue of one stream of a program: a CUDA stream. Calls return when the work is enqueued.
#pragma once

#include <deque>
#include <vector>

#include "cuda/gpu.h"
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
  void keep(std::shared_ptr<void> resource) override;
  Status drain() override;
  // Recordings are CUDA graphs.
  std::shared_ptr<void> record(const HostWork& work) override;
  Status replay(const std::shared_ptr<void>& recording) override;

  // For kernels, which enqueue on stream() after enter().
  Status enter() const;
  Gpu& gpu() const { return gpu_; }
  CUstream stream() const { return stream_; }

 private:
  struct Kept {
    CUevent done;
    std::shared_ptr<void> resource;
  };
  void release_kept();

  Gpu& gpu_;
  CUstream stream_ = nullptr;
  Status made_;
  std::deque<Kept> kept_;
  std::vector<CUevent> spare_events_;
};

}  // namespace anynpu::device::cuda
