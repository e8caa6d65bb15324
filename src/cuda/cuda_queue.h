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
  // Captures `parts` into a CUDA graph; replay() launches it. Meanwhile every queue of this GPU
  // that the calling thread uses is captured.
  std::shared_ptr<void> record(const std::vector<Part>& parts) override;
  Status replay(const std::shared_ptr<void>& recording) override;
  bool recording() const override;

  // Marks are CUDA events.
  bool has_marks() const override { return true; }
  std::shared_ptr<QueueMark> mark() override;
  bool can_wait(const QueueMark& mark) const override;
  Status wait(const std::shared_ptr<QueueMark>& mark) override;

  bool begin_work(const TimedWork& work) override;
  void end_work() override;

  // For kernels: call enter(), then launch on stream().
  Status enter() const;
  Gpu& gpu() const { return gpu_; }
  CUstream stream() const;
  // Returns and clears the device-side error that a kernel of this GPU reported; ok if there is
  // none.
  Status take_device_error() const { return faults_ ? faults_->take() : Status(); }

 private:
  struct Kept {
    CUevent done;
    std::shared_ptr<void> resource;
  };
  struct Capture;
  void release_kept();
  Status capture(const std::vector<Part>& parts, Capture& current);
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
