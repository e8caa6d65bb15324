// SPDX-License-Identifier: Apache-2.0
// A task is one piece of work in a stream: a callable kept in an inline slot, so that submitting
// allocates nothing, plus its description for the trace. A task finishes in one of two ways: it
// returns its Status (done), or it takes a Completion, returns `pending`, and the holder of the
// Completion finishes it later from any thread. Tasks never block a thread to wait for another
// stream, a callback or a codec: they go pending.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include "base/status.h"
#include "trace/trace.h"

namespace anynpu::device {

class Stream;

// The hardware unit of a task. Each device limits how many tasks of an engine run at once.
enum class Engine : uint8_t { control, compute, h2d, d2h, d2d, vpc, jpeg, vdec, venc, npc, count };

const char* name_of(Engine engine);

// One per kind of task, with static storage: `constinit TaskKind kFill{"memset_async",
// Engine::d2d};`
struct TaskKind {
  constexpr TaskKind(const char* text, Engine engine, bool unbounded = false, bool resumes = false)
      : TaskKind(text, engine, unbounded, resumes, false) {}
  // A task that only submits work to the back end's queue (queue.h).
  static constexpr TaskKind queued(const char* text, Engine engine) {
    return TaskKind(text, engine, false, false, true);
  }
  const char* text;  // a literal; shown in traces and error messages
  Engine engine;
  // It may run for a long time: it calls check_cancelled() (base/cancellation.h), and waiting
  // threads leave it to a helper, so that deadlines and Ctrl-C work.
  bool unbounded;
  // It may go pending more than once: when its completion finishes, it is invoked again, with the
  // outcome in TaskRun::status(), and it ends when it returns `done`.
  bool resumes;
  // On a device with an asynchronous queue, the next such task is submitted before this one is
  // finished.
  bool enqueues;
  trace::StaticName name;

 private:
  constexpr TaskKind(const char* text, Engine engine, bool unbounded, bool resumes, bool enqueues)
      : text(text),
        engine(engine),
        unbounded(unbounded),
        resumes(resumes),
        enqueues(enqueues),
        name(text) {}
};

// The id of the submitting thread, as in gettid().
uint32_t current_thread_number();

struct TaskInfo {
  TaskInfo(TaskKind& kind, uint64_t bytes = 0)  // NOLINT: implicit by design
      : kind(&kind),
        bytes(bytes),
        submitted(trace::enabled(trace::Category::task) ? ticks() : 0),
        correlation(trace::current_correlation()) {}
  TaskKind* kind;
  uint64_t bytes;        // moved or produced, or the model that runs: for the trace
  uint64_t submitted;    // ticks; 0 when tasks were not traced then
  uint32_t correlation;  // the API call that submitted it
};

// The right to finish a pending task, once. Destroying it unfinished fails the task, so that a
// stream never waits for something that is gone.
class Completion {
 public:
  Completion() = default;
  Completion(std::shared_ptr<Stream> stream, uint64_t sequence)
      : stream_(std::move(stream)), sequence_(sequence) {}
  Completion(Completion&&) noexcept = default;
  Completion& operator=(Completion&& other) noexcept;
  ~Completion();
  void finish(Status status);
  // False once the task was aborted: polling for it can stop.
  bool wanted() const;

 private:
  std::shared_ptr<Stream> stream_;
  uint64_t sequence_ = 0;
};

enum class Outcome : uint8_t { done, pending };

// What a running task sees of its stream.
class TaskRun {
 public:
  TaskRun(Stream& stream, uint64_t sequence) : stream_(stream), sequence_(sequence) {}
  // The task must return Outcome::pending after this, and must not touch its own captures once the
  // completion may have been finished.
  Completion defer();
  Outcome done(Status status) {
    status_ = std::move(status);
    return Outcome::done;
  }
  Stream& stream() { return stream_; }
  uint64_t sequence() const { return sequence_; }
  Status& status() { return status_; }

