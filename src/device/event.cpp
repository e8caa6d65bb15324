// SPDX-License-Identifier: Apache-2.0
#include "device/event.h"

#include <algorithm>
#include <atomic>

#include "base/text.h"
#include "base/thread_pool.h"
#include "device/stream.h"

namespace anynpu::device {

namespace {

constinit TaskKind kRecordEvent{"record_event", Engine::control};
constinit TaskKind kWaitEvent{"wait_event", Engine::control};
constinit TaskKind kResetEvent{"reset_event", Engine::control};

std::atomic<uint32_t> next_event_id{0};

}  // namespace

// The task that passes a mark. Destroyed without having run (abort), it lets go of the waiters.
struct Event::Mark {
  Mark(std::shared_ptr<Event> event, uint64_t mark) : event(std::move(event)), mark(mark) {}
  Mark(Mark&&) noexcept = default;
  ~Mark() {
    if (event) event->pass(mark, 0);
  }
  Status operator()() {
    std::exchange(event, nullptr)->pass(mark, now_ns());
    return {};
  }
  std::shared_ptr<Event> event;
  uint64_t mark;
};

Event::Event(std::weak_ptr<Context> context, uint32_t flags)
    : context_(std::move(context)),
      flags_(flags),
      id_(next_event_id.fetch_add(1, std::memory_order_relaxed)) {}

bool Event::is_outstanding(uint64_t mark) const { return contains(outstanding_, mark); }

Status Event::record(Stream& stream) {
  uint64_t mark;
  {
    std::lock_guard lock(mutex_);
    mark = ++recorded_;
    outstanding_.push_back(mark);
  }
  // A refused task is destroyed at once, which passes the mark: nobody is left waiting for it.
  ANYNPU_TRY(stream.submit(kRecordEvent, Mark(shared_from_this(), mark)));
  std::lock_guard lock(mutex_);
  if (mark == recorded_) {
    last_stream_ = stream.weak_from_this();
    last_sequence_ = stream.submitted();
  }
  return {};
}

void Event::pass(uint64_t mark, uint64_t time_ns) {
  std::vector<Completion> ready;
  {
    std::lock_guard lock(mutex_);
    std::erase(outstanding_, mark);
    if (time_ns && mark > stamped_) {
      stamped_ = mark;
      stamp_ns_ = time_ns;
    }
    std::erase_if(waiters_, [&](Waiter& waiter) {
      if (waiter.mark != mark) return false;
      ready.push_back(std::move(waiter.completion));
      return true;
    });
  }
  for (Completion& completion : ready) completion.finish({});
}

Status Event::wait_in(Stream& stream, uint64_t limit_ms) {
  uint64_t mark;
  {
    std::lock_guard lock(mutex_);
    mark = recorded_;
    if (mark <= forgotten_) {
      return fail(
          Code::event_not_recorded,
          "event {} was not recorded{}; call record_event on it before a stream waits for it", id_,
          forgotten_ ? " since it was reset" : "");
    }
  }
  return stream.submit(kWaitEvent, [self = shared_from_this(), mark, limit_ms](TaskRun& run) {
    std::unique_lock lock(self->mutex_);
    if (!self->is_outstanding(mark)) return run.done({});
    self->waiters_.push_back({mark, run.defer()});
    if (limit_ms) {
      ThreadPool::instance().submit_after(
          limit_ms * 1'000'000,
          [stream = run.stream().shared_from_this(), sequence = run.sequence(), id = self->id_] {
            stream->finish_pending(sequence, fail(Code::timeout,
                                                  "the wait for event {} took longer than the time "
                                                  "set by set_op_wait_timeout",
                                                  id));
          });
    }
    return Outcome::pending;
  });
}

Status Event::reset(Stream& stream) {
  uint64_t mark;
  {
    std::lock_guard lock(mutex_);
    mark = recorded_;
  }
  return stream.submit(kResetEvent, [self = shared_from_this(), mark] {
    std::lock_guard lock(self->mutex_);
    self->forgotten_ = std::max(self->forgotten_, mark);
    return Status();
  });
}

Status Event::synchronize(const Deadline& deadline) {
  std::shared_ptr<Stream> stream;
  uint64_t sequence;
  {
    std::lock_guard lock(mutex_);
    if (recorded_ <= forgotten_) {
      return fail(Code::event_not_recorded,
                  "event {} was not recorded; call record_event before you wait for it", id_);
    }
    if (!is_outstanding(recorded_)) return {};
    stream = last_stream_.lock();
    sequence = last_sequence_;
  }
  if (!stream) return {};  // gone with its work
  return stream->wait_for(sequence, deadline).with_note(format("while waiting for event {}", id_));
}

EventState Event::state() const {
  std::lock_guard lock(mutex_);
  if (recorded_ <= forgotten_) return EventState::unrecorded;
  return is_outstanding(recorded_) ? EventState::recorded : EventState::complete;
}

bool Event::all_waits_done() const {
  std::lock_guard lock(mutex_);
  return waiters_.empty();
}

Result<uint64_t> Event::timestamp_ns() const {
  std::lock_guard lock(mutex_);
  if (recorded_ <= forgotten_) {
    return fail(Code::event_not_recorded, "event {} was not recorded; it has no time stamp", id_);
  }
  if (stamped_ != recorded_) {
    return fail(
        Code::not_complete,
        "event {} is recorded but not passed yet; synchronise its stream or the event first", id_);
  }
  return stamp_ns_;
}

Result<float> elapsed_ms(const Event& start, const Event& end) {
  ANYNPU_ASSIGN(const uint64_t from, start.timestamp_ns());
  ANYNPU_ASSIGN(const uint64_t to, end.timestamp_ns());
  return static_cast<float>((static_cast<double>(to) - static_cast<double>(from)) * 1e-6);
}

}  // namespace anynpu::device
