// SPDX-License-Identifier: Apache-2.0
// What a stream needs from a back end: an ordered queue of work on device memory. The stream
// (stream.h) keeps the program's tasks, their order, events, callbacks and failures; when a task
// runs, it submits its work to the queue. If work is left then, the task is finished when the queue
// is idle again, and the stream parks until then. The CPU's queue works in the calling thread; a
// GPU's enqueues. Kernels of a back end (ops/enqueued_plan.h) get its own queue and enqueue there.
// Calls come from one thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "device/device_memory.h"
#include "trace/trace.h"

namespace anynpu::device {

// A point in the work of a queue, see Queue::mark(). Thread-safe.
class QueueMark {
 public:
  virtual ~QueueMark() = default;
  virtual bool passed() const = 0;
  // When the device passed it, as now_ns(); 0 while it has not.
  virtual uint64_t time_ns() const = 0;
};

// A slice of the trace that a device times, see Queue::begin_work().
struct TimedWork {
  trace::Category category = trace::Category::op;
  trace::NameId name = 0;
  uint64_t arg = 0;
  uint32_t correlation = 0;
  uint64_t submitted = 0;     // ticks; 0 for an operator, which is part of the task around it
  bool on_host = false;       // the host does it: its times count
  trace::Detail detail = {};  // of a task
};

class Queue {
 public:
  virtual ~Queue() = default;

  // Required. Work is done in the order of the calls. A call may return before its work is done,
  // unless the device has Capabilities::finishes_calls. Ranges stay allocated until it is done.
  virtual Status copy(const CopyRows& rows) = 0;
  virtual Status fill(void* address, int value, size_t bytes) = 0;

  // Required. True when all work is done. when_idle() calls `done` once, from any thread, when the
  // work submitted so far is done, with the first failure that was not reported before.
  virtual bool idle() const = 0;
  virtual void when_idle(std::function<void(Status)> done) = 0;

  // Required of back ends with their own kernels: releases `resource` when the work submitted so
  // far is done. Work memory of plans is held this way. The default keeps resources until drain()
  // or the end of the queue.
  virtual void keep(std::shared_ptr<void> resource) { kept_.push_back(std::move(resource)); }

  // Optional: waits until all work submitted so far is done; returns the first failure that was not
  // reported before. Blocks the calling thread: for host steps in the middle of a plan, and for
  // calls without a stream. By default it waits for when_idle(), which then must not need a thread
  // of the pool.
  virtual Status drain();

  // Optional: records what the parts submit to this queue, instead of doing it; null if the back
  // end cannot. A part runs after those it names, all of them earlier in the list, and in parallel
  // to the others. replay() submits the whole recording to a queue of the same device. A recording
  // lives until its replays are done.
  // While the calling thread records, its calls of all queues of the device are recorded.
  struct Part {
    std::function<Status()> work;
    std::vector<uint32_t> after;
  };
  virtual std::shared_ptr<void> record(const std::vector<Part>& parts) { return nullptr; }
  virtual Status replay(const std::shared_ptr<void>& recording) {
    return fail(Code::internal, "a queue that records nothing was asked for a replay");
  }
  // Whether record() is running in this thread: work must not depend on the host.
  virtual bool recording() const { return false; }

  // Optional: a mark behind the work submitted so far, for which other queues wait on the device
  // (wait(), only where can_wait() holds). Null if the back end has none.
  virtual bool has_marks() const { return false; }
  virtual std::shared_ptr<QueueMark> mark() { return nullptr; }
  virtual bool can_wait(const QueueMark& mark) const { return false; }
  virtual Status wait(const std::shared_ptr<QueueMark>& mark) {
    return fail(Code::internal, "a queue without marks was asked to wait for one");
  }

  // Optional: the work submitted between the two calls, which nest, becomes a slice of the trace
  // with the times at which the device did it. False: the caller records its own times.
  virtual bool begin_work(const TimedWork& work) { return false; }
  virtual void end_work() {}

 private:
  std::vector<std::shared_ptr<void>> kept_;
};

}  // namespace anynpu::device
