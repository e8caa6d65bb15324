// SPDX-License-Identifier: Apache-2.0
#include "service/instance/replay.h"

#include <optional>
#include <utility>

#include "base/cancellation.h"
#include "device/host_view.h"
#include "device/queue.h"
#include "device/runtime.h"
#include "service/instance/label.h"
#include "trace/trace.h"

namespace anynpu::service {

namespace {

using device::Completion;
using device::Engine;
using device::Outcome;
using device::TaskKind;
using device::TaskRun;

constinit TaskKind kRun{"model instance", Engine::control, false, true};
constinit TaskKind kRunLoops{"model instance", Engine::control, true, true};
constinit TaskKind kLane{"lane of a model instance", Engine::control, true, true};

// Reads a value that tasks left in device memory.
template <typename T>
Result<T> read_value(const device::Range& range) {
  T value{};
  ANYNPU_TRY(device::copy_bytes(&value, range.address, sizeof value));
  return value;
}

bool compare(Comparison comparison, int64_t left, int64_t right) {
  switch (comparison) {
    case Comparison::equal:
      return left == right;
    case Comparison::not_equal:
      return left != right;
    case Comparison::greater:
      return left > right;
    case Comparison::greater_or_equal:
      return left >= right;
    case Comparison::less:
      return left < right;
    case Comparison::less_or_equal:
      return left <= right;
  }
  return false;
}

Result<bool> holds(const LaneSwitch& test) {
  if (test.wide) {
    ANYNPU_ASSIGN(const auto left, read_value<int64_t>(test.left));
    ANYNPU_ASSIGN(const auto right, read_value<int64_t>(test.right));
    return compare(test.comparison, left, right);
  }
  ANYNPU_ASSIGN(const auto left, read_value<int32_t>(test.left));
  ANYNPU_ASSIGN(const auto right, read_value<int32_t>(test.right));
  return compare(test.comparison, left, right);
}

// Which body of a condition runs now; null: none.
Result<Instance*> body_of(const Condition& condition) {
  uint64_t value = 0;
  ANYNPU_TRY(device::copy_bytes(&value, condition.value, sizeof value));
  size_t index = value;
  if (condition.kind != Condition::Kind::choose_index) index = value ? 0 : 1;
  if (condition.kind == Condition::Kind::repeat && !value) return nullptr;
  return index < condition.bodies.size() ? condition.bodies[index].get() : nullptr;
}

Status begin_run(Instance& instance) {
  instance.drop_replaced();
  RunState& run = instance.run();
  {
    std::lock_guard lock(run.mutex);
    std::fill(run.joined.begin(), run.joined.end(), uint8_t{0});
    run.parked.clear();
    run.stop = run.end_reached = false;
    run.failure = {};
  }
  for (const auto& condition : instance.conditions()) {
    if (!condition->starts_each_run) continue;
    ANYNPU_TRY(device::copy_bytes(condition->value, &condition->start, sizeof condition->start));
  }
  return {};
}

void start_lane(const std::shared_ptr<Instance>& root, Instance& instance, uint32_t lane,
                uint32_t at);
void start_lanes(const std::shared_ptr<Instance>& root, Instance& instance);

// Ends everything that runs beside: lanes drop what they have not begun.
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

// A failure ends the run: whoever is parked gets it.
void fail_run(Instance& instance, const Status& status) {
  std::vector<RunState::Parked> parked;
  Completion at_end;
  RunState& run = instance.run();
  {
    std::lock_guard lock(run.mutex);
    if (run.failure.ok()) run.failure = status;
    run.stop = true;
    parked.swap(run.parked);
    if (run.active == 0) at_end = std::exchange(run.at_end, Completion());
  }
  for (auto& each : parked) each.completion.finish(status);
  at_end.finish(status);
}

Status failure_of(Instance& instance) {
  std::lock_guard lock(instance.run().mutex);
  return instance.run().failure;
}

// Where a lane is: the task to run next, inside conditions.
struct Place {
  Instance* instance = nullptr;
  uint32_t lane = 0;
  uint32_t at = 0;
};

// Runs one lane. `root` is the instance that was executed; `place` may be in one of its conditions.
class Walker {
 public:
  Walker(std::shared_ptr<Instance> root, Instance& instance, uint32_t lane, uint32_t at)
      : root_(std::move(root)), here_{&instance, lane, at} {}

  const std::shared_ptr<Instance>& root() const { return root_; }

