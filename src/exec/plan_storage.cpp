// SPDX-License-Identifier: Apache-2.0
#include "exec/plan_storage.h"

#include <algorithm>

#include "base/align.h"
#include "exec/arena.h"

namespace anynpu::exec {

namespace {

// Steps of a device may run at the same time: memory is reused only this many steps later.
constexpr int kStepsApart = 3;
constexpr size_t kDeviceAlignment = 512;  // of buffers in an arena of a device

}  // namespace

int PlanStorage::add(const Storage& storage) {
  storages_.push_back(storage);
  return static_cast<int>(storages_.size()) - 1;
}

void PlanStorage::add_step(const ops::KernelPlan& work, bool fallback, StepStorage use) {
  const int now = next_step();
  for (int index : use.inputs) {
    if (index >= 0) (*this)[index].last_step = std::max((*this)[index].last_step, now);
  }
  const size_t alone = work.workspace_bytes - work.thread_scratch_count * work.thread_scratch_bytes;
  if (alone > 0) {
    const auto memory = fallback ? OperandMemory::host_arena : OperandMemory::arena;
    use.workspace = add({memory, 0, alone, now, now});
  }
  steps_.push_back(std::move(use));
}

bool PlanStorage::may_overwrite(int node, const StepStorage& use, int input, size_t bytes) const {
  const int index = use.inputs[static_cast<size_t>(input)];
  const Storage& s = (*this)[index];
  if (s.memory != OperandMemory::arena || s.last_node > node || s.bytes != bytes) return false;
  return std::count(use.inputs.begin(), use.inputs.end(), index) == 1;
}

// All steps have the per-thread scratch in the same place, from the first that has some to the
// last.
int PlanStorage::add_thread_scratch(Plan& plan) {
  size_t count = 0;
  int first = -1, last = -1;
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    const ops::KernelPlan& work = *plan.steps[i].work;
    if (work.thread_scratch_count == 0) continue;
    plan.thread_scratch_stride = std::max(plan.thread_scratch_stride, work.thread_scratch_bytes);
    count = std::max(count, work.thread_scratch_count);
    last = static_cast<int>(i);
    if (first < 0) first = last;
  }
  const auto memory = on_device_ ? OperandMemory::host_arena : OperandMemory::arena;
  return count == 0 ? -1 : add({memory, 0, count * plan.thread_scratch_stride, first, last});
}

// Tensors that no step of the device touches.
void PlanStorage::move_to_host_arena(const Plan& plan) {
  std::vector<bool> on_device(storages_.size(), false);
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (plan.steps[i].fallback) continue;
    for (const auto* list : {&steps_[i].inputs, &steps_[i].outputs}) {
      for (int index : *list) {
        if (index >= 0) on_device[static_cast<size_t>(index)] = true;
      }
    }
    if (steps_[i].workspace >= 0) on_device[static_cast<size_t>(steps_[i].workspace)] = true;
  }
  for (size_t i = 0; i < storages_.size(); ++i) {
    if (storages_[i].memory == OperandMemory::arena && !on_device[i])
      storages_[i].memory = OperandMemory::host_arena;
  }
}

// Offsets of all buffers in one of the two arenas; its size.
size_t PlanStorage::place_arena(OperandMemory memory, Plan& plan) {
  std::vector<ArenaBuffer> buffers;
  std::vector<size_t> owners;
  for (size_t i = 0; i < storages_.size(); ++i) {
    if (storages_[i].memory != memory) continue;
    const int apart = memory == OperandMemory::arena && on_device_ ? kStepsApart : 0;
    const size_t bytes =
        on_device_ ? round_up(storages_[i].bytes, kDeviceAlignment) : storages_[i].bytes;
    buffers.push_back({bytes, storages_[i].first_step, storages_[i].last_step + apart});
    plan.arena_uses.push_back({static_cast<uint32_t>(storages_[i].first_step),
                               static_cast<uint32_t>(storages_[i].last_step), storages_[i].bytes});
    owners.push_back(i);
  }
  const size_t bytes = place_buffers(buffers);
  for (size_t i = 0; i < owners.size(); ++i) storages_[owners[i]].offset = buffers[i].offset;
  return bytes;
}

void PlanStorage::place(Plan& plan) {
  const int thread_scratch = add_thread_scratch(plan);
  if (on_device_) move_to_host_arena(plan);
  plan.work_bytes = place_arena(OperandMemory::arena, plan);
  if (on_device_) plan.host_work_bytes = place_arena(OperandMemory::host_arena, plan);
  const auto slot = [&](int index) {
    if (index < 0) return Slot{};
    const Storage& storage = (*this)[index];
    return Slot{storage.memory, storage.offset, storage.chunk};
  };
  for (size_t i = 0; i < plan.steps.size(); ++i) {
    PlanStep& step = plan.steps[i];
    for (int index : steps_[i].inputs) step.inputs.push_back(slot(index));
    for (int index : steps_[i].outputs) step.outputs.push_back(slot(index));
    step.workspace = slot(steps_[i].workspace);
    if (step.work->thread_scratch_count > 0) step.thread_scratch = slot(thread_scratch);
  }
}

}  // namespace anynpu::exec
