// SPDX-License-Identifier: Apache-2.0
// If, Loop and Scan whose graphs have fixed shapes, as a step of a plan. Their weights lie among
// those of the plan around them, and all they need while running is the step's work space: a run
// allocates nothing, and the sizes of the model count them.
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

// `inputs` and `outputs` are what the plan binds, one per input and output of the node; a type of
// undefined = left out. `work` is null when a shape inside is open, or for what is rarely used: the
// general step has to do it (flow_step.h).
Result<FixedFlow> plan_fixed_flow(const graph::Node& node, const std::vector<TensorShape>& inputs,
                                  const std::vector<TensorShape>& outputs,
                                  const ops::Target& target, WeightPool& weights);

}  // namespace anynpu::exec
