// SPDX-License-Identifier: Apache-2.0
// Observers of the steps of a model: dumps and overflow detection. A model without one pays one
// branch per run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/schema.h"

namespace anynpu::exec {

// One operand of a step, in memory while the step runs.
struct StepTensor {
  DType dtype = DType::undefined;
  Shape shape;
  ops::Layout layout = ops::Layout::plain;
  const std::byte* data = nullptr;  // null: left out, or packed by the kernel
};

struct StepView {
  size_t index = 0;         // of the step in its plan
  const std::string& op;    // "Conv"
  const std::string& name;  // of the node
  std::span<const StepTensor> inputs, outputs;
};

class StepObserver {
 public:
  virtual ~StepObserver() = default;
  // When the model has its number.
  virtual void set_model_id(uint32_t id) {}
  // A run starts with begin(), which sets its number for the calls that follow in this thread.
  virtual void begin() {}
  virtual bool wants(const std::string& op, const std::string& name) const { return true; }
  // A failure here is reported as that of the step.
  virtual Status before(const StepView& step) { return {}; }
  virtual Status after(const StepView& step) { return {}; }
  // The step failed, or before() of an observer did.
  virtual void failed(const StepView& step, const Status& status) {}
};

// Runs `work` as the step that `step` describes.
template <typename Work>
Status observed(StepObserver& observer, const StepView& step, Work&& work) {
  Status status = observer.before(step);
  if (status.ok()) status = work();
  if (status.ok()) return observer.after(step);
  observer.failed(step, status);
  return status;
}

// Combines several; null ones are skipped. Null when none is left.
std::shared_ptr<StepObserver> join_observers(std::vector<std::shared_ptr<StepObserver>> observers);

// The tensor's elements in plain order.
std::vector<std::byte> plain_bytes(const StepTensor& tensor);

}  // namespace anynpu::exec
