// SPDX-License-Identifier: Apache-2.0
// A stream is a queue of tasks that run strictly in order; different streams run at the same time.
// It is not a thread: the holder of its run token executes its tasks. That is a helper of the pool,
// or a thread that waits for the stream, which saves a thread switch. A task that goes pending
// parks the stream and frees the token; its Completion makes the stream runnable again.
//
// On a device with an asynchronous queue (queue.h), tasks that only submit work to it are started
// one after the other and are finished when the queue reports its progress. The queue is asked when
// a thread waits or a task needs the host.
//
// All calls are thread-safe. Tasks run without any lock of the stream held, one at a time.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "base/clock.h"
#include "base/handle_table.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "device/task.h"

namespace anynpu::device {

class Context;
class Device;
class EngineGate;
class Queue;
class TaskRecorder;

enum class FailureMode : uint8_t { carry_on, stop };

struct StreamOptions {
  uint32_t priority = 0;  // 0 (first) .. 7
  uint32_t flags = 0;     // as given by the program
};

// A task that failed, for observers of all streams of the process.
struct TaskFailure {
  int32_t device_id;  // -1 in tests without a device
  uint32_t stream_id;
  uint32_t task_id;    // counts the tasks of the stream from 1
  uint32_t thread_id;  // that submitted it
  const char* task;    // "memset_async"
  const Status& status;
};
// Called once per failed task, before the failure is seen by a synchronize, in the thread that ran
// the task and with no lock held. Not called for aborted tasks. Null removes it.
using FailureObserver = void (*)(const TaskFailure& failure);
void set_failure_observer(FailureObserver observer);
// For work that ran outside any queue, such as a synchronous execution.
void report_failure(const TaskFailure& failure);

class Stream : public std::enable_shared_from_this<Stream> {
 public:
  // Streams are made by Context::create_stream (and by tests). `device` may be null in tests.
  Stream(std::shared_ptr<Device> device, std::weak_ptr<Context> context, StreamOptions options);
  ~Stream();

  // Appends a task. Fails when the stream is closed, or failed in mode `stop`. On success the
  // callable will be run or, after abort(), destroyed without being run. A stream with a recorder
  // passes the task to it instead.
  template <typename F>
  Status submit(const TaskInfo& info, F&& callable) {
    std::unique_lock lock(mutex_);
    if (recorder_) [[unlikely]] {
      lock.unlock();
      auto task = std::make_unique<KeptTask>();
      task->emplace(info, std::forward<F>(callable));
      return keep(std::move(task));
    }
    TaskSlot* slot = nullptr;
    ANYNPU_TRY(admit(info, &slot));
    slot->emplace(info, std::forward<F>(callable));
    appended(lock);
    return {};
  }

  // Sequence number of the last task submitted; 0 when there was none.
  uint64_t submitted() const { return submitted_.load(std::memory_order_acquire); }
  uint64_t completed() const { return completed_.load(std::memory_order_acquire); }
  bool idle() const { return completed() >= submitted(); }

  // Waits until all tasks submitted before the call are finished, running them in this thread where
  // it can. Returns the first failure among finished tasks that no synchronize has returned yet.
  Status synchronize(const Deadline& deadline = Deadline::never());
  // Waits until task `sequence` is finished; failures stay for the next synchronize.
  Status wait_for(uint64_t sequence, const Deadline& deadline);
  // The failure synchronize would return now.
  Status failure() const;

  // The recorder takes tasks instead of running them; null ends it. Tasks queued before still run.
  void set_recorder(std::shared_ptr<TaskRecorder> recorder);
  std::shared_ptr<TaskRecorder> recorder() const;
  // Whether all tasks are finished. Fails for a stream that is being captured.
  Result<bool> query();

  // Ends the running or parked task, early if it calls check_cancelled(); the others stay.
  void stop();
  // Drops every task that has not started; a running one finishes, early if it calls
  // check_cancelled(). A parked one is dropped too.
  void abort();

  // Whether the task was aborted or stopped: it must not run, or not continue.
  bool dropped(uint64_t sequence) const {
    return sequence <= aborted_through_.load(std::memory_order_relaxed) ||
           sequence == stopped_.load(std::memory_order_relaxed);
  }

  // Accepts no further tasks. `drain` waits for queued ones; a stream that stays parked on
  // something outside longer than `patience` is aborted, with a log line. `force` aborts at once.
  enum class Close { drain, force };
  static constexpr int64_t kPatienceMs = 1000;
  void close(Close how, const Deadline& patience = Deadline::after_ms(kPatienceMs));
  // Refuses tasks with `why` from now on; queued ones are still finished.
  void disable(Status why);
  // Releases its slot in the device's stream count, once: when it is destroyed or cannot be used.
  void give_place();

