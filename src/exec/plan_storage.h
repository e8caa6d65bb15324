// SPDX-License-Identifier: Apache-2.0
// The memory of a plan while it is made: the buffers that its steps use, from which step to which.
// When all steps are known, each buffer gets its place in an arena (arena.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "exec/plan.h"
#include "exec/weight_pool.h"
#include "ops/kernel.h"

namespace anynpu::exec {

// A buffer that one or more tensors share.
struct Storage {
  static constexpr int kNever = std::numeric_limits<int>::max();

  OperandMemory memory = OperandMemory::arena;
  size_t offset = 0;  // of inputs, outputs and weights; place() sets those in arenas
  size_t bytes = 0;
  int first_step = 0, last_step = 0;
  int last_node = -1;  // the last node that reads any tensor in it; kNever: it must stay as it is
  uint32_t chunk = 0;  // of weights
  WeightSide side = WeightSide::host;
};

// The buffers that a step uses, as indices; -1: none.
struct StepStorage {
  std::vector<int> inputs, outputs;
  int workspace = -1;
};

class PlanStorage {
 public:
  // `on_device`: the plan is for a device with its own kernels.
  explicit PlanStorage(bool on_device) : on_device_(on_device) {}

  int add(const Storage& storage);
  Storage& operator[](int index) { return storages_[static_cast<size_t>(index)]; }
  const Storage& operator[](int index) const { return storages_[static_cast<size_t>(index)]; }

  int next_step() const { return static_cast<int>(steps_.size()); }
  // Another step, which runs `work`; its workspace is added.
  void add_step(const ops::KernelPlan& work, bool fallback, StepStorage use);

  // Whether a step of node `node` may write an output of `bytes` over its input `input`: no later
  // node reads the buffer, and the step reads it through this input alone.
  bool may_overwrite(int node, const StepStorage& use, int input, size_t bytes) const;

  // Places all buffers, and fills in the operands of the steps and the sizes of `plan`, which has
  // the steps that were added here.
  void place(Plan& plan);

 private:
  int add_thread_scratch(Plan& plan);
  void move_to_host_arena(const Plan& plan);
  size_t place_arena(OperandMemory memory, Plan& plan);

  const bool on_device_;
  std::vector<Storage> storages_;
  std::vector<StepStorage> steps_;
};

}  // namespace anynpu::exec
