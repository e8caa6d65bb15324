// SPDX-License-Identifier: Apache-2.0
// What watches the steps of a model that was loaded with it: dumps and the search for overflows.
// A model without one tests nothing but that, once a run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "ops/schema.h"

namespace anynpu::exec {

// One operand of a step, as it lies in memory while the step runs.
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
  // One run: begins with begin(), which gives its number to the calls that follow in this thread.
  virtual void begin() {}
  virtual bool wants(const std::string& name) const { return true; }
  virtual void before(const StepView& step) {}
  virtual Status after(const StepView& step) = 0;
};

// The tensor's elements in plain order.
std::vector<std::byte> plain_bytes(const StepTensor& tensor);

}  // namespace anynpu::exec
