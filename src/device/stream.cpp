// SPDX-License-Identifier: Apache-2.0
#include "device/stream.h"

#include <algorithm>

#include "base/cancellation.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/start_thread.h"
#include "device/context.h"
#include "device/cpu/cpu_queue.h"
#include "device/device.h"
#include "device/engine_gate.h"
#include "device/process_page.h"
#include "device/recorder.h"
#include "device/synchronize_observer.h"
#include "trace/trace.h"

namespace anynpu::device {

namespace {

constexpr uint64_t kTurnNs = 2'000'000;    // a helper's turn on one stream while others wait
constexpr uint64_t kShortTurnNs = 50'000;  // the same where a thread that waits can take over
constexpr uint64_t kInterruptNs =
    50'000'000;                     // a waiter that runs tasks looks for Ctrl-C this often
constexpr int64_t kLastLookMs = 5;  // what a stream gets to make progress once patience is over
constexpr size_t kBackPressure = 16384;   // a submitter helps once this many tasks are queued
constexpr uint64_t kLookNs = 10'000'000;  // a waiter looks at the queue so long before it sleeps

std::atomic<uint32_t> next_stream_id{0};
thread_local uint32_t last_task = 0;
std::atomic<FailureObserver> failure_observer{nullptr};

trace::Detail traced_detail(const Stream& stream, const TaskSlot& slot, uint64_t sequence) {
  return {.arg = stream.id() | sequence << 32,
          .extra = 0,
          .first = static_cast<uint32_t>(stream.device() ? stream.device()->id() : -1),
          .second = static_cast<uint32_t>(slot.kind().engine)};
}

}  // namespace

Stream::Stream(std::shared_ptr<Device> device, std::weak_ptr<Context> context,
               StreamOptions options)
    : device_(std::move(device)),
      context_(std::move(context)),
      options_(options),
      device_queue_(device_ ? device_->create_queue(options.priority) : shared_cpu_queue()),
      queue_lags_(device_ && !device_->capabilities().finishes_calls),
      id_(next_stream_id.fetch_add(1, std::memory_order_relaxed)),
      priority_(options.priority) {
  job_.stream = this;
  job_.run = [](ThreadPool::Job& base) {
    auto& job = static_cast<PoolJob&>(base);
    const std::shared_ptr<Stream> self = std::move(job.keep);
    std::unique_lock lock(self->mutex_);
    self->in_pool_ = false;
    if (self->state_ == State::ready) self->run_turn(lock);
  };
}

Stream::~Stream() = default;

uint32_t Stream::last_task_of_thread() { return last_task; }

void set_failure_observer(FailureObserver observer) {
  failure_observer.store(observer, std::memory_order_release);
}

void report_failure(const TaskFailure& failure) {
  if (const auto observer = failure_observer.load(std::memory_order_acquire)) observer(failure);
}

Status Stream::admit(const TaskInfo& info, TaskSlot** slot) {
  if (closed_) {
    return closed_why_.ok() ? fail(Code::invalid_handle,
                                   "{}: stream {} is being destroyed; submit no more work to it",
                                   info.kind->text, id_)
                            : closed_why_.with_note(
                                  format("while submitting {} to stream {}", info.kind->text, id_));
  }
  if ((failure_mode_ == FailureMode::stop || halted_) && !failure_.ok()) {
    return failure_.with_note(format("stream {} stopped at this failure (failure mode 1)", id_));
  }
  ANYNPU_TRY(helpers_ready(), "while submitting {} to stream {}", info.kind->text, id_);
  *slot = queue_.back();
  if (!*slot)
    return fail(Code::out_of_memory, "{}: no memory for a task of stream {}", info.kind->text, id_);
  return {};
}

void Stream::appended(std::unique_lock<std::mutex>& lock) {
  queue_.push();
  last_task = static_cast<uint32_t>(submitted_.fetch_add(1, std::memory_order_release) + 1);
  if (queue_lags_ && (state_ == State::idle || parked_for_queue_)) [[unlikely]] {
    parked_for_queue_ = false;
    // Giving work to the queue is quicker than waking a helper for it.
    const TaskSlot* const next = queue_.next();
    if (next->kind().enqueues) return run_turn(lock);
    return make_ready(lock);
  }
  if (state_ == State::idle) {
    if (waiters_ > 0 || in_pool_) return make_ready(lock);
    // As make_ready, but the helper is woken without the lock held: one that wakes into a held lock
    // has to be woken twice. Nothing of the stream is touched after the lock is gone.
    state_ = State::ready;
    in_pool_ = true;
    job_.keep = shared_from_this();
    job_.priority = static_cast<int>(priority_);
    lock.unlock();
    ThreadPool::instance().submit(job_);
    return;
  }
  if (queue_.size() >= kBackPressure && state_ != State::parked) {
    (void)wait_locked(lock, submitted() - kBackPressure / 2, Deadline::after_ms(100));
  }
}

Status Stream::keep(std::unique_ptr<KeptTask> task) {
  const auto recorder = this->recorder();
  if (!recorder) {
    return fail(Code::capture_invalidated,
                "{}: the capture of stream {} ended while this task was submitted",
                task->kind().text, id_);
  }
  ANYNPU_ASSIGN(last_task, recorder->keep(*this, std::move(task)));
  return {};
}

void Stream::set_recorder(std::shared_ptr<TaskRecorder> recorder) {
  std::lock_guard lock(mutex_);
  recorder_.swap(recorder);
  recorded_.store(recorder_ != nullptr, std::memory_order_release);
}

std::shared_ptr<TaskRecorder> Stream::recorder() const {
  if (!recorded_.load(std::memory_order_acquire)) [[likely]]
    return nullptr;
  std::lock_guard lock(mutex_);
  return recorder_;
}

Result<bool> Stream::query() {
  if (const auto recorder = this->recorder()) {
    ANYNPU_TRY(recorder->asked(format("stream {}", id_)));
  }
  if (queue_lags_ && !idle()) [[unlikely]] {
    std::unique_lock lock(mutex_);
    if (parked_for_queue_) look_at_queue(lock, 0);
  }
  return idle();
}

void Stream::make_ready(std::unique_lock<std::mutex>& lock) {
  state_ = State::ready;
  if (waiters_ > 0) {
    notify_waiters();
  } else {
    post(lock);
  }
}

void Stream::post(std::unique_lock<std::mutex>&) {
  if (in_pool_) return;
  in_pool_ = true;
  job_.keep = shared_from_this();
  job_.priority = static_cast<int>(priority_);
  ThreadPool::instance().submit(job_);
}

void Stream::notify_waiters() {
  wake_at_ = UINT64_MAX;  // each waiter says again what it waits for
  changed_.notify_all();
}

void Stream::run_turn(std::unique_lock<std::mutex>& lock) {
  state_ = State::running;
  ThreadPool& pool = ThreadPool::instance();
  const uint64_t start = now_ns();
  while (!queue_.empty()) {
    if (!run_front(lock)) return;  // parked
    if (!pool.has_waiting_jobs() || queue_.empty()) continue;
    if (now_ns() - start > (waiters_ > 0 ? kShortTurnNs : kTurnNs)) {
      make_ready(lock);
      return;
    }
  }
  state_ = State::idle;
}

void Stream::run_for_waiter(std::unique_lock<std::mutex>& lock, uint64_t until,
                            const Deadline& deadline) {
  state_ = State::running;
  const uint64_t start = now_ns();
  while (!queue_.empty()) {
    if (!run_front(lock)) return;
    if (completed() >= until || left_to_helpers() || deadline.passed() ||
        now_ns() - start > kInterruptNs)
      break;
  }
  if (queue_.empty()) {
    state_ = State::idle;
  } else {
    state_ = State::ready;  // the caller is a waiter: it goes on, or posts when it leaves
  }
}

EngineGate* Stream::gate_of(const TaskSlot& slot) const {
  if (!device_) return nullptr;
  EngineGate& gate = device_->gate(slot.kind().engine);
  return gate.limited() ? &gate : nullptr;
}

// Runs the front task; false when the stream is parked afterwards and the token is free.
bool Stream::run_front(std::unique_lock<std::mutex>& lock) {
  if (queue_.started() > 0) [[unlikely]] {
    finish_reached(lock);
    if (queue_.empty()) return true;
    if (queue_.started() > 0 && !may_start_next()) return park_for_queue(lock);
  }
  TaskSlot& slot = *queue_.next();
  const uint64_t sequence = completed() + queue_.started() + 1;
  if (dropped(sequence)) {
    finish_front(lock,
                 fail(Code::aborted, "{}: dropped, because stream {} was {}", slot.kind().text, id_,
                      sequence <= aborted_through_ ? "aborted" : "stopped"));
    return true;
  }
  if (EngineGate* gate = gate_of(slot); gate && !engine_held_) {
    if (!gate->enter(shared_from_this())) {
      engine_wanted_ = true;
      state_ = State::parked;
      return false;
    }
    engine_held_ = true;
  }
  lock.unlock();
  TaskRun run(*this, sequence);
  if (slot.kind().resumes) [[unlikely]]
    run.status() = std::exchange(early_status_, {});
  Outcome outcome;
  const uint64_t start = now_ns();
  const int32_t published = device_ ? published_slot(*device_) : -1;
  publish_task_begin(published, start);
  if (!trace::enabled(trace::Category::task)) [[likely]] {
    slot.set_begun(0);
  } else if (!slot.begun()) {
    slot.set_begun(ticks());
  }
  // The device times a task that only submits work.
  const bool timed_by_device =
      slot.begun() && queue_lags_ && slot.kind().enqueues &&
      device_queue_->begin_work({.category = trace::Category::task,
                                 .name = slot.kind().name.id(),
                                 .arg = slot.bytes(),
                                 .correlation = slot.correlation(),
                                 .submitted = slot.submitted(),
                                 .detail = traced_detail(*this, slot, sequence)});
  {
    const CancellationScope scope(
        [](const void* stream, uint64_t number) {
          return static_cast<const Stream*>(stream)->dropped(number);
        },
        this, sequence);
    outcome = slot.invoke(run);
  }
  if (timed_by_device) {
    device_queue_->end_work();
    slot.set_begun(0);
  }
  const bool enqueued = queue_lags_ && slot.kind().enqueues;
  if (queue_lags_ && !enqueued && outcome == Outcome::done && run.status().ok())
    outcome = wait_for_queue(run);
  if (device_) {
    const uint64_t end = now_ns();
    device_->add_busy(end - start);
    publish_task_end(published, end);
  }
  lock.lock();
  if (enqueued) {
    if (!run.status().ok()) {  // what it gave to the queue before is still to be waited for
      unqueued_ = sequence;
      unqueued_why_ = std::move(run.status());
    }
    queue_.start_next();
    return true;
  }
  if (outcome == Outcome::done) {
    finish_front(lock, std::move(run.status()));
    return true;
  }
  if (finished_early_) {
    finished_early_ = false;
    if (slot.kind().resumes) return true;  // it is still the front
    finish_front(lock, std::move(early_status_));
    return true;
  }
  pending_ = true;
  if (dropped(sequence)) {  // aborted while it was going pending
    pending_ = false;
    finish_front(lock, fail(Code::aborted, "a task of stream {} was aborted", id_));
    return true;
  }
  state_ = State::parked;
  return false;
}

// The task is done with its work when the queue is.
Outcome Stream::wait_for_queue(TaskRun& run) {
  if (device_queue_->idle()) return Outcome::done;
  auto completion = std::make_shared<Completion>(run.defer());
  device_queue_->when_idle([completion](Status status) { completion->finish(std::move(status)); });
  return Outcome::pending;
}

// A task that was pending is one slice from its start to its end, whoever ended it.
void Stream::trace_front(const TaskSlot& slot, uint64_t begin) const {
  const uint64_t waited = slot.submitted() ? begin - std::min(begin, slot.submitted()) : 0;
  trace::Detail detail = traced_detail(*this, slot, completed() + 1);
  detail.extra = waited;
  trace::slice(trace::Category::task, slot.kind().name.id(), begin, ticks(), slot.correlation(),
               slot.bytes(), detail);
}

void Stream::finish_front(std::unique_lock<std::mutex>& lock, Status status) {
  state_ = State::running;  // keeps the token while the slot is cleared without the lock
  TaskSlot& slot = queue_.front();
  EngineGate* gate = engine_held_ ? gate_of(slot) : nullptr;
  engine_held_ = false;
  const char* name = slot.kind().text;
  const bool stops =
      failure_mode_ == FailureMode::stop && !status.ok() && status.code() != Code::aborted;
  lock.unlock();
  if (const uint64_t begin = slot.begun()) [[unlikely]]
    trace_front(slot, begin);
  if (!status.ok() && status.code() != Code::aborted) [[unlikely]] {
    report_failure({device_ ? device_->id() : -1, id_, static_cast<uint32_t>(completed() + 1),
                    slot.thread(), name, status});
  }
  if (stops) [[unlikely]] {
    if (const auto context = context_.lock()) context->halt_others(*this, status);
  }
  slot.clear();  // may release events, memory, other streams
  if (gate) gate->leave();
  lock.lock();
  queue_.pop();
  const uint64_t sequence = completed_.fetch_add(1, std::memory_order_release) + 1;
  if (!status.ok()) {
    if (status.code() == Code::aborted) {
      ANYNPU_LOG(info, "task {} of stream {}: {}", sequence, id_, status.to_string());
    } else {
      ANYNPU_LOG(error, "task {} of stream {} failed: {}", sequence, id_, status.to_string());
    }
    if (failure_.ok()) {
      failure_ = status.with_note(format("in task {} ({}) of stream {}", sequence, name, id_));
    }
    if (failure_mode_ == FailureMode::stop) aborted_through_ = submitted();
  }
  if (sequence >= wake_at_) notify_waiters();
}

bool Stream::awaits(uint64_t sequence) const {
  std::lock_guard lock(mutex_);
  return sequence == completed() + 1 && !dropped(sequence);
}

void Stream::finish_pending(uint64_t sequence, Status status) {
  std::unique_lock lock(mutex_);
  if (sequence != completed() + 1 || dropped(sequence)) return;  // aborted meanwhile
  if (!pending_) {
    finished_early_ = true;
    early_status_ = std::move(status);
    return;
  }
  pending_ = false;
  if (queue_.front().kind().resumes) {
    early_status_ = std::move(status);
    return make_ready(lock);
  }
  finish_front(lock, std::move(status));
  if (queue_.empty()) {
    state_ = State::idle;
  } else {
    make_ready(lock);
  }
}

void Stream::engine_granted(EngineGate& gate) {
  std::unique_lock lock(mutex_);
  if (!engine_wanted_) {  // aborted meanwhile: hand the place on
    lock.unlock();
    gate.leave();
    return;
  }
  engine_wanted_ = false;
  engine_held_ = true;
  make_ready(lock);
}

Status Stream::wait_locked(std::unique_lock<std::mutex>& lock, uint64_t sequence,
                           const Deadline& deadline) {
  Status status;
  uint64_t checked = 0;
  ++waiters_;
  while (completed() < sequence) {
    if (state_ == State::ready && left_to_helpers()) post(lock);
    if (state_ == State::ready && !left_to_helpers()) {
      run_for_waiter(lock, sequence, deadline);
      if (completed() >= sequence) break;
      const uint64_t now = now_ns();
      if (now - checked > kInterruptNs) {
        checked = now;
        lock.unlock();
        const bool stop = interrupted();
        lock.lock();
        if (stop) {
          status = fail(Code::cancelled, "the wait for stream {} was interrupted", id_);
          break;
        }
      }
      if (!deadline.passed()) continue;
    }
    if (parked_for_queue_) [[unlikely]] {
      if (look_at_queue(lock, now_ns() + kLookNs) || state_ == State::ready) continue;
      if (!parked_for_queue_ && completed() >= sequence) break;
    }
    wake_at_ = std::min(wake_at_, sequence);
    const WaitEnd end = wait_turn(changed_, lock, deadline);
    if (end == WaitEnd::woken || completed() >= sequence) continue;
    status = end == WaitEnd::interrupted
                 ? fail(Code::cancelled, "the wait for stream {} was interrupted", id_)
                 : fail(Code::timeout,
                        "stream {} has {} unfinished tasks after the time given; wait longer, or "
                        "look for a task that waits for something that never comes",
                        id_, queue_.size());
    break;
  }
  --waiters_;
  if (state_ == State::ready) {  // nobody may be left to run what this thread leaves
    if (waiters_ > 0) notify_waiters();
    post(lock);
  }
  return status;
}

Status Stream::wait_for(uint64_t sequence, const Deadline& deadline) {
  if (completed() >= sequence) return {};
  std::unique_lock lock(mutex_);
  return wait_locked(lock, sequence, deadline);
}

Status Stream::synchronize(const Deadline& deadline) {
  if (const auto recorder = this->recorder()) return recorder->asked(format("stream {}", id_));
  std::unique_lock lock(mutex_);
  ANYNPU_TRY(wait_locked(lock, submitted(), deadline));
  Status failure = failure_;
  if (failure_mode_ == FailureMode::carry_on && !halted_) failure_ = {};
  lock.unlock();
  tell_synchronized(*this);
  return failure;
}

void Stream::halt(const Status& why) {
  {
    std::lock_guard lock(mutex_);
    halted_ = true;
    if (failure_.ok()) failure_ = why;
  }
  abort();
}

Status Stream::failure() const {
  std::lock_guard lock(mutex_);
  return failure_;
}

void Stream::stop() {
  std::unique_lock lock(mutex_);
  if (state_ != State::running && state_ != State::parked) return;
  stopped_ = completed() + 1;
  engine_wanted_ = false;
  if (state_ != State::parked || parked_for_queue_) return;  // it is told when it asks
  pending_ = false;
  make_ready(lock);
}

void Stream::abort() {
  std::unique_lock lock(mutex_);
  aborted_through_ = submitted();
  engine_wanted_ = false;
  // Whoever runs next drops the rest; what the device's queue has is not taken back.
  if (state_ != State::parked || parked_for_queue_) return;
  pending_ = false;
  make_ready(lock);
}

void Stream::close(Close how, const Deadline& patience) {
  {
    std::lock_guard lock(mutex_);
    closed_ = true;
  }
  if (how == Close::force) abort();
  while (!idle()) {
    const uint64_t before = completed();
    const Status waited =
        wait_for(submitted(), patience.passed() ? Deadline::after_ms(kLastLookMs) : patience);
    if (waited.ok()) break;
    bool parked;
    {
      std::lock_guard lock(mutex_);
      parked = state_ == State::parked && !parked_for_queue_;
    }
    if (waited.code() == Code::cancelled || (parked && completed() == before)) {
      ANYNPU_LOG(error,
                 "stream {} is destroyed with {} tasks that wait for something that never came; "
                 "they are dropped",
                 id_, submitted() - completed());
      abort();
    }
  }
}

void Stream::disable(Status why) {
  std::lock_guard lock(mutex_);
  closed_ = true;
  closed_why_ = std::move(why);
}

void Stream::give_place() {
  if (device_ && !place_given_.exchange(true)) device_->give_stream_place();
}

Status Stream::set_failure_mode(FailureMode mode) {
  std::lock_guard lock(mutex_);
  if (failure_mode_chosen_) {
    return fail(Code::invalid_argument,
                "the failure mode of stream {} was set before; it can be set once", id_);
  }
  failure_mode_chosen_ = true;
  failure_mode_ = mode;
  return {};
}

void Stream::set_priority(uint32_t priority) {
  std::lock_guard lock(mutex_);
  priority_ = priority;
}

uint32_t Stream::priority() const {
  std::lock_guard lock(mutex_);
  return priority_;
}

FailureMode Stream::failure_mode() const {
  std::lock_guard lock(mutex_);
  return failure_mode_;
}

}  // namespace anynpu::device
