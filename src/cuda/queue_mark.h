// SPDX-License-Identifier: Apache-2.0
// Points in the work of a GPU: CUDA events whose times are those of the steady clock. Thread-safe.
#pragma once

#include <atomic>
#include <memory>

#include "cuda/gpu.h"
#include "device/queue.h"

namespace anynpu::device::cuda {

// A CUDA event that was recorded together with the time of the host.
struct ClockEvent {
  CUevent event = nullptr;
  uint64_t host_ns = 0;
};

class CudaMark final : public QueueMark {
 public:
  CudaMark(const Gpu& gpu, CUevent event, ClockEvent clock)
      : gpu_(gpu), event_(event), clock_(clock) {}
  ~CudaMark() override;

  // A GPU that failed has passed it.
  bool passed() const override;
  uint64_t time_ns() const override;
  CUevent event() const { return event_; }

 private:
  const Gpu& gpu_;
  const CUevent event_;
  const ClockEvent clock_;
  mutable std::atomic<uint64_t> time_ns_{0};
};

// A mark behind the work in `stream`; null on failure. The GPU's context is current.
std::shared_ptr<CudaMark> record_mark(const Gpu& gpu, CUstream stream);

}  // namespace anynpu::device::cuda
