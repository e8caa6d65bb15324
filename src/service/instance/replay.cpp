// SPDX-License-Identifier: Apache-2.0
#include "service/instance/replay.h"

#include <utility>

#include "device/queue.h"
#include "device/runtime.h"
#include "service/instance/lane_walker.h"
#include "trace/trace.h"

namespace anynpu::service {

using device::Completion;
using device::Engine;
using device::Outcome;
using device::TaskKind;
using device::TaskRun;

namespace {

constinit TaskKind kRun{"model instance", Engine::control, false, true};
constinit TaskKind kRunLoops{"model instance", Engine::control, true, true};
constinit TaskKind kReplay = TaskKind::queued("model instance", Engine::compute);
constinit TaskKind kLane{"lane of a model instance", Engine::control, true, true};

// Ends all concurrent lanes: they drop what they have not started.
void drop_lanes(Instance& instance) {
  {
    std::lock_guard lock(instance.run().mutex);
    instance.run().stop = true;
  }
  for (const Lane& lane : instance.lanes()) {
    if (lane.worker) lane.worker->abort();
  }
  for (const auto& condition : instance.conditions()) {
    for (const auto& body : condition->bodies) drop_lanes(*body);
  }
}

// A failure ends the run: parked tasks get it.
void fail_run(Instance& instance, const Status& status) {
  std::vector<RunState::Parked> parked;
  Completion at_end;
  RunState& run = instance.run();
  {
    std::lock_guard lock(run.mutex);
    if (!run.stop) run.failure = status;  // later ones are of lanes that were told to stop
    run.stop = true;
    parked.swap(run.parked);
    if (run.active == 0) at_end = std::exchange(run.at_end, Completion());
  }
  for (auto& each : parked) each.completion.finish(status);
  at_end.finish(status);
}

// A lane that runs on its own stream. Its end is counted, however it comes.
class LaneRun {
 public:
  LaneRun(std::shared_ptr<Instance> root, Instance& instance, uint32_t lane, uint32_t at)
      : walker_(std::move(root), instance, lane, at), instance_(&instance) {}
  LaneRun(LaneRun&& other) noexcept
      : walker_(std::move(other.walker_)), instance_(std::exchange(other.instance_, nullptr)) {}
  ~LaneRun();

  Outcome operator()(TaskRun& run) {
    if (!run.status().ok()) {  // of what it waited for
      fail_run(*instance_, run.status());
      return Outcome::done;
    }
    {
      std::lock_guard lock(instance_->run().mutex);
      if (instance_->run().stop) return run.done({});
    }
    const Outcome outcome = walker_.go(run);
    if (outcome == Outcome::done && !run.status().ok()) fail_run(*instance_, run.status());
    return outcome;
  }

 private:
  LaneWalker walker_;
  Instance* instance_;
};

// The task of one execution.
class Execution {
 public:
  Execution(std::shared_ptr<Instance> instance, std::unique_ptr<std::vector<uint64_t>> marks)
      : walker_(instance, *instance, 0, 0), marks_(std::move(marks)) {
    instance->begin_use();
  }
  Execution(Execution&& other) noexcept = default;
  ~Execution();

  Outcome operator()(TaskRun& run) {
    Instance& instance = *walker_.root();
    if (!run.status().ok()) return Outcome::done;  // of what it waited for
    if (!begun_) {
      if (!take(run)) return Outcome::pending;
      begun_ = true;
      if (Status status = begin_run(instance); !status.ok()) return run.done(std::move(status));
      start_lanes(walker_.root(), instance);
    }
    if (instance.origin() == Instance::Origin::captured && !at_end_) {
      if (walker_.go(run) == Outcome::pending) return Outcome::pending;
      if (!run.status().ok()) return Outcome::done;
      at_end_ = true;
    }
    if (walker_.wait_for_lanes(run)) return Outcome::pending;
    return run.done(outcome(instance));
  }

