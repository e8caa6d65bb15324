// SPDX-License-Identifier: Apache-2.0
// One execution's view of a plan: every operand of every step as an address. Addresses of weights
// and arena are set once; a run patches those of the caller's buffers and goes through the steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "exec/memory.h"
#include "exec/plan.h"
#include "trace/names.h"

namespace anynpu::device {
class Queue;
}

namespace anynpu::exec {

// How a step appears in traces.
struct TracedStep {
  trace::NameId name;
  trace::NameId description;
};

// The step that failed last in this thread: the name of its node, "" when none did.
std::string_view failed_step();
void forget_failed_step();
// Where its operands lie, in the order of the node's.
struct StepAddresses {
  std::vector<const void*> inputs, outputs;
};
const StepAddresses& failed_addresses();
void set_failed_addresses(StepAddresses addresses);

class PlanRunner {
 public:
  // `plan`, whose weights are filled, outlives the runner; `arena` holds plan.work_bytes, and
  // `host_arena` of a plan for a device plan.host_work_bytes.
  PlanRunner(const Plan& plan, const std::vector<TracedStep>& names, Memory arena,
             Memory host_arena = {});

  // Another arena from now on, of plan.work_bytes; for a runner that was made without one.
  void use_arena(std::byte* arena);

  // One run at a time. `step_ns`, when not null, receives the time of each step.
  Status run(std::span<void* const> inputs, std::span<void* const> outputs, uint64_t* step_ns);

  // The same of a plan for a device: gives its steps to `queue`, which may not be done with them
  // when this returns. Buffers lie in the memory of the device. While a profile takes the times of
  // operators, each step is waited for. Steps that come with the same buffers again are recorded by
  // the queue, if it can, and given to it as a whole.
  Status launch(std::span<void* const> inputs, std::span<void* const> outputs, uint64_t* step_ns,
                device::Queue& queue);

 private:
  struct Patch {
    uint32_t buffer;   // index among the caller's inputs or outputs
    uint32_t pointer;  // index into sources_ or targets_
  };
  struct BoundStep {
    const ops::KernelPlan* work;
    uint32_t first_source, sources, first_target, targets;
    const std::byte* packed;
    std::byte *workspace, *thread_scratch;
  };
  void patch(std::span<void* const> inputs, std::span<void* const> outputs);
  ops::RunArgs arguments(const BoundStep& step) const;
  Status run_step(const BoundStep& step) const;
  Status launch_step(size_t index, device::Queue& queue) const;
  Status launch_steps(device::Queue& queue, uint64_t* step_ns) const;
  Status run_on_host(size_t index, device::Queue& queue) const;
  Status note_failure(const BoundStep& step, Status status) const;

  const Plan& plan_;
  const std::vector<TracedStep>& names_;
  const bool only_enqueues_;
  Memory arena_, host_arena_;
  std::vector<BoundStep> steps_;
  std::vector<const std::byte*> sources_;
  std::vector<std::byte*> targets_;
  std::vector<Patch> source_inputs_, source_outputs_, target_outputs_;
  struct ArenaPatch {
    uint32_t pointer;
    size_t offset;
  };
  std::vector<ArenaPatch> source_arena_, target_arena_, workspaces_, thread_scratch_;
  size_t thread_scratch_stride_ = 0;
  std::byte* used_arena_ = nullptr;
  // The steps with the buffers of the last launch, as the queue recorded them.
  std::vector<void*> last_buffers_;
  std::shared_ptr<void> recording_;
};

}  // namespace anynpu::exec
