// SPDX-License-Identifier: Apache-2.0
#include "exec/runner.h"

#include "base/clock.h"
#include "base/thread_pool.h"
#include "trace/trace.h"

namespace anynpu::exec {

namespace {

thread_local trace::NameId failed_name = 0;
thread_local StepAddresses failed_at;

}  // namespace

std::string_view failed_step() { return trace::name_of(failed_name); }
void forget_failed_step() { failed_name = 0; }
const StepAddresses& failed_addresses() { return failed_at; }
void set_failed_addresses(StepAddresses addresses) { failed_at = std::move(addresses); }

PlanRunner::PlanRunner(const Plan& plan, const std::vector<TracedStep>& names, Memory arena,
                       Memory host_arena)
    : plan_(plan),
      names_(names),
      only_enqueues_(plan.only_enqueues()),
      arena_(std::move(arena)),
      host_arena_(std::move(host_arena)),
      thread_scratch_stride_(plan.thread_scratch_stride),
      used_arena_(arena_.data()) {
  const auto address = [&](const Slot& slot) -> std::byte* {
    if (slot.memory == OperandMemory::weights)
      return plan.chunks[slot.chunk]->memory.data() + slot.offset;
    if (slot.memory == OperandMemory::host_arena) return host_arena_.data() + slot.offset;
    return slot.memory == OperandMemory::arena ? arena_.data() + slot.offset : nullptr;
  };
  for (const PlanStep& step : plan.steps) {
    BoundStep bound{};
    bound.work = step.work.get();
    bound.first_source = static_cast<uint32_t>(sources_.size());
    bound.sources = static_cast<uint32_t>(step.inputs.size());
    for (const Slot& slot : step.inputs) {
      const Patch patch{static_cast<uint32_t>(slot.offset), static_cast<uint32_t>(sources_.size())};
      if (slot.memory == OperandMemory::input) source_inputs_.push_back(patch);
      if (slot.memory == OperandMemory::output) source_outputs_.push_back(patch);
      if (slot.memory == OperandMemory::arena)
        source_arena_.push_back({patch.pointer, slot.offset});
      sources_.push_back(address(slot));
    }
    bound.first_target = static_cast<uint32_t>(targets_.size());
    bound.targets = static_cast<uint32_t>(step.outputs.size());
    for (const Slot& slot : step.outputs) {
      const Patch patch{static_cast<uint32_t>(slot.offset), static_cast<uint32_t>(targets_.size())};
      if (slot.memory == OperandMemory::output) target_outputs_.push_back(patch);
      if (slot.memory == OperandMemory::arena)
        target_arena_.push_back({patch.pointer, slot.offset});
      targets_.push_back(address(slot));
    }
    if (step.workspace.memory == OperandMemory::arena)
      workspaces_.push_back({static_cast<uint32_t>(steps_.size()), step.workspace.offset});
    if (step.thread_scratch.memory == OperandMemory::arena)
      thread_scratch_.push_back({static_cast<uint32_t>(steps_.size()), step.thread_scratch.offset});
    bound.packed = address(step.packed);
    bound.workspace = address(step.workspace);
    bound.thread_scratch = address(step.thread_scratch);
    steps_.push_back(bound);
  }
}

void PlanRunner::use_arena(std::byte* arena) {
  if (arena == used_arena_) return;
  used_arena_ = arena;
  for (const ArenaPatch& p : source_arena_) sources_[p.pointer] = arena + p.offset;
  for (const ArenaPatch& p : target_arena_) targets_[p.pointer] = arena + p.offset;
  for (const ArenaPatch& p : workspaces_) steps_[p.pointer].workspace = arena + p.offset;
  for (const ArenaPatch& p : thread_scratch_) steps_[p.pointer].thread_scratch = arena + p.offset;
}

ops::RunArgs PlanRunner::arguments(const BoundStep& step) const {
  return {{sources_.data() + step.first_source, step.sources},
          {targets_.data() + step.first_target, step.targets},
          step.packed,
          step.workspace,
          step.thread_scratch,
          thread_scratch_stride_};
}

Status PlanRunner::run_step(const BoundStep& step) const { return step.work->run(arguments(step)); }

Status PlanRunner::note_failure(const BoundStep& step, Status status) const {
  failed_name = names_[static_cast<size_t>(&step - steps_.data())].name;
  const auto source = sources_.begin() + step.first_source;
  const auto target = targets_.begin() + step.first_target;
  failed_at.inputs.assign(source, source + step.sources);
  failed_at.outputs.assign(target, target + step.targets);
  return status;
}

void PlanRunner::patch(std::span<void* const> inputs, std::span<void* const> outputs) {
  for (const Patch& p : source_inputs_) {
    sources_[p.pointer] = static_cast<const std::byte*>(inputs[p.buffer]);
  }
  for (const Patch& p : source_outputs_) {
    sources_[p.pointer] = static_cast<const std::byte*>(outputs[p.buffer]);
  }
  for (const Patch& p : target_outputs_) {
    targets_[p.pointer] = static_cast<std::byte*>(outputs[p.buffer]);
  }
}

Status PlanRunner::run(std::span<void* const> inputs, std::span<void* const> outputs,
                       uint64_t* step_ns) {
  patch(inputs, outputs);
  const ThreadPool::SpinScope spin(ThreadPool::instance());
  if (step_ns == nullptr && !trace::enabled(trace::Category::op)) [[likely]] {
    for (const BoundStep& step : steps_) {
      Status status = run_step(step);
      if (!status.ok()) [[unlikely]]
        return note_failure(step, std::move(status));
    }
    return {};
  }
  const uint32_t correlation = trace::current_correlation();
  for (size_t i = 0; i < steps_.size(); ++i) {
    const trace::TraceZone zone(trace::Category::op, names_[i].name, correlation,
                                names_[i].description);
    const uint64_t start = now_ns();
    Status status = run_step(steps_[i]);
    if (!status.ok()) return note_failure(steps_[i], std::move(status));
    if (step_ns) step_ns[i] = now_ns() - start;
  }
  return {};
}

}  // namespace anynpu::exec
