// SPDX-License-Identifier: Apache-2.0
// What a stream needs from a back end: an ordered queue of work on device memory. The stream
// (stream.h) keeps the program's tasks, their order, events, callbacks and failures; a task that
// comes to its turn gives its work to the queue. A task that leaves work behind is finished when
// the queue is idle again, and the stream parks until then. The CPU's queue works in the calling
// thread; that of a GPU enqueues. Kernels of a back end (ops/enqueued_plan.h) are given its own
// queue and enqueue there. Calls come from one thread at a time.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/device_memory.h"

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

  // Required of back ends with kernels of their own: lets go of `resource` when the work given so
  // far is done, and tells nobody. Work memory of plans is held this way. Without it, resources
  // stay until drain() or the end of the queue.
  virtual void keep(std::shared_ptr<void> resource) { kept_.push_back(std::move(resource)); }

  // Optional: waits until all work given so far is done; returns its first failure that was not
  // told before. Blocks the calling thread: for work of the host in the middle of a plan, and for
  // calls without a stream. Unless a back end knows better, when_idle() ends the wait, which must
  // then not need a thread of the pool.
  virtual Status drain();

  // Optional: what `work` gives this queue, recorded as one piece instead of being done; null where
  // a back end cannot. replay() gives a queue of the same device the whole piece again. A recording
  // stays until its replays are done.
  virtual std::shared_ptr<void> record(const HostWork& work) { return nullptr; }
  virtual Status replay(const std::shared_ptr<void>& recording) {
    return fail(Code::internal, "a queue that records nothing was asked for a replay");
  }

 private:
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace anynpu::device
