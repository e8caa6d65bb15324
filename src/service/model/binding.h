// SPDX-License-Identifier: Apache-2.0
// The addresses of one execution of a model, with references that keep the memory alive. Used by
// one thread at a time; reused, so that executions allocate nothing.
#pragma once

#include <memory>
#include <vector>

#include "device/memory.h"
#include "exec/model.h"
#include "service/model/dataset.h"
#include "service/model/execute.h"
#include "service/model/model_table.h"
#include "service/model/tensor_side.h"

namespace anynpu::service {

class Binding {
 public:
  // Checks the datasets against the model and chooses the plan: the gear or the shapes that were
  // set, or the only one. The model must have been loaded on `device`.
  Status bind(const ExecuteCall& call, const device::Device& device);
  // Work memory for this execution only; no effect when its address is null.
  Status bind_work(exec::Buffer work);
  // `queue`: of the stream that the execution is a task of; null for one in the calling thread.
  Status run(device::Queue* queue = nullptr);
  // Releases everything except the capacity of its lists.
  void clear();

  bool has_loops() const { return loaded_->has_loops(); }
  // run() with a queue leaves nothing to the calling thread.
  bool only_enqueues() const { return loaded_->only_enqueues(); }

 private:
  Status choose_plan(uint32_t model_id, const Dataset& inputs);
  Status choose_shapes(uint32_t model_id, const Dataset& inputs);
  Status choose_shaped_plan(uint32_t model_id, const Dataset& inputs);
  Status bind_dataset(uint32_t model_id, const Dataset& dataset, TensorSide side);
  size_t bytes_needed(uint32_t model_id, const Dataset::Contents& contents, size_t input,
                      size_t planned) const;
  Status bind_memory(const void* address, size_t bytes, TensorSide side, exec::Buffer& bound);
  bool has_open_outputs() const;
  void describe_outputs() const;

  std::shared_ptr<Model> model_;
  std::vector<exec::Buffer> inputs_;
  std::vector<exec::Buffer> outputs_;
  std::vector<std::shared_ptr<device::Allocation>> owners_;
  exec::LoadedModel* loaded_ = nullptr;             // of the gear or the shapes of this execution
  size_t gear_ = 0;                                 // of a model with gears
  std::shared_ptr<exec::LoadedModel> shaped_plan_;  // keeps one that others may replace meanwhile
  std::shared_ptr<Dataset> open_outputs_;  // set where a run finds out shapes: described afterwards
  exec::Buffer work_;                      // of this execution alone; null: the model's
  std::vector<Shape> input_shapes_;        // of a model with ranges
  std::vector<Shape> output_shapes_;       // where a run finds them out
};

}  // namespace anynpu::service
