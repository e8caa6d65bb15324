// SPDX-License-Identifier: Apache-2.0
// Runs of plans for a device with its own kernels: steps are enqueued; a step without a device
// kernel waits for the queue and runs on the host, on views of its operands.
#include <algorithm>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
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
         std::none_of(steps.begin(), steps.end(),
                      [](const PlanStep& step) { return step.fallback; });
}

void Plan::log_fallbacks(std::string_view model, std::string_view backend) const {
  std::map<std::string, size_t> counts;
  size_t operators = 0, fallbacks = 0, copied = 0;
  for (const PlanStep& step : steps) {
    if (step.op.empty()) continue;
    ++operators;
    if (!step.fallback) continue;
    ++fallbacks;
    ++counts[step.op];
    const auto add = [&](const std::vector<StepTensor>& tensors, const std::vector<Slot>& slots) {
      for (size_t i = 0; i < tensors.size() && i < slots.size(); ++i) {
        const bool on_host = slots[i].memory == OperandMemory::host_arena ||
                             slots[i].memory == OperandMemory::none ||
                             slots[i].memory == OperandMemory::weights;
        if (!on_host)
          copied += ops::stored_bytes(tensors[i].dtype, tensors[i].shape, tensors[i].layout);
      }
    };
    add(step.in, step.inputs);
    add(step.out, step.outputs);
  }
  if (fallbacks == 0) return;
  std::string names;
  for (const auto& [op, count] : counts)
    names += format("{}{} ({})", names.empty() ? "" : ", ", op, count);
  ANYNPU_LOG(
      warning,
      "model '{}': {} of {} operators have no kernel of {} and run on the host: {}; each run "
      "waits for them and copies {} KiB",
      model, fallbacks, operators, backend, names, (copied + 1023) / 1024);
}

Status PlanRunner::launch_steps(device::Queue& queue, uint64_t* step_ns) const {
  const bool timed = step_ns || trace::enabled(trace::Category::op);
  const uint32_t correlation = trace::current_correlation();
  for (size_t i = 0; i < steps_.size(); ++i) {
    // Times of the device are known later; else the host waits for each step.
    const bool by_device = timed && !step_ns &&
                           queue.begin_work({.category = trace::Category::op,
                                             .name = names_[i].name,
                                             .arg = names_[i].description,
                                             .correlation = correlation,
                                             .on_host = plan_.steps[i].fallback});
    Status status;
    if (by_device) {
      status = launch_step(i, queue);
      queue.end_work();
    } else {
      const trace::TraceZone zone(trace::Category::op, names_[i].name, correlation,
                                  names_[i].description);
      const uint64_t start = timed ? now_ns() : 0;
      status = launch_step(i, queue);
      if (status.ok() && timed) status = queue.drain();
      if (step_ns) step_ns[i] = now_ns() - start;
    }
    if (!status.ok()) return note_failure(steps_[i], std::move(status));
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
  if (step_ns || trace::enabled(trace::Category::op) || !only_enqueues_ || queue.recording())
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
