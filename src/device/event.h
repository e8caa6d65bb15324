// SPDX-License-Identifier: Apache-2.0
// An event marks a point in a stream. record() appends the mark; other streams and host threads
// wait for the mark that was recorded last when they asked. Several streams may wait for one event.
// Each mark stamps the time it was passed. All calls are thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/handle_table.h"
#include "base/result.h"
#include "device/task.h"

namespace anynpu::device {

class Context;
class Stream;

enum class EventState : uint8_t { unrecorded, recorded, complete };

class Event : public std::enable_shared_from_this<Event> {
 public:
  Event(std::weak_ptr<Context> context, uint32_t flags);

  // Appends a mark to `stream`.
  Status record(Stream& stream);
  // Makes `stream` wait for the last mark. Fails with event_not_recorded when there is none since
  // creation or reset: the guide asks for record first, and such a wait could never end.
  // A wait that takes longer than `limit_ms` (0: for ever), counted from when the stream comes to
  // it, fails its task.
  Status wait_in(Stream& stream, uint64_t limit_ms = 0);
  // Appends a task to `stream` that forgets the marks recorded so far.
  Status reset(Stream& stream);

  // Blocks the host until the last mark is passed, running its stream's tasks where possible.
  Status synchronize(const Deadline& deadline);

  EventState state() const;
  // True when no stream is waiting for a mark of this event.
  bool all_waits_done() const;
  // CLOCK_MONOTONIC nanoseconds at which the last mark was passed.
  Result<uint64_t> timestamp_ns() const;

  uint32_t id() const { return id_; }
  uint32_t flags() const { return flags_; }
  std::shared_ptr<Context> context() const { return context_.lock(); }

 private:
  struct Mark;
  struct Waiter {
    uint64_t mark;
    Completion completion;
  };
  void pass(uint64_t mark, uint64_t time_ns);  // 0: the mark was dropped, not passed
  bool is_outstanding(uint64_t mark) const;

  const std::weak_ptr<Context> context_;
  const uint32_t flags_;
  const uint32_t id_;
  mutable std::mutex mutex_;
  uint64_t recorded_ = 0;              // marks so far
  uint64_t forgotten_ = 0;             // marks up to this one were reset
  std::vector<uint64_t> outstanding_;  // marks not passed yet
  uint64_t stamp_ns_ = 0;              // of mark `stamped_`
  uint64_t stamped_ = 0;
  std::weak_ptr<Stream> last_stream_;
  uint64_t last_sequence_ = 0;
  std::vector<Waiter> waiters_;
};

// Milliseconds between the marks of two events.
Result<float> elapsed_ms(const Event& start, const Event& end);

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::Event, event);
}
