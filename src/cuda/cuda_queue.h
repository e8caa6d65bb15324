// SPDX-License-Identifier: Apache-2.0
// The queue behind one stream of a program: a CUDA stream. Calls return when the work is
// enqueued; only drain() waits for it.
#pragma once

#include <deque>
#include <vector>

#include "cuda/faults.h"
#include "cuda/gpu.h"
#include "device/queue.h"

namespace anynpu::device::cuda {

class CudaQueue final : public Queue {
 public:
  // There are 8 priorities; 0 is the highest. If the CUDA stream cannot be created, every call
  // fails.
  CudaQueue(Gpu& gpu, uint32_t priority);
  ~CudaQueue() override;

  Status copy(const CopyRows& rows) override;
  Status fill(void* address, int value, size_t bytes) override;
  bool idle() const override;
  void when_idle(std::function<void(Status)> done) override;
  void keep(std::shared_ptr<void> resource) override;
  Status drain() override;
  // Captures `parts` into a CUDA graph; replay() launches it.
  std::shared_ptr<void> record(const std::vector<Part>& parts) override;
  Status replay(const std::shared_ptr<void>& recording) override;

  // For kernels: call enter(), then launch on stream().
  Status enter() const;
  Gpu& gpu() const { return gpu_; }
  CUstream stream() const { return stream_; }
  // Returns and clears the device-side error that a kernel of this GPU reported; ok if there is
  // none.
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
  // Streams for the parallel branches of a captured graph; the first is stream_ itself.
  std::vector<CUstream> branches_;
};

}  // namespace anynpu::device::cuda
