// SPDX-License-Identifier: Apache-2.0
// Runs of plans for a device with its own kernels: steps are enqueued; a step without a device
// kernel waits for the queue and runs on the host, on views of its operands.
#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "device/host_view.h"
#include "device/queue.h"
#include "exec/runner.h"
#include "ops/blocked_layout.h"
#include "ops/enqueued_plan.h"
#include "trace/trace.h"

namespace anynpu::exec {

namespace {

size_t stored_bytes(const StepTensor& tensor) {
  return ops::stored_bytes(tensor.dtype, tensor.shape, tensor.layout);
}

}  // namespace

Status PlanRunner::run_on_host(size_t index, device::Queue& queue) const {
  const PlanStep& step = plan_.steps[index];
  ops::RunArgs args = arguments(steps_[index]);
  std::vector<device::HostRange> ranges;
  for (size_t i = 0; i < args.inputs.size(); ++i) {
    const bool used = args.inputs[i] && i < step.in.size();
    ranges.push_back({const_cast<std::byte*>(args.inputs[i]), used ? stored_bytes(step.in[i]) : 0,
                      device::Access::read});
  }
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    const bool used = args.outputs[i] && i < step.out.size();
    ranges.push_back(
        {args.outputs[i], used ? stored_bytes(step.out[i]) : 0, device::Access::write});
  }
  ANYNPU_TRY(queue.drain());
  return device::with_host_view(ranges, [&] {
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> targets;
    for (size_t i = 0; i < ranges.size(); ++i) {
      auto* const seen = static_cast<std::byte*>(ranges[i].address);
      if (i < args.inputs.size()) {
        sources.push_back(seen);
      } else {
        targets.push_back(seen);
      }
    }
    args.inputs = sources;
    args.outputs = targets;
    return step.work->run(args);
  });
}

Status PlanRunner::launch_step(size_t index, device::Queue& queue) const {
  const PlanStep& step = plan_.steps[index];
  if (step.fallback) return run_on_host(index, queue);
  return static_cast<const ops::EnqueuedPlan&>(*step.work).enqueue(arguments(steps_[index]), queue);
}

bool Plan::only_enqueues() const {
  return on_device && !observed &&
         std::none_of(steps.begin(), steps.end(), [](const PlanStep& step) { return step.fallback; });
}

Status PlanRunner::launch_steps(device::Queue& queue, uint64_t* step_ns) const {
  const bool timed = step_ns || trace::enabled(trace::Category::op);
  const uint32_t correlation = trace::current_correlation();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const trace::TraceZone zone(trace::Category::op, names_[i].name, correlation,
                                names_[i].description);
    const uint64_t start = timed ? now_ns() : 0;
    Status status = launch_step(i, queue);
    if (status.ok() && timed) status = queue.drain();
    if (!status.ok()) return note_failure(steps_[i], std::move(status));
    if (step_ns) step_ns[i] = now_ns() - start;
  }
  return {};
}

// What a step reads and writes, with the addresses of this run.
TouchedRanges PlanRunner::touched(size_t index) const {
  const PlanStep& step = plan_.steps[index];
  const ops::RunArgs args = arguments(steps_[index]);
  TouchedRanges ranges;
  for (size_t i = 0; i < args.inputs.size() && i < step.in.size(); ++i) {
    if (args.inputs[i]) ranges.push_back({args.inputs[i], stored_bytes(step.in[i]), false});
  }
  for (size_t i = 0; i < args.outputs.size() && i < step.out.size(); ++i) {
    if (args.outputs[i]) ranges.push_back({args.outputs[i], stored_bytes(step.out[i]), true});
  }
  if (args.workspace) ranges.push_back({args.workspace, step.work->workspace_bytes, true});
  return ranges;
}

std::vector<device::Queue::Part> PlanRunner::parts(device::Queue& queue) const {
  std::vector<TouchedRanges> ranges;
  for (size_t i = 0; i < steps_.size(); ++i) ranges.push_back(touched(i));
  auto after = order_of_steps(ranges);
  std::vector<device::Queue::Part> all;
  for (size_t i = 0; i < steps_.size(); ++i)
    all.push_back({[this, i, &queue] { return launch_step(i, queue); }, std::move(after[i])});
  return all;
}

Status PlanRunner::launch(std::span<void* const> inputs, std::span<void* const> outputs,
                          uint64_t* step_ns, device::Queue& queue) {
  patch(inputs, outputs);
  if (step_ns || trace::enabled(trace::Category::op) || !only_enqueues_)
    return launch_steps(queue, step_ns);
  std::vector<void*> buffers(inputs.begin(), inputs.end());
  buffers.insert(buffers.end(), outputs.begin(), outputs.end());
  buffers.push_back(used_arena_);
  if (buffers != last_buffers_) {
    last_buffers_ = std::move(buffers);
    recording_ = nullptr;
    return launch_steps(queue, nullptr);
  }
  if (!recording_) {
    recording_ = queue.record(parts(queue));
    if (!recording_) return launch_steps(queue, nullptr);
  }
  return queue.replay(recording_);
}

}  // namespace anynpu::exec