 private:
  // Executions of one instance follow each other.
  bool take(TaskRun& run) {
    RunState& state = walker_.root()->run();
    std::lock_guard lock(state.mutex);
    if (state.busy) {
      state.next.push_back(run.defer());
      return false;
    }
    state.busy = true;
    state.root_gone = false;
    state.marks = marks_.get();
    return true;
  }
  static Status outcome(Instance& instance) {
    RunState& state = instance.run();
    std::lock_guard lock(state.mutex);
    if (!state.failure.ok() || !instance.has_end() || state.end_reached) return state.failure;
    return fail(Code::task_failed,
                "all streams of model instance {} came to their end, but none reached the task of "
                "aclmdlRIEndTask; see which streams are activated or switched to",
                instance.id());
  }

  LaneWalker walker_;
  std::unique_ptr<std::vector<uint64_t>> marks_;
  bool begun_ = false;
  bool at_end_ = false;
};

// The next execution may begin once this one and all its lanes have ended.
void release_run(Instance& instance) {
  Completion next;
  RunState& state = instance.run();
  {
    std::lock_guard lock(state.mutex);
    if (!state.busy || !state.root_gone || state.active > 0) return;
    state.busy = false;
    state.marks = nullptr;
    while (!state.next.empty() && !state.next.front().wanted()) state.next.pop_front();
    if (!state.next.empty()) {
      next = std::move(state.next.front());
      state.next.pop_front();
    }
  }
  next.finish({});
}

void lane_ended(Instance& instance) {
  Completion at_end;
  {
    std::lock_guard lock(instance.run().mutex);
    if (--instance.run().active == 0) at_end = std::exchange(instance.run().at_end, Completion());
  }
  at_end.finish({});
}

LaneRun::~LaneRun() {
  if (!instance_) return;
  const auto root = walker_.root();
  lane_ended(*instance_);
  if (instance_ != root.get()) lane_ended(*root);
  release_run(*root);
}

// Marks that the run did not reach are dropped, so that nothing waits for them.
void drop_marks(Instance& instance, const std::vector<uint64_t>& marks) {
  for (const Lane& lane : instance.lanes()) {
    for (const auto& task : lane.tasks) {
      if (task->role == TaskRole::record_outside) task->event->pass(marks[task->join], 0);
    }
  }
}

Execution::~Execution() {
  const auto& instance = walker_.root();
  if (!instance) return;  // moved from
  if (marks_) drop_marks(*instance, *marks_);
  if (begun_) {
    bool lanes;
    {
      std::lock_guard lock(instance->run().mutex);
      instance->run().root_gone = true;
      lanes = instance->run().active > 0;
    }
    if (lanes) drop_lanes(*instance);
    release_run(*instance);
  }
  instance->end_use();
}

}  // namespace

void start_lane(const std::shared_ptr<Instance>& root, Instance& instance, uint32_t lane,
                uint32_t at) {
  {
    std::lock_guard lock(instance.run().mutex);
    if (instance.run().stop) return;
    ++instance.run().active;
  }
  if (&instance != root.get()) {  // the root is not over before what runs inside it
    std::lock_guard lock(root->run().mutex);
    ++root->run().active;
  }
  // A refused task is destroyed at once, which counts its end.
  const Status status = instance.worker(lane)->submit(kLane, LaneRun(root, instance, lane, at));
  if (!status.ok()) fail_run(instance, status);
}

void start_lanes(const std::shared_ptr<Instance>& root, Instance& instance) {
  const bool built = instance.origin() == Instance::Origin::built;
  const auto& lanes = instance.lanes();
  for (uint32_t lane = built ? 0 : 1; lane < lanes.size(); ++lane) {
    if (built ? lanes[lane].head : lanes[lane].starts_at == Lane::kAtOnce) {
      start_lane(root, instance, lane, 0);
    }
  }
}

namespace {

// Marks of events outside, as they are when the run is queued.
std::unique_ptr<std::vector<uint64_t>> take_marks(Instance& instance) {
  if (instance.marks() == 0) return nullptr;
  auto marks = std::make_unique<std::vector<uint64_t>>(instance.marks());
  for (const Lane& lane : instance.lanes()) {
    for (const auto& task : lane.tasks) {
      if (task->role == TaskRole::record_outside) (*marks)[task->join] = task->event->announce();
      if (task->role == TaskRole::wait_outside) (*marks)[task->join] = task->event->last_mark();
    }
  }
  return marks;
}

Status check_executable(const Instance& instance) {
  if (instance.origin() == Instance::Origin::nested) {
    return fail(Code::invalid_argument,
                "model instance {} belongs to a condition; it runs when the instance runs that has "
                "the condition",
                instance.id());
  }
  if (instance.state() == Instance::State::open) {
    return instance.origin() == Instance::Origin::captured
               ? fail(Code::instance_capturing,
                      "model instance {} is still being captured; end the capture first",
                      instance.id())
               : fail(Code::bad_call_order,
                      "model instance {} is still being built; call aclmdlRIBuildEnd first",
                      instance.id());
  }
  if (instance.has_tasks()) return {};
  return fail(Code::bad_call_order,
              "model instance {} has no task; submit some between the begin and the end",
              instance.id());
}

// An execution that the device does alone. Executions of one recording follow each other.
class Replay {
 public:
  Replay(std::shared_ptr<Instance> instance, std::shared_ptr<void> recording)
      : instance_(std::move(instance)), recording_(std::move(recording)) {
    instance_->begin_use();
  }
  Replay(Replay&& other) noexcept = default;
  ~Replay() {
    if (instance_) instance_->end_use();
  }
  Outcome operator()(TaskRun& run) { return run.done(run.stream().queue().replay(recording_)); }

