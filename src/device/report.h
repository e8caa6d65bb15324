// SPDX-License-Identifier: Apache-2.0
// Callbacks of streams. A stream is subscribed to one thread of the program; callbacks launched on
// it run inside that thread's process() calls, in the stream's order. A blocking callback holds its
// stream until it returns. One thread may serve many streams. Thread-safe; no lock is held while a
// callback runs.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/status.h"
#include "device/stream.h"
#include "device/task.h"

namespace anynpu::device {

class ReportQueues {
 public:
  static constexpr size_t kMostThreads = 1024;

  static ReportQueues& instance();
  // For host functions: the same rules, separate subscriptions.
  static ReportQueues& host_functions();
  bool serves(const Stream& stream);

  // `thread` is what pthread_self() gives in the thread that will call process().
  Status subscribe(uint64_t thread, const std::shared_ptr<Stream>& stream);
  Status unsubscribe(uint64_t thread, const Stream& stream);
  // Removes a destroyed stream; callbacks that did not run are dropped.
  void forget(const Stream& stream);

  enum class Block { no, yes };
  Status launch(std::function<void()> callback, Block block, Stream& stream);

  // Runs the callbacks that are due for the calling thread; waits for the first one until the
  // deadline, then fails with callback_timeout. A thread that nothing is subscribed to yet waits
  // too, since programs start it first; it fails with thread_not_subscribed at the deadline.
  Status process(const Deadline& deadline);
  // Whether the calling thread is inside a callback. Later callbacks of this thread, and stream
  // work after them, cannot run before it returns, so the thread must not wait for them.
  static bool in_callback();

 private:
  struct Report {
    std::shared_ptr<std::function<void()>> callback;
    std::shared_ptr<Completion> completion;  // set for blocking ones
    const Stream* stream;
  };
  struct Queue {
    std::condition_variable arrived;
    std::deque<Report> reports;
    int streams = 0;
    int processing = 0;
    std::shared_ptr<Device> device;  // of its streams
  };
  Queue& queue_of(uint64_t thread);
  void drop_if_unused(uint64_t thread);
  // The queue of a stream; null when it is not subscribed.
  std::shared_ptr<Queue> subscribed(const Stream& stream);

  std::mutex mutex_;
  std::map<uint64_t, std::shared_ptr<Queue>> queues_;
  std::map<const Stream*, uint64_t> threads_;  // which thread serves a stream
};

}  // namespace anynpu::device
