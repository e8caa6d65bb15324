// SPDX-License-Identifier: Apache-2.0
// Kernels without packed weights in two lines: make_plan wraps a closure, create_plain<fn> wraps
// the function that makes the plan.
#pragma once

#include <memory>
#include <utility>

#include "ops/kernel.h"

namespace anynpu::ops {

template <typename Run>
class ClosurePlan final : public KernelPlan {
 public:
  explicit ClosurePlan(Run run) : run_(std::move(run)) {}
  Status run(const RunArgs& args) const override {
    run_(args);
    return {};
  }

 private:
  Run run_;
};

template <typename Run>
std::unique_ptr<KernelPlan> make_plan(Run run) {
  return std::make_unique<ClosurePlan<Run>>(std::move(run));
}

// A plan whose closure returns a Status.
template <typename Run>
class CheckedPlan final : public KernelPlan {
 public:
  explicit CheckedPlan(Run run) : run_(std::move(run)) {}
  Status run(const RunArgs& args) const override { return run_(args); }

 private:
  Run run_;
};
template <typename Run>
std::unique_ptr<KernelPlan> make_checked_plan(Run run) {
  return std::make_unique<CheckedPlan<Run>>(std::move(run));
}

using PlanResult = Result<std::unique_ptr<KernelPlan>>;
using PlanFunction = PlanResult (*)(const OpContext& context);

class PlainKernel final : public Kernel {
 public:
  explicit PlainKernel(PlanFunction function) : function_(function) {}
  PlanResult plan(const OpContext& context) const override { return function_(context); }

 private:
  PlanFunction function_;
};

template <PlanFunction function>
Result<std::unique_ptr<Kernel>> create_plain(const OpContext&) {
  return std::unique_ptr<Kernel>(std::make_unique<PlainKernel>(function));
}

template <typename T>
const T* input_of(const RunArgs& args, size_t index) {
  return reinterpret_cast<const T*>(args.inputs[index]);
}
template <typename T>
T* output_of(const RunArgs& args, size_t index) {
  return reinterpret_cast<T*>(args.outputs[index]);
}

inline Status no_kernel_for(const OpContext& context) {
  return fail(Code::unsupported_dtype, "{}: type {} has no kernel; cast it in the model",
              context.label(),
              name_of(context.inputs.empty() ? DType::undefined : context.inputs[0].dtype));
}

}  // namespace anynpu::ops
