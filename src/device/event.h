// SPDX-License-Identifier: Apache-2.0
// An event marks a point in a stream. record() appends a mark; other streams and host threads wait
// for the mark that was the last one when they started to wait. Several streams may wait for one
// event. Each mark stores the time at which it was passed. On a stream with a recorder (recorder.h)
// marks and waits are recorded; an event last recorded there can be used only inside that capture.
// An interprocess event has its marks in shared memory. All calls are thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "base/clock.h"
#include "base/handle_table.h"
#include "base/result.h"
#include "device/recorder.h"
#include "device/shared_marks.h"
#include "device/task.h"

namespace anynpu::device {

class Context;
class Queue;
class QueueMark;
class Stream;

enum class EventState : uint8_t { unrecorded, recorded, complete };

class Event : public std::enable_shared_from_this<Event> {
 public:
  // The function that created it decides what it may be used for. An extended event that was never
  // recorded is complete; it cannot be reset.
  enum class Maker : uint8_t { plain, flagged, extended };

  Event(std::weak_ptr<Context> context, uint32_t flags, Maker maker = Maker::plain);
  // An interprocess event.
  Event(std::weak_ptr<Context> context, uint32_t flags, std::shared_ptr<SharedMarks> marks);

  // Appends a mark to `stream`. The first call fixes the use for all records of this event.
  Status record(Stream& stream, EventUse use = EventUse::inside);
  // Makes `stream` wait for the last mark. Fails with event_not_recorded when there is none since
  // creation or reset: the guide requires a record first, and such a wait could never end. A wait
  // that takes longer than `limit_ms` (0: forever), counted from when the stream reaches it, fails
  // its task. The first call fixes the use for all waits for this event.
  Status wait_in(Stream& stream, uint64_t limit_ms = 0, EventUse use = EventUse::inside);
  // Appends a task to `stream` that forgets the marks recorded so far.
  Status reset(Stream& stream);

  // Blocks the host until the last mark is passed, running its stream's tasks if possible.
  Status synchronize(const Deadline& deadline);

  EventState state() const;
  // The state that a program queries: fails for an event that was captured.
  Result<EventState> query() const;
  // True when no stream is waiting for a mark of this event.
  bool all_waits_done() const;
  // CLOCK_MONOTONIC nanoseconds at which the last mark was passed.
  Result<uint64_t> timestamp_ns() const;

  // Whether `queue` can wait for the mark on its device: it is a point in the device's work.
  bool is_ready_for(const Queue& queue, uint64_t mark) const;

  // For recorded work: creates a mark that the caller will pass or drop (time 0); the last mark, 0
  // for none; a task that parks until a mark is passed or, as a flag, until any mark that was not
  // reset is; and resetting all marks.
  uint64_t announce();
  uint64_t last_mark() const;
  void pass(uint64_t mark, uint64_t time_ns);
  // With `queue` the wait may be left to the device.
  Outcome await(uint64_t mark, uint64_t limit_ms, TaskRun& run, Queue* queue = nullptr);
  Outcome await_flag(TaskRun& run);
  void forget_marks();
  // From now on its last record belongs to `recorder`.
  void set_captured(const std::shared_ptr<TaskRecorder>& recorder);
  std::shared_ptr<TaskRecorder> captured_in() const;

  uint32_t id() const { return id_; }
  uint32_t flags() const { return flags_; }
  Maker maker() const { return maker_; }
  const std::shared_ptr<SharedMarks>& shared() const { return shared_; }
  std::shared_ptr<Context> context() const { return context_.lock(); }
  // The program's handle.
  std::atomic<Handle> handle{0};

 private:
  struct Mark;
  struct SharedWait;
  struct Waiter {
    uint64_t mark;
    uint64_t ticket;
    Completion completion;
    Queue* queue;  // may wait on the device; null: the host waits
  };
  struct Outstanding {
    uint64_t mark;
    std::shared_ptr<QueueMark> point;  // once the record was submitted to a device
    bool waited = false;               // a stream waits for the point
  };
  static constexpr uint64_t kAnyMark = UINT64_MAX;
  Outstanding* find_outstanding(uint64_t mark);
  const Outstanding* find_outstanding(uint64_t mark) const {
    return const_cast<Event*>(this)->find_outstanding(mark);
  }
  bool is_outstanding(uint64_t mark) const;
  void submitted(uint64_t mark, const std::shared_ptr<QueueMark>& point);
  bool flag_is_set() const;
  Status check_not_captured(const char* what) const;
  Status fix_use(std::atomic<uint8_t>& fixed, EventUse use, const char* what);
  void give_up(uint64_t ticket, uint64_t limit_ms);
  Outcome park(uint64_t mark, uint64_t limit_ms, TaskRun& run, Queue* queue = nullptr);
  Status wait_shared(Stream& stream, uint64_t limit_ms);

  const std::weak_ptr<Context> context_;
  const uint32_t flags_;
  const Maker maker_;
  const std::shared_ptr<SharedMarks> shared_;  // null: of this process
  const uint32_t id_;
  std::atomic<uint8_t> record_use_{0};
  std::atomic<uint8_t> wait_use_{0};
  mutable std::mutex mutex_;
  std::atomic<bool> captured_{false};        // the last record was inside a capture ...
  std::weak_ptr<TaskRecorder> captured_in_;  // ... in this one, which may be gone
  uint64_t recorded_ = 0;                    // marks so far
  uint64_t forgotten_ = 0;                   // marks up to this one were reset
  std::vector<Outstanding> outstanding_;     // marks not passed yet
  uint64_t stamp_ns_ = 0;                    // of mark `stamped_`
  uint64_t stamped_ = 0;
  std::weak_ptr<Stream> last_stream_;
  uint64_t last_sequence_ = 0;
  uint64_t next_ticket_ = 0;
  std::vector<Waiter> waiters_;
};

// Milliseconds between the marks of two events.
Result<float> elapsed_ms(const Event& start, const Event& end);

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::Event, event);
}
