// SPDX-License-Identifier: Apache-2.0
// The CPU's queue: the thread that runs the stream's task does the work, so the queue is always
// idle. It has no state; all streams share one.
#pragma once

#include "device/host_view.h"
#include "device/queue.h"

namespace anynpu::device {

class CpuQueue final : public Queue {
 public:
  Status copy(const CopyRows& rows) override { return copy_rows(rows); }
  Status fill(void* address, int value, size_t bytes) override {
    return fill_bytes(address, value, bytes);
  }
  bool idle() const override { return true; }
  void when_idle(std::function<void(Status)> done) override { done({}); }
  void keep(std::shared_ptr<void>) override {}
};

// For devices without their own queues.
const std::shared_ptr<Queue>& shared_cpu_queue();

}  // namespace anynpu::device
