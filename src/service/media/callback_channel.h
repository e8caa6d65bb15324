// SPDX-License-Identifier: Apache-2.0
// A video channel of V1: its own stream, whose callbacks run in a thread of the program. Work is
// queued in order; its result is passed to the program's callback inside that thread's
// process_report, before the next work starts. Thread-safe.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include "base/handle_table.h"
#include "device/stream.h"

namespace anynpu::media {

class CallbackChannel : public std::enable_shared_from_this<CallbackChannel> {
 public:
  // Makes the stream in the current context and subscribes `thread` to it.
  static Result<std::shared_ptr<CallbackChannel>> open(uint64_t thread);

  // Runs `work` on the stream; what it passes to call() runs afterwards in the thread.
  Status submit(device::TaskKind& kind, uint64_t bytes, std::function<void()> work);
  // Called by `work`: runs a callback of the program after it.
  void call(std::function<void()> callback);

  // Waits until all work and its callbacks are done; gives up if the thread processes none for
  // long. In that thread itself it does not wait: its callbacks run after the call.
  Status wait();

  // Refused inside a callback of its own thread, where its callbacks cannot run.
  Status may_close() const;
  // Waits for all work and callbacks, then ends stream and subscription.
  Status close();

 private:
  void run_callbacks();
  bool is_own_thread() const;
  Status wait_for_callbacks();

  uint64_t thread_ = 0;
  Handle handle_ = 0;
  std::shared_ptr<device::Stream> stream_;
  std::mutex mutex_;
  std::deque<std::function<void()>> ready_;
  std::atomic<bool> closed_{false};
};

}  // namespace anynpu::media