 private:
  Stream& stream_;
  uint64_t sequence_;
  Status status_;
};

// Inline storage for one task. Either empty or holding a callable of one of the two forms
// `Status()` and `Outcome(TaskRun&)`.
class TaskSlot {
 public:
  static constexpr size_t kPayloadBytes = 144;

  template <typename F>
  void emplace(const TaskInfo& info, F&& callable) {
    using Callable = std::decay_t<F>;
    static_assert(sizeof(Callable) <= kPayloadBytes, "share large state through a shared_ptr");
    static_assert(alignof(Callable) <= alignof(std::max_align_t));
    new (payload_) Callable(std::forward<F>(callable));
    kind_ = info.kind;
    bytes_ = info.bytes;
    submitted_ = info.submitted;
    correlation_ = info.correlation;
    thread_ = current_thread_number();
    begun_ = 0;
    invoke_ = [](std::byte* payload, TaskRun& run) {
      auto& task = *std::launder(reinterpret_cast<Callable*>(payload));
      if constexpr (std::is_invocable_r_v<Outcome, Callable&, TaskRun&>) {
        return task(run);
      } else {
        return run.done(task());
      }
    };
    destroy_ = [](std::byte* payload) {
      std::launder(reinterpret_cast<Callable*>(payload))->~Callable();
    };
  }
  Outcome invoke(TaskRun& run) { return invoke_(payload_, run); }
  void clear() {
    if (destroy_) std::exchange(destroy_, nullptr)(payload_);
  }
  TaskKind& kind() const { return *kind_; }
  uint64_t bytes() const { return bytes_; }
  uint64_t submitted() const { return submitted_; }
  uint32_t correlation() const { return correlation_; }
  uint32_t thread() const { return thread_; }
  // Ticks when it started; 0 when it is not traced.
  uint64_t begun() const { return begun_; }
  void set_begun(uint64_t at) { begun_ = at; }

 private:
  Outcome (*invoke_)(std::byte*, TaskRun&) = nullptr;
  void (*destroy_)(std::byte*) = nullptr;
  TaskKind* kind_ = nullptr;
  uint64_t bytes_ = 0;
  uint64_t submitted_ = 0;
  uint32_t correlation_ = 0;
  uint32_t thread_ = 0;
  uint64_t begun_ = 0;
  alignas(std::max_align_t) std::byte payload_[kPayloadBytes];
};

// A task outside of a stream's queue.
struct KeptTask : TaskSlot {
  KeptTask() = default;
  KeptTask(const KeptTask&) = delete;
  KeptTask& operator=(const KeptTask&) = delete;
  ~KeptTask() { clear(); }
};

// First-in first-out queue of slots in linked blocks; slots do not move. Not thread-safe: the
// stream's mutex guards it. An emptied block is kept for the next task, so a stream in steady use
// allocates nothing.
class TaskQueue {
 public:
  TaskQueue() = default;
  ~TaskQueue();
  TaskQueue(const TaskQueue&) = delete;
  TaskQueue& operator=(const TaskQueue&) = delete;

  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }
  // The slot after the last one; null when memory is out. push() makes it part of the queue.
  TaskSlot* back();
  void push() { ++tail_->used, ++size_; }
  TaskSlot& front() { return head_->slots[head_->first]; }
  void pop();  // the slot must be clear

  // The tasks from the front on that were started and are not finished; next() is the first one
  // behind them, null when there is none.
  size_t started() const { return started_; }
  TaskSlot* next();
  void start_next();

 private:
  static constexpr uint32_t kBlockSlots = 16;
  struct Block {
    uint32_t first = 0;
    uint32_t used = 0;
    Block* next = nullptr;
    TaskSlot slots[kBlockSlots];
  };
  Block* head_ = nullptr;
  Block* tail_ = nullptr;
  Block* spare_ = nullptr;
  size_t size_ = 0;
  // Where next() is, while tasks are started.
  Block* next_block_ = nullptr;
  uint32_t next_slot_ = 0;
  size_t started_ = 0;
};

}  // namespace anynpu::device
