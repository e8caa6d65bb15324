// SPDX-License-Identifier: Apache-2.0
// Executes one lane of a run: tasks one after the other, joins with other lanes, jumps, switches
// and conditions. Used by one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "service/instance/instance.h"

namespace anynpu::service {

// Starts a run of an instance: no join is passed, conditions have their initial values.
Status begin_run(Instance& instance);
// What failed in the run so far.
Status failure_of(Instance& instance);

// Starts a concurrent lane (replay.cpp). `root` is the executed instance; `instance` is the same,
// or that of a condition inside it.
void start_lane(const std::shared_ptr<Instance>& root, Instance& instance, uint32_t lane,
                uint32_t at);
void start_lanes(const std::shared_ptr<Instance>& root, Instance& instance);

class LaneWalker {
 public:
  LaneWalker(std::shared_ptr<Instance> root, Instance& instance, uint32_t lane, uint32_t at)
      : root_(std::move(root)), here_{&instance, lane, at} {}

  const std::shared_ptr<Instance>& root() const { return root_; }

  // Runs to the end of the lane, or until it has to wait.
  device::Outcome go(device::TaskRun& run);
  // Parks until the lanes of the innermost instance have ended; false: they have.
  bool wait_for_lanes(device::TaskRun& run);

 private:
  // The position: the task to run next.
  struct TaskPosition {
    Instance* instance = nullptr;
    uint32_t lane = 0;
    uint32_t at = 0;
  };
  using Step = std::optional<device::Outcome>;  // nothing: go on

  Status note(const RecordedTask& task, const Status& status) const;
  device::Outcome perform(RecordedTask& task, device::TaskRun& run);
  Step steer(RecordedTask& task, device::TaskRun& run);
  uint64_t mark_of(const RecordedTask& task) const;
  Step pass_join(RecordedTask& task);
  Step wait_join(RecordedTask& task, device::TaskRun& run);
  Step reset(RecordedTask& task);
  Step wait_outside(RecordedTask& task, device::TaskRun& run);
  Step switch_lane(RecordedTask& task, device::TaskRun& run);
  Step switch_label(RecordedTask& task, device::TaskRun& run);
  Step end(device::TaskRun& run);
  Step choose(RecordedTask& task, device::TaskRun& run);

  std::shared_ptr<Instance> root_;
  TaskPosition here_;
  std::vector<TaskPosition> outer_;  // where conditions were entered
  bool moved_ = false;               // to another program
};

}  // namespace anynpu::service