  // In mode `stop` a failure stops all streams of the context: queued tasks are dropped and new
  // ones refused. Can be set only once; invalid_argument otherwise.
  Status set_failure_mode(FailureMode mode);
  FailureMode failure_mode() const;
  // Takes effect at the next turn of the stream; 0 is served first.
  void set_priority(uint32_t priority);
  uint32_t priority() const;
  // Settings that a program sets and queries; they do not change how tasks run.
  std::atomic<uint32_t> overflow_switch{0};
  std::atomic<uint32_t> custom_tag{0};
  std::atomic<uint32_t> cache_op_info{0};
  std::atomic<uint32_t> core_limit[2] = {};  // cube, vector; 0 = all

  // Number of the task the calling thread submitted last, on any stream; 0 for none.
  static uint32_t last_task_of_thread();

  uint32_t id() const { return id_; }
  const StreamOptions& options() const { return options_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  // The back end's queue; for the task that runs. A task is finished when the queue is idle again.
  Queue& queue() const { return *device_queue_; }
  std::shared_ptr<Context> context() const { return context_.lock(); }

  // For Completion only: whether the task `sequence` is still pending.
  bool awaits(uint64_t sequence) const;
  // For Completion only: finishes the task `sequence` if it is still pending.
  void finish_pending(uint64_t sequence, Status status);

 private:
  friend class EngineGate;
  enum class State : uint8_t { idle, ready, running, parked };
  struct PoolJob : ThreadPool::Job {
    Stream* stream = nullptr;
    std::shared_ptr<Stream> keep;  // set while the pool has the job
  };

  friend class Context;
  // Another stream of the context stopped at `why`.
  void halt(const Status& why);
  Status admit(const TaskInfo& info, TaskSlot** slot);
  Status keep(std::unique_ptr<KeptTask> task);
  void appended(std::unique_lock<std::mutex>& lock);
  void make_ready(std::unique_lock<std::mutex>& lock);
  void post(std::unique_lock<std::mutex>& lock);
  // Runs with the run token held: by a helper for one turn, or by a waiter up to its task.
  void run_turn(std::unique_lock<std::mutex>& lock);
  void run_for_waiter(std::unique_lock<std::mutex>& lock, uint64_t until, const Deadline& deadline);
  bool run_front(std::unique_lock<std::mutex>& lock);
  Outcome wait_for_queue(TaskRun& run);
  // Tasks submitted to the back end's queue that are not finished.
  bool may_start_next();
  bool park_for_queue(std::unique_lock<std::mutex>& lock);
  bool look_at_queue(std::unique_lock<std::mutex>& lock, uint64_t until_ns);
  void queue_reached(uint64_t sequence, Status status);
  void finish_reached(std::unique_lock<std::mutex>& lock);
  bool left_to_helpers() {
    const TaskSlot* const next = queue_.next();
    return next && next->kind().unbounded;
  }
  void finish_front(std::unique_lock<std::mutex>& lock, Status status);
  void trace_front(const TaskSlot& slot, uint64_t begin) const;
  Status wait_locked(std::unique_lock<std::mutex>& lock, uint64_t sequence,
                     const Deadline& deadline);
  void notify_waiters();
  void engine_granted(EngineGate& gate);
  EngineGate* gate_of(const TaskSlot& slot) const;

  const std::shared_ptr<Device> device_;
  const std::weak_ptr<Context> context_;
  const StreamOptions options_;
  const std::shared_ptr<Queue> device_queue_;
  const bool queue_lags_;  // work may be left in the queue when a task returns
  const uint32_t id_;

  mutable std::mutex mutex_;
  std::shared_ptr<TaskRecorder> recorder_;
  std::atomic<bool> recorded_{false};  // there is a recorder; read without the lock
  std::condition_variable changed_;
  TaskQueue queue_;
  State state_ = State::idle;
  bool in_pool_ = false;
  bool engine_held_ = false;     // the front task holds a slot of its engine
  bool engine_wanted_ = false;   // parked until its engine has a free slot
  bool pending_ = false;         // the front task is pending
  bool finished_early_ = false;  // it was finished before its runner saw `pending`
  bool closed_ = false;
  std::atomic<bool> place_given_{false};
  bool parked_for_queue_ = false;  // only started tasks are left to wait for
  uint64_t reached_ = 0;           // the last task that the back end's queue is known to have done
  uint64_t marker_ = 0;            // the last task that it was asked to report
  uint64_t unqueued_ = 0;          // a started task that failed, and with what
  Status unqueued_why_;
  Status queue_failure_;  // reported by the queue, for the next task that is finished
  std::atomic<uint64_t> aborted_through_{0};  // tasks up to this one are dropped, not run
  std::atomic<uint64_t> stopped_{0};          // and this one
  Status early_status_;
  Status closed_why_;
  FailureMode failure_mode_ = FailureMode::carry_on;
  bool failure_mode_chosen_ = false;
  uint32_t priority_;
  bool halted_ = false;  // by the failure of another stream
  Status failure_;
  uint64_t wake_at_ = UINT64_MAX;  // the lowest sequence a waiter waits for
  int waiters_ = 0;
  std::atomic<uint64_t> submitted_{0};
  std::atomic<uint64_t> completed_{0};
  PoolJob job_;
};

}  // namespace anynpu::device

namespace anynpu {
ANYNPU_HANDLE_TYPE(device::Stream, stream);
}
