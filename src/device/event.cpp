// SPDX-License-Identifier: Apache-2.0
#include "device/event.h"

#include <algorithm>
#include <atomic>

#include "base/interrupt.h"
#include "base/text.h"
#include "base/thread_pool.h"
#include "device/queue.h"
#include "device/stream.h"

namespace anynpu::device {

namespace {

constinit TaskKind kRecordEvent{"record_event", Engine::control};
constinit TaskKind kWaitEvent{"wait_event", Engine::control};
// On devices that mark points in their work, and wait for them.
constinit TaskKind kMarkEvent = TaskKind::queued("record_event", Engine::control);
constinit TaskKind kWaitMark = TaskKind::queued("wait_event", Engine::control);
constinit TaskKind kResetEvent{"reset_event", Engine::control};

constexpr uint64_t kFirstLookNs = 20'000;
constexpr uint64_t kSlowestLookNs = 2'000'000;

std::atomic<uint32_t> next_event_id{0};

}  // namespace

// The task that passes a mark. If it is destroyed before it ran (abort), it releases the waiters. A
// task of a device that marks points is destroyed when the device has passed the point.
struct Event::Mark {
  Mark(std::shared_ptr<Event> event, uint64_t mark) : event(std::move(event)), mark(mark) {}
  Mark(Mark&&) noexcept = default;
  ~Mark() {
    if (event) event->pass(mark, point ? point->time_ns() : 0);
  }
  Outcome operator()(TaskRun& run) {
    point = run.stream().queue().mark();
    if (point) {
      event->submitted(mark, point);
    } else {
      std::exchange(event, nullptr)->pass(mark, now_ns());
    }
    return run.done({});
  }
  std::shared_ptr<Event> event;
  uint64_t mark;
  std::shared_ptr<QueueMark> point;
};

Event::Event(std::weak_ptr<Context> context, uint32_t flags, Maker maker)
    : context_(std::move(context)),
      flags_(flags),
      maker_(maker),
      id_(next_event_id.fetch_add(1, std::memory_order_relaxed)) {}

Event::Event(std::weak_ptr<Context> context, uint32_t flags, std::shared_ptr<SharedMarks> marks)
    : context_(std::move(context)),
      flags_(flags),
      maker_(Maker::extended),
      shared_(std::move(marks)),
      id_(next_event_id.fetch_add(1, std::memory_order_relaxed)) {}

Event::Outstanding* Event::find_outstanding(uint64_t mark) {
  const auto found = std::find_if(outstanding_.begin(), outstanding_.end(),
                                  [&](const Outstanding& one) { return one.mark == mark; });
  return found == outstanding_.end() ? nullptr : &*found;
}

bool Event::is_outstanding(uint64_t mark) const {
  const Outstanding* const found = find_outstanding(mark);
  return found && !(found->point && found->point->passed());
}

bool Event::is_ready_for(const Queue& queue, uint64_t mark) const {
  std::lock_guard lock(mutex_);
  const Outstanding* const found = find_outstanding(mark);
  return found ? found->point && queue.can_wait(*found->point) : queue.has_marks();
}

// The device knows the mark: streams that wait for its record go on, and wait on the device.
void Event::submitted(uint64_t mark, const std::shared_ptr<QueueMark>& point) {
  std::vector<std::pair<Completion, Status>> ready;
  {
    std::lock_guard lock(mutex_);
    Outstanding* const found = find_outstanding(mark);
    if (!found) return;
    found->point = point;
    std::erase_if(waiters_, [&](Waiter& waiter) {
      if (waiter.mark != mark || !waiter.queue || !waiter.queue->can_wait(*point)) return false;
      found->waited = true;
      ready.emplace_back(std::move(waiter.completion), waiter.queue->wait(point));
      return true;
    });
  }
  for (auto& [completion, status] : ready) completion.finish(std::move(status));
}

bool Event::flag_is_set() const { return recorded_ > forgotten_ && !is_outstanding(recorded_); }

Status Event::fix_use(std::atomic<uint8_t>& fixed, EventUse use, const char* what) {
  const auto wanted = static_cast<uint8_t>(static_cast<uint8_t>(use) + 1);
  uint8_t first = fixed.load(std::memory_order_relaxed);
  if (first == wanted) [[likely]]
    return {};
  if (first == 0 && fixed.compare_exchange_strong(first, wanted, std::memory_order_relaxed))
    return {};
  if (first == wanted) return {};
  return fail(Code::invalid_argument,
              "the flag of a {} of event {} is {}, that of its first one was {}; an event keeps it",
              what, id_, wanted - 1, first - 1);
}

Status Event::check_not_captured(const char* what) const {
  if (!captured_.load(std::memory_order_acquire)) [[likely]]
    return {};
  const auto recorder = captured_in();
  if (recorder && recorder->open()) ANYNPU_TRY(recorder->asked(format("event {}", id_)));
  return fail(Code::event_captured,
              "{}: event {} was recorded inside a capture; record it on a stream that is not "
              "captured first",
              what, id_);
}

void Event::set_captured(const std::shared_ptr<TaskRecorder>& recorder) {
  std::lock_guard lock(mutex_);
  captured_ = recorder != nullptr;
  captured_in_ = recorder;
}

std::shared_ptr<TaskRecorder> Event::captured_in() const {
  if (!captured_.load(std::memory_order_acquire)) [[likely]]
    return nullptr;
  std::lock_guard lock(mutex_);
  return captured_in_.lock();
}

uint64_t Event::announce() {
  if (shared_) return shared_->add();
  std::lock_guard lock(mutex_);
  captured_ = false;
  last_stream_.reset();
  outstanding_.push_back({++recorded_, nullptr});
  return recorded_;
}

uint64_t Event::last_mark() const {
  if (shared_) return shared_->last();
  std::lock_guard lock(mutex_);
  return recorded_ > forgotten_ ? recorded_ : 0;
}

Status Event::record(Stream& stream, EventUse use) {
  ANYNPU_TRY(fix_use(record_use_, use, "record"));
  if (const auto recorder = stream.recorder()) return recorder->record(stream, *this, use);
  if (use == EventUse::outside) {
    return fail(Code::invalid_argument,
                "event {} is recorded with the flag EXTERNAL (1) on stream {}, which is not being "
                "captured; use the flag DEFAULT (0) there",
                id_, stream.id());
  }
  if (const auto recorder = captured_in(); recorder && recorder->open()) {
    return fail(Code::event_captured,
                "event {} belongs to a capture that is open, and stream {} does not; end the "
                "capture first, or use another event",
                id_, stream.id());
  }
  const uint64_t mark = announce();
  // A refused task is destroyed at once, which passes the mark: nothing waits for it any more.
  // Marks of other processes are passed by the host.
  TaskKind& kind = !shared_ && stream.queue().has_marks() ? kMarkEvent : kRecordEvent;
  ANYNPU_TRY(stream.submit(kind, Mark(shared_from_this(), mark)));
  std::lock_guard lock(mutex_);
  if (shared_ || mark == recorded_) {
    last_stream_ = stream.weak_from_this();
    last_sequence_ = stream.submitted();
  }
  return {};
}

void Event::pass(uint64_t mark, uint64_t time_ns) {
  if (shared_) return shared_->pass(mark);
  std::vector<Completion> ready;
  {
    std::lock_guard lock(mutex_);
    std::erase_if(outstanding_, [&](const Outstanding& one) { return one.mark == mark; });
    if (time_ns && mark > stamped_) {
      stamped_ = mark;
      stamp_ns_ = time_ns;
    }
    std::erase_if(waiters_, [&](Waiter& waiter) {
      if (waiter.mark != mark && !(waiter.mark == kAnyMark && flag_is_set())) return false;
      ready.push_back(std::move(waiter.completion));
      return true;
    });
  }
  for (Completion& completion : ready) completion.finish({});
}

void Event::give_up(uint64_t ticket, uint64_t limit_ms) {
  Completion late;
  {
    std::lock_guard lock(mutex_);
    const auto waiter = std::find_if(waiters_.begin(), waiters_.end(),
                                     [&](const Waiter& w) { return w.ticket == ticket; });
    if (waiter == waiters_.end()) return;
    late = std::move(waiter->completion);
    waiters_.erase(waiter);
  }
  late.finish(fail(Code::timeout,
                   "the wait for event {} took longer than {} ms, the time set by "
                   "set_op_wait_timeout or the call",
                   id_, limit_ms));
}

// The lock is held.
Outcome Event::park(uint64_t mark, uint64_t limit_ms, TaskRun& run, Queue* queue) {
  const uint64_t ticket = next_ticket_++;
  waiters_.push_back({mark, ticket, run.defer(), queue});
  if (limit_ms) {
    ThreadPool::instance().submit_after(
        limit_ms * 1'000'000,
        [self = shared_from_this(), ticket, limit_ms] { self->give_up(ticket, limit_ms); });
  }
  return Outcome::pending;
}

Outcome Event::await(uint64_t mark, uint64_t limit_ms, TaskRun& run, Queue* queue) {
  std::lock_guard lock(mutex_);
  if (!is_outstanding(mark)) return run.done({});
  Outstanding* const found = find_outstanding(mark);
  if (queue && found->point && queue->can_wait(*found->point)) {
    found->waited = true;
    return run.done(queue->wait(found->point));
  }
  return park(mark, limit_ms, run, queue);
}

Outcome Event::await_flag(TaskRun& run) {
  std::lock_guard lock(mutex_);
  if (flag_is_set()) return run.done({});
  return park(kAnyMark, 0, run);
}

// Another process may pass the mark without a word, so a timer looks.
struct Event::SharedWait : std::enable_shared_from_this<SharedWait> {
  std::shared_ptr<SharedMarks> marks;
  uint64_t mark = 0;
  uint64_t until_ns = UINT64_MAX;
  uint32_t id = 0;
  Completion completion;

