// SPDX-License-Identifier: Apache-2.0
#include "service/instance/lane_walker.h"

#include <algorithm>

#include "base/cancellation.h"
#include "device/host_view.h"
#include "device/queue.h"
#include "service/instance/label.h"
#include "trace/trace.h"

namespace anynpu::service {

using device::Completion;
using device::Outcome;
using device::TaskRun;

namespace {

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

// Work may be left in the queue of the stream that was recorded.
Outcome settle(device::Queue& queue, TaskRun& run) {
  if (queue.idle()) [[likely]]
    return Outcome::done;
  auto completion = std::make_shared<Completion>(run.defer());
  queue.when_idle([completion](Status status) { completion->finish(std::move(status)); });
  return Outcome::pending;
}

}  // namespace

Status begin_run(Instance& instance) {
  instance.drop_replaced();
  RunState& run = instance.run();
  std::vector<RunState::Parked> parked;  // let go without the lock
  {
    std::lock_guard lock(run.mutex);
    std::fill(run.joined.begin(), run.joined.end(), uint8_t{0});
    parked.swap(run.parked);
    run.stop = run.end_reached = false;
    run.failure = {};
  }
  for (const auto& condition : instance.conditions()) {
    if (!condition->starts_each_run) continue;
    ANYNPU_TRY(device::copy_bytes(condition->value, &condition->start, sizeof condition->start));
  }
  return {};
}

Status failure_of(Instance& instance) {
  std::lock_guard lock(instance.run().mutex);
  return instance.run().failure;
}

// From here to the end of the lane, or until something is to be waited for.
Outcome LaneWalker::go(TaskRun& run) {
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
          return run.done(
              fail(Code::aborted, "a run of model instance {} was aborted", here_.instance->id()));
        continue;
      }
      const Step outcome = steer(task, run);
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
bool LaneWalker::wait_for_lanes(TaskRun& run) {
  RunState& state = here_.instance->run();
  std::lock_guard lock(state.mutex);
  if (state.active == 0) return false;
  state.at_end = run.defer();
  return true;
}

Status LaneWalker::note(const RecordedTask& task, const Status& status) const {
  return status.with_note(format("in task {} ({}) of lane {} of model instance {}", task.number,
                                 task.kind ? task.kind->text : "control", task.lane,
                                 here_.instance->id()));
}

Outcome LaneWalker::perform(RecordedTask& task, TaskRun& run) {
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

// Runs a control task. Nothing: continue.
LaneWalker::Step LaneWalker::steer(RecordedTask& task, TaskRun& run) {
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
    case TaskRole::wait_flag:
      return wait_outside(task, run);
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

LaneWalker::Step LaneWalker::pass_join(RecordedTask& task) {
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

LaneWalker::Step LaneWalker::wait_join(RecordedTask& task, TaskRun& run) {
  ++here_.at;
  RunState& state = here_.instance->run();
  std::lock_guard lock(state.mutex);
  if (state.stop) return run.done(state.failure);
  if (state.joined[task.join]) return std::nullopt;
  state.parked.push_back({task.join, run.defer()});
  return Outcome::pending;
}

LaneWalker::Step LaneWalker::reset(RecordedTask& task) {
  ++here_.at;
  if (task.join == UINT32_MAX) {
    task.event->forget_marks();
    return std::nullopt;
  }
  std::lock_guard lock(here_.instance->run().mutex);
  here_.instance->run().joined[task.join] = 0;
  return std::nullopt;
}

LaneWalker::Step LaneWalker::switch_lane(RecordedTask& task, TaskRun& run) {
  const auto taken = holds(task.compare);
  if (!taken.ok()) return run.done(note(task, taken.status()));
  ++here_.at;
  if (!*taken) return std::nullopt;
  start_lane(root_, *here_.instance, task.target, 0);
  return run.done({});
}

LaneWalker::Step LaneWalker::switch_label(RecordedTask& task, TaskRun& run) {
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

LaneWalker::Step LaneWalker::end(TaskRun& run) {
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

LaneWalker::Step LaneWalker::choose(RecordedTask& task, TaskRun& run) {
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

uint64_t LaneWalker::mark_of(const RecordedTask& task) const {
  return (*root_->run().marks)[task.join];
}

LaneWalker::Step LaneWalker::wait_outside(RecordedTask& task, TaskRun& run) {
  ++here_.at;
  TaskRun inner(run.stream(), run.sequence());
  const Outcome outcome = task.role == TaskRole::wait_flag
                              ? task.event->await_flag(inner)
                              : task.event->await(mark_of(task), 0, inner);
  if (outcome == Outcome::pending) return Outcome::pending;
  if (!inner.status().ok()) return run.done(inner.status());
  return std::nullopt;
}

}  // namespace anynpu::service
