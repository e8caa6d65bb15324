// SPDX-License-Identifier: Apache-2.0
// Executes a plan: every operand of every step is an address. Addresses of weights and arena are
// set once; a run patches those of the caller's buffers and executes the steps.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "device/queue.h"
#include "exec/memory.h"
#include "exec/plan.h"
#include "exec/step_order.h"
#include "trace/names.h"

namespace anynpu::exec {

// How a step appears in traces.
struct TracedStep {
  trace::NameId name;
  trace::NameId description;
};

// The step that failed last in this thread: the name of its node, "" when none did.
std::string_view failed_step();
void forget_failed_step();
// The addresses of its operands, in the order of the node.
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

  // Sets another arena of plan.work_bytes; for a runner that was created without one.
  void use_arena(std::byte* arena);

  // One run at a time. `step_ns`, when not null, receives the time of each step.
  Status run(std::span<void* const> inputs, std::span<void* const> outputs, uint64_t* step_ns);

  // The same for a plan for a device: enqueues its steps in `queue`, which may not be done when
  // this returns. Buffers are in device memory. While operators are profiled, the device times each
  // step or, if it cannot, the host waits for it. When a plan runs again with the same buffers, the
  // queue records the steps, if it can, and replays the recording.
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
  TouchedRanges touched(size_t index) const;
  std::vector<device::Queue::Part> parts(device::Queue& queue) const;
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