  void look_after(uint64_t delay_ns) {
    ThreadPool::instance().submit_after(delay_ns, [self = shared_from_this(), delay_ns] {
      if (!self->completion.wanted()) return;
      if (self->marks->passed(self->mark)) return self->completion.finish({});
      if (now_ns() >= self->until_ns) {
        return self->completion.finish(fail(
            Code::timeout, "the wait for event {} of another process took too long", self->id));
      }
      self->look_after(std::min(2 * delay_ns, kSlowestLookNs));
    });
  }
};

Status Event::wait_shared(Stream& stream, uint64_t limit_ms) {
  auto wait = std::make_shared<SharedWait>();
  wait->marks = shared_;
  wait->mark = shared_->last();
  wait->id = id_;
  return stream.submit(kWaitEvent, [wait = std::move(wait), limit_ms](TaskRun& run) {
    if (wait->marks->passed(wait->mark)) return run.done({});
    wait->until_ns = limit_ms ? now_ns() + limit_ms * 1'000'000 : UINT64_MAX;
    wait->completion = run.defer();
    wait->look_after(kFirstLookNs);
    return Outcome::pending;
  });
}

Status Event::wait_in(Stream& stream, uint64_t limit_ms, EventUse use) {
  ANYNPU_TRY(fix_use(wait_use_, use, "wait"));
  if (const auto recorder = stream.recorder()) return recorder->wait(stream, *this, use);
  if (use == EventUse::outside) {
    return fail(
        Code::invalid_argument,
        "stream {} waits for event {} with the flag EXTERNAL (1) but is not being captured; "
        "use the flag DEFAULT (0) there",
        stream.id(), id_);
  }
  if (shared_) return wait_shared(stream, limit_ms);
  if (const auto recorder = captured_in(); recorder && recorder->open()) {
    return recorder->join(stream, *this);
  }
  ANYNPU_TRY(check_not_captured("a wait"));
  uint64_t mark;
  {
    std::lock_guard lock(mutex_);
    mark = recorded_;
    if (mark <= forgotten_) {
      if (maker_ == Maker::extended) return {};  // it is complete
      return fail(
          Code::event_not_recorded,
          "event {} was not recorded{}; call record_event on it before a stream waits for it", id_,
          forgotten_ ? " since it was reset" : "");
    }
  }
  Queue* const queue = limit_ms == 0 ? &stream.queue() : nullptr;
  // A device waits for a mark that it knows. Else the task waits until it does, or for the host.
  TaskKind& kind = queue && is_ready_for(*queue, mark) ? kWaitMark : kWaitEvent;
  return stream.submit(kind, [self = shared_from_this(), mark, limit_ms, queue](TaskRun& run) {
    return self->await(mark, limit_ms, run, queue);
  });
}

void Event::forget_marks() {
  std::lock_guard lock(mutex_);
  forgotten_ = recorded_;
}

Status Event::reset(Stream& stream) {
  if (const auto recorder = stream.recorder()) return recorder->reset(stream, *this);
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
  ANYNPU_TRY(check_not_captured("a synchronize"));
  std::shared_ptr<Stream> stream;
  uint64_t sequence;
  uint64_t mark;
  {
    std::lock_guard lock(mutex_);
    stream = last_stream_.lock();
    sequence = last_sequence_;
    mark = recorded_;
    if (!shared_) {
      if (recorded_ <= forgotten_) {
        if (maker_ == Maker::extended) return {};
        return fail(Code::event_not_recorded,
                    "event {} was not recorded; call record_event before you wait for it", id_);
      }
      if (!is_outstanding(recorded_)) return {};
    }
  }
  if (stream) {
    ANYNPU_TRY(stream->wait_for(sequence, deadline), "while waiting for event {}", id_);
  }
  if (shared_) mark = shared_->last();
  // A mark of recorded work, or of another process, is passed elsewhere.
  const auto passed = [&] {
    if (shared_) return shared_->passed(mark);
    std::lock_guard lock(mutex_);
    return !is_outstanding(mark);
  };
  std::mutex own;
  std::condition_variable never;
  std::unique_lock lock(own);
  while (!passed()) {
    if (deadline.passed()) {
      return fail(Code::timeout, "event {} was not passed in the time given", id_);
    }
    const Deadline look = Deadline::after_ms(1);
    if (wait_turn(never, lock, look) == WaitEnd::interrupted) {
      return fail(Code::cancelled, "the wait for event {} was interrupted", id_);
    }
  }
  return {};
}

EventState Event::state() const {
  if (shared_) {
    return shared_->passed(shared_->last()) ? EventState::complete : EventState::recorded;
  }
  std::lock_guard lock(mutex_);
  if (recorded_ <= forgotten_) {
    return maker_ == Maker::extended ? EventState::complete : EventState::unrecorded;
  }
  return is_outstanding(recorded_) ? EventState::recorded : EventState::complete;
}

Result<EventState> Event::query() const {
  ANYNPU_TRY(check_not_captured("a query"));
  return state();
}

bool Event::all_waits_done() const {
  std::lock_guard lock(mutex_);
  return waiters_.empty() &&
         std::none_of(outstanding_.begin(), outstanding_.end(),
                      [](const auto& one) { return one.waited && !one.point->passed(); });
}

Result<uint64_t> Event::timestamp_ns() const {
  std::lock_guard lock(mutex_);
  if (recorded_ <= forgotten_) {
    return fail(Code::event_not_recorded, "event {} was not recorded; it has no time stamp", id_);
  }
  if (const Outstanding* const last = find_outstanding(recorded_); last && last->point) {
    if (const uint64_t passed = last->point->time_ns()) return passed;
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
