// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan with fixed shapes, as a step of a plan. Their weights are part of the outer
// plan's, and they run in the step's workspace: a run allocates nothing, and the model's sizes
// include them.
#pragma once

#include <memory>
#include <vector>

#include "exec/plan.h"
#include "graph/graph.h"
#include "ops/kernel.h"

namespace anynpu::exec {

struct FixedFlow {
  std::unique_ptr<ops::KernelPlan> work;
  InnerPlans* inner = nullptr;  // part of `work`
  bool memory_known = true;     // as Plan's
};

// `inputs` and `outputs` are what the plan binds, one per input and output of the node; type
// undefined = left out. `work` is null if a shape inside is unknown, and for rare cases: the
// general step is used then (flow_step.h).
Result<FixedFlow> plan_fixed_flow(const graph::Node& node, const std::vector<TensorShape>& inputs,
                                  const std::vector<TensorShape>& outputs,
                                  const ops::Target& target, WeightPool& weights,
                                  const std::shared_ptr<StepObserver>& observer);

}  // namespace anynpu::exec
