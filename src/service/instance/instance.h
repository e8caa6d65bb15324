// SPDX-License-Identifier: Apache-2.0
// A model instance: tasks of one or several streams, captured (capture.h) or built (build.h), which
// are replayed each time the instance is executed (replay.h). Each stream is a lane, whose tasks
// run in order. Executions of one instance run one after the other. Thread-safe.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/handle_table.h"
#include "base/result.h"
#include "device/context.h"
#include "device/stream.h"
#include "service/instance/recorded_task.h"

namespace anynpu::service {

struct Lane {
  std::shared_ptr<device::Stream> source;  // that was captured or bound
  Handle handle = 0;                       // of the stream that programs ask for its tasks
  bool head = false;                       // starts with the run
  bool bound = false;                      // the program's own stream, until it is unbound
  uint32_t starts_at = 0;                  // the join that it waits for first, or kAtOnce
  std::vector<std::unique_ptr<RecordedTask>> tasks;
  std::vector<RecordedTask*> program;      // what runs, in order
  std::shared_ptr<device::Stream> worker;  // runs the lane concurrently with others

  static constexpr uint32_t kAtOnce = UINT32_MAX;
};

// A 64-bit value in device memory that decides what a condition task runs.
struct Condition {
  std::weak_ptr<Instance> owner;
  uint64_t* value = nullptr;  // device memory
  uint64_t start = 0;
  bool starts_each_run = false;
  bool used = false;
  enum class Kind : uint32_t { choose_one = 0, repeat = 1, choose_index = 2 };
  Kind kind = Kind::choose_one;
  std::vector<std::shared_ptr<Instance>> bodies;
  Handle handle = 0;
};

// The state of one execution. Guarded by its mutex.
struct RunState {
  struct Parked {
    uint32_t join;
    device::Completion completion;
  };
  std::mutex mutex;
  bool busy = false;                    // an execution holds it
  bool root_gone = false;               // the task of the execution was dropped
  std::deque<device::Completion> next;  // executions that follow
  std::vector<uint8_t> joined;
  std::vector<Parked> parked;
  uint32_t active = 0;        // lanes on streams of their own
  device::Completion at_end;  // called when they have ended
  bool stop = false;          // do not continue
  bool end_reached = false;
  Status failure;
  const std::vector<uint64_t>* marks = nullptr;  // of events outside
};

class Instance : public std::enable_shared_from_this<Instance> {
 public:
  enum class Origin : uint8_t { captured, built, nested };
  enum class State : uint8_t { open, ready };
  using Callback = void (*)(void*);
  static constexpr size_t kNameBytes = 512;

  static Result<std::shared_ptr<Instance>> create(Origin origin,
                                                  const std::shared_ptr<device::Context>& context);
  ~Instance();

  Origin origin() const { return origin_; }
  uint32_t id() const { return id_; }
  Handle handle() const { return handle_; }
  const std::shared_ptr<device::Context>& context() const { return context_; }
  State state() const { return state_.load(std::memory_order_acquire); }

  // Only while it is open, and by one thread at a time.
  uint32_t add_lane(std::shared_ptr<device::Stream> source);
  RecordedTask& add_task(uint32_t lane, TaskRole role);
  uint32_t add_join() { return joins_++; }
  uint32_t add_mark() { return marks_++; }
  void add_condition(std::shared_ptr<Condition> condition);
  std::vector<Lane>& lanes() { return lanes_; }
  void keep_group(std::shared_ptr<TaskGroup> group, Handle handle);
  const std::vector<std::shared_ptr<Condition>>& conditions() const { return conditions_; }
  // Builds the programs of the lanes; the instance is then ready to be executed.
  void finish();
  // Tasks may be added again; for an instance that is built.
  void reopen() { state_.store(State::open, std::memory_order_release); }
  // Rebuilds the programs, from the tasks that are not disabled.
  void make_programs();
  bool has_tasks() const;
  uint32_t marks() const { return marks_; }
  uint32_t joins() const { return joins_; }
  bool runs_without_end() const { return unbounded_; }

  void set_name(std::string_view name);
  std::string name() const;
  void add_destroy_callback(Callback callback, void* data);
  Status remove_destroy_callback(Callback callback);

  // Queued or running executions.
  void begin_use() { uses_.fetch_add(1, std::memory_order_acq_rel); }
  void end_use() { uses_.fetch_sub(1, std::memory_order_acq_rel); }
  bool in_use() const { return uses_.load(std::memory_order_acquire) > 0; }

  // Destroys it: callbacks are called, handles and sub-instances are removed. Fails while it is
  // open or in use, and for one that belongs to a condition.
  static Status destroy(Handle handle);
  void release();

  // The stream of a lane that runs concurrently; and the one for executions that name no stream.
  const std::shared_ptr<device::Stream>& worker(uint32_t lane);
  const std::shared_ptr<device::Stream>& own_stream();

  // Replaces a task, even while the instance runs: a run that has not reached it yet uses the new
  // one.
  void replace_work(RecordedTask& task, std::unique_ptr<device::KeptTask> work);
  // Frees replaced tasks; called when a run begins.
  void drop_replaced();

  // All tasks of a captured instance, recorded by the device (record_tasks.h); null where it cannot
  // record them.
  std::shared_ptr<void> recording();

  RunState& run() { return run_; }
  std::mutex& tasks_mutex() { return tasks_mutex_; }  // guards what programs change in tasks
  bool has_end() const { return has_end_; }

 private:
  Instance(Origin origin, std::shared_ptr<device::Context> context);
  std::shared_ptr<device::Stream> make_stream() const;
  void forget_recording();

  const Origin origin_;
  const std::shared_ptr<device::Context> context_;
  const uint32_t id_;
  Handle handle_ = 0;
  std::atomic<State> state_{State::open};
  std::atomic<int> uses_{0};
  std::vector<Lane> lanes_;
  uint32_t joins_ = 0;
  uint32_t marks_ = 0;
  bool unbounded_ = false;
  bool has_end_ = false;
  std::vector<std::shared_ptr<Condition>> conditions_;
  mutable std::mutex mutex_;  // guards what follows
  std::string name_;
  std::vector<std::pair<Callback, void*>> callbacks_;
  std::shared_ptr<device::Stream> own_stream_;
  std::vector<std::pair<std::shared_ptr<TaskGroup>, Handle>> groups_;
  std::shared_ptr<void> recording_;
  int record_tries_ = 0;
  std::mutex tasks_mutex_;
  std::vector<RecordedTask*> replaced_;  // guarded by tasks_mutex_
  std::atomic<bool> has_replaced_{false};
  RunState run_;
};

Result<std::shared_ptr<Instance>> find_instance(Handle handle);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::Instance, model_instance);
ANYNPU_HANDLE_TYPE(service::Condition, condition);
}  // namespace anynpu