  // From here to the end of the lane, or until something is to be waited for.
  Outcome go(TaskRun& run) {
    for (;;) {
      const auto& program = here_.instance->lanes()[here_.lane].program;
      while (here_.at < program.size()) {
        RecordedTask& task = *program[here_.at];
        if (task.role == TaskRole::work) [[likely]] {
          ++here_.at;
          TaskRun inner(run.stream(), run.sequence());
          if (perform(task, inner) == Outcome::pending) return Outcome::pending;
          if (!inner.status().ok()) [[unlikely]]
            return run.done(note(task, inner.status()));
          if (run.stream().dropped(run.sequence())) [[unlikely]]
            return run.done(fail(Code::aborted, "a run of model instance {} was aborted",
                                 here_.instance->id()));
          continue;
        }
        const std::optional<Outcome> outcome = steer(task, run);
        if (outcome) return *outcome;
        if (moved_) break;
      }
      if (std::exchange(moved_, false)) continue;
      if (outer_.empty()) return run.done({});
      if (wait_for_lanes(run)) return Outcome::pending;
      if (Status failure = failure_of(*here_.instance); !failure.ok())
        return run.done(std::move(failure));
      here_ = outer_.back();
      outer_.pop_back();
    }
  }

  // Parks until the lanes of the innermost instance have ended; false: they have.
  bool wait_for_lanes(TaskRun& run) {
    RunState& state = here_.instance->run();
    std::lock_guard lock(state.mutex);
    if (state.active == 0) return false;
    state.at_end = run.defer();
    return true;
  }

 private:
  Status note(const RecordedTask& task, const Status& status) const {
    return status.with_note(format("in task {} ({}) of lane {} of model instance {}", task.number,
                                   task.kind ? task.kind->text : "control", task.lane,
                                   here_.instance->id()));
  }

  Outcome perform(RecordedTask& task, TaskRun& run) {
    const uint64_t begin = trace::enabled(trace::Category::task) ? ticks() : 0;
    device::KeptTask& work = *task.work.load(std::memory_order_acquire);
    const Outcome outcome = work.invoke(run);
    if (begin) [[unlikely]] {
      const auto& device = run.stream().device();
      trace::slice(trace::Category::task, work.kind().name.id(), begin, ticks(), work.correlation(),
                   work.bytes(),
                   {run.stream().id() | run.sequence() << 32, 0,
                    static_cast<uint32_t>(device ? device->id() : -1),
                    static_cast<uint32_t>(work.kind().engine)});
    }
    if (outcome == Outcome::pending || !run.status().ok()) return outcome;
    return settle(here_.instance->lanes()[task.lane].source->queue(), run);
  }

  // Work may be left in the queue of the stream that was recorded.
  static Outcome settle(device::Queue& queue, TaskRun& run) {
    if (queue.idle()) [[likely]]
      return Outcome::done;
    auto completion = std::make_shared<Completion>(run.defer());
    queue.when_idle([completion](Status status) { completion->finish(std::move(status)); });
    return Outcome::pending;
  }

  // A task that steers the run. Nothing: go on.
  std::optional<Outcome> steer(RecordedTask& task, TaskRun& run) {
    switch (task.role) {
      case TaskRole::record:
        return pass_join(task);
      case TaskRole::wait:
        return wait_join(task, run);
      case TaskRole::reset:
        return reset(task);
      case TaskRole::record_outside:
        task.event->pass(mark_of(task), now_ns());
        break;
      case TaskRole::wait_outside:
        return wait_event(
            task, [&](TaskRun& inner) { return task.event->await(mark_of(task), 0, inner); }, run);
      case TaskRole::wait_flag:
        return wait_event(
            task, [&](TaskRun& inner) { return task.event->await_flag(inner); }, run);
      case TaskRole::activate:
        start_lane(root_, *here_.instance, task.target, 0);
        break;
      case TaskRole::switch_lane:
        return switch_lane(task, run);
      case TaskRole::switch_label:
        return switch_label(task, run);
      case TaskRole::end:
        return end(run);
      case TaskRole::condition:
        return choose(task, run);
      case TaskRole::label:
      case TaskRole::work:
        break;
    }
    ++here_.at;
    return std::nullopt;
  }

  uint64_t mark_of(const RecordedTask& task) const { return (*root_->run().marks)[task.join]; }

  std::optional<Outcome> pass_join(RecordedTask& task) {
    ++here_.at;
    RunState& state = here_.instance->run();
    std::vector<Completion> woken;
    {
      std::lock_guard lock(state.mutex);
      state.joined[task.join] = 1;
      std::erase_if(state.parked, [&](RunState::Parked& parked) {
        if (parked.join != task.join) return false;
        woken.push_back(std::move(parked.completion));
        return true;
      });
    }
    for (Completion& each : woken) each.finish({});
    auto& lanes = here_.instance->lanes();
    for (uint32_t lane = 1; lane < lanes.size(); ++lane) {
      if (here_.instance->origin() == Instance::Origin::built) break;
      if (lanes[lane].starts_at == task.join) start_lane(root_, *here_.instance, lane, 0);
    }
    return std::nullopt;
  }

