// SPDX-License-Identifier: Apache-2.0
// The queue of one stream of a program: a CUDA stream. Calls return when the work is enqueued.
#pragma once

#include <deque>
#include <vector>

#include "cuda/faults.h"
#include "cuda/gpu.h"
#include "device/queue.h"

namespace anynpu::device::cuda {

class CudaQueue final : public Queue {
 public:
  // 0 is the highest of 8 priorities. If the CUDA stream cannot be created, every call fails.
  CudaQueue(Gpu& gpu, uint32_t priority);
  ~CudaQueue() override;

  Status copy(const CopyRows& rows) override;
  Status fill(void* address, int value, size_t bytes) override;
  bool idle() const override;
  void when_idle(std::function<void(Status)> done) override;
  void keep(std::shared_ptr<void> resource) override;
  Status drain() override;
  // Recordings are CUDA graphs.
  std::shared_ptr<void> record(const std::vector<Part>& parts) override;
  Status replay(const std::shared_ptr<void>& recording) override;

  // For kernels, which enqueue on stream() after enter().
  Status enter() const;
  Gpu& gpu() const { return gpu_; }
  CUstream stream() const { return stream_; }
  // What kernels of this GPU reported since somebody asked; ok where none could.
  Status take_device_error() const { return faults_ ? faults_->take() : Status(); }

 private:
  struct Kept {
    CUevent done;
    std::shared_ptr<void> resource;
  };
  void release_kept();
  Status capture(const std::vector<Part>& parts);
  Status make_branches();

  Gpu& gpu_;
  Faults* faults_ = nullptr;
  CUstream stream_ = nullptr;
  Status create_status_;
  std::deque<Kept> kept_;
  std::vector<CUevent> spare_events_;
  // Streams for the parts of a recording that run at the same time; the first is stream_ itself.
  std::vector<CUstream> branches_;
};

}  // namespace anynpu::device::cuda