 private:
  std::shared_ptr<Instance> instance_;
  std::shared_ptr<void> recording_;
};

Status enqueue(const std::shared_ptr<Instance>& instance, device::Stream& stream) {
  // While operators are profiled, tasks run one by one, and each is seen.
  if (!trace::enabled(trace::Category::op)) {
    if (auto recording = instance->recording())
      return stream.submit({kReplay, instance->id()}, Replay(instance, std::move(recording)));
  }
  TaskKind& kind = instance->runs_without_end() ? kRunLoops : kRun;
  return stream.submit({kind, instance->id()}, Execution(instance, take_marks(*instance)));
}

}  // namespace

Status execute_instance_async(Handle handle, Handle stream_handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  ANYNPU_TRY(check_executable(*instance));
  ANYNPU_ASSIGN(auto stream, device::Runtime::instance().stream(stream_handle));
  if (stream->context() != instance->context()) {
    return fail(Code::wrong_context,
                "model instance {} and stream {} belong to different contexts; execute it on a "
                "stream of its own context",
                instance->id(), stream->id());
  }
  if (stream->recorder()) {
    return fail(Code::task_kind_refused,
                "stream {} is being captured or bound, and takes no execution of a model instance; "
                "execute it on another stream",
                stream->id());
  }
  return enqueue(instance, *stream);
}

Status execute_instance(Handle handle, int32_t timeout_ms) {
  if (timeout_ms == 0 || timeout_ms < -1) {
    return fail(Code::invalid_argument,
                "the timeout is {} ms; expected -1 (for ever) or more than 0", timeout_ms);
  }
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  ANYNPU_TRY(check_executable(*instance));
  ANYNPU_TRY(enqueue(instance, *instance->own_stream()));
  return instance->own_stream()->synchronize(Deadline::after_ms(timeout_ms));
}

Status abort_instance(Handle handle) {
  ANYNPU_ASSIGN(auto instance, find_instance(handle));
  if (instance->origin() != Instance::Origin::built) {
    return fail(Code::invalid_argument,
                "model instance {} was captured; only one that was built can be aborted, abort the "
                "stream instead",
                instance->id());
  }
  fail_run(*instance, fail(Code::aborted, "model instance {} was aborted", instance->id()));
  drop_lanes(*instance);
  return {};
}

}  // namespace anynpu::service