  std::optional<Outcome> wait_join(RecordedTask& task, TaskRun& run) {
    ++here_.at;
    RunState& state = here_.instance->run();
    std::lock_guard lock(state.mutex);
    if (state.stop) return run.done(state.failure);
    if (state.joined[task.join]) return std::nullopt;
    state.parked.push_back({task.join, run.defer()});
    return Outcome::pending;
  }

  std::optional<Outcome> reset(RecordedTask& task) {
    ++here_.at;
    if (task.join == UINT32_MAX) {
      task.event->forget_marks();
      return std::nullopt;
    }
    std::lock_guard lock(here_.instance->run().mutex);
    here_.instance->run().joined[task.join] = 0;
    return std::nullopt;
  }

  template <typename Wait>
  std::optional<Outcome> wait_event(RecordedTask&, Wait&& wait, TaskRun& run) {
    ++here_.at;
    TaskRun inner(run.stream(), run.sequence());
    if (wait(inner) == Outcome::pending) return Outcome::pending;
    if (!inner.status().ok()) return run.done(inner.status());
    return std::nullopt;
  }

  std::optional<Outcome> switch_lane(RecordedTask& task, TaskRun& run) {
    const auto taken = holds(task.compare);
    if (!taken.ok()) return run.done(note(task, taken.status()));
    ++here_.at;
    if (!*taken) return std::nullopt;
    start_lane(root_, *here_.instance, task.target, 0);
    return run.done({});
  }

  std::optional<Outcome> switch_label(RecordedTask& task, TaskRun& run) {
    if (Status stopped = check_cancelled(); !stopped.ok()) return run.done(std::move(stopped));
    const auto index = read_value<uint32_t>(task.index);
    if (!index.ok()) return run.done(note(task, index.status()));
    const auto& labels = task.labels->labels;
    const Label& label = *labels[std::min<size_t>(*index, labels.size() - 1)];
    if (label.instance.lock().get() != here_.instance) {
      return run.done(note(task, fail(Code::task_failed,
                                      "label {} of the list was not set in this instance; call "
                                      "aclrtSetLabel before the build ends",
                                      *index)));
    }
    if (label.lane != here_.lane) {
      start_lane(root_, *here_.instance, label.lane, label.at);
      return run.done({});
    }
    here_.at = label.at;
    return std::nullopt;
  }

  std::optional<Outcome> end(TaskRun& run) {
    {
      std::lock_guard lock(here_.instance->run().mutex);
      here_.instance->run().end_reached = here_.instance->run().stop = true;
    }
    const auto& lanes = here_.instance->lanes();
    for (uint32_t lane = 0; lane < lanes.size(); ++lane) {
      if (lane != here_.lane && lanes[lane].worker) lanes[lane].worker->abort();
    }
    return run.done({});
  }

  std::optional<Outcome> choose(RecordedTask& task, TaskRun& run) {
    if (Status stopped = check_cancelled(); !stopped.ok()) return run.done(std::move(stopped));
    const auto body = body_of(*task.condition);
    if (!body.ok()) return run.done(note(task, body.status()));
    if (!*body || task.condition->kind != Condition::Kind::repeat) ++here_.at;
    if (!*body) return std::nullopt;
    if (Status status = begin_run(**body); !status.ok()) return run.done(std::move(status));
    outer_.push_back(here_);
    here_ = {*body, 0, 0};
    moved_ = true;
    start_lanes(root_, **body);
    return std::nullopt;
  }

  std::shared_ptr<Instance> root_;
  Place here_;
  std::vector<Place> outer_;
  bool moved_ = false;  // to another program
};

// A lane that runs on a stream of its own. Its end counts, however it comes.
class LaneRun {
 public:
  LaneRun(std::shared_ptr<Instance> root, Instance& instance, uint32_t lane, uint32_t at)
      : walker_(std::move(root), instance, lane, at), instance_(&instance) {}
  LaneRun(LaneRun&& other) noexcept
      : walker_(std::move(other.walker_)), instance_(std::exchange(other.instance_, nullptr)) {}
  ~LaneRun();

  Outcome operator()(TaskRun& run) {
    {
      std::lock_guard lock(instance_->run().mutex);
      if (instance_->run().stop) return run.done({});
    }
    const Outcome outcome = walker_.go(run);
    if (outcome == Outcome::done && !run.status().ok()) fail_run(*instance_, run.status());
    return outcome;
  }

 private:
  Walker walker_;
  Instance* instance_;
};

// The task that stands for one execution.
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

  Walker walker_;
  std::unique_ptr<std::vector<uint64_t>> marks_;
  bool begun_ = false;
  bool at_end_ = false;
};

// The next execution may begin once this one is gone with all its lanes.
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

// Marks that the run did not come to are dropped, so that nobody waits for them.
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

Status enqueue(const std::shared_ptr<Instance>& instance, device::Stream& stream) {
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
