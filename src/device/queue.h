// SPDX-License-Identifier: Apache-2.0
// What a stream needs from a back end: an ordered queue of work on device memory. The stream
// (stream.h) keeps the program's tasks, their order, events, callbacks and failures; a task that
// comes to its turn gives its work to the queue. A task that leaves work behind is finished when
// the queue is idle again, and the stream parks until then. The CPU's queue works in the calling
// thread; that of a GPU enqueues. Calls come from one thread at a time.
#pragma once

#include <functional>
#include <span>

#include "device/device_memory.h"
#include "device/host_view.h"

namespace anynpu::device {

class Queue {
 public:
  virtual ~Queue() = default;

  // Required. Work is done in the order of the calls. A call may return before its work is done,
  // unless the device has Capabilities::finishes_calls. Ranges stay allocated until then.
  virtual Status copy(const CopyRows& rows) = 0;
  virtual Status fill(void* address, int value, size_t bytes) = 0;

  // Required. True when all work is done. when_idle() calls `done` once, from any thread, when what
  // was given so far is done, with its first failure that was not told before.
  virtual bool idle() const = 0;
  virtual void when_idle(std::function<void(Status)> done) = 0;

  // Optional: runs a plan, whose kernels are of the list Capabilities::kernels. `arguments` are the
  // buffers that the program passed; while `plan` runs, their addresses are what the kernels take.
  // A back end whose kernels are enqueued leaves the addresses alone and returns early.
  virtual Status launch(std::span<HostRange> arguments, const HostWork& plan) {
    return with_host_view(arguments, plan);
  }
};

}  // namespace anynpu::device
