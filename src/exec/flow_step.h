// SPDX-License-Identifier: Apache-2.0
// Control flow as a step of a plan: for If, Loop and Scan whose inputs and outputs have fixed
// shapes, but not everything inside (otherwise: fixed_flow.h).
#pragma once

#include <memory>
#include <vector>

#include "exec/plan.h"
#include "graph/graph.h"
#include "ops/kernel.h"

namespace anynpu::exec {

// `inputs` and `outputs` are what the plan binds, one per input and output of the node; a type of
// undefined = left out. A run that produces another shape fails.
Result<std::unique_ptr<ops::KernelPlan>> plan_flow(const graph::Node& node,
                                                   std::vector<TensorShape> inputs,
                                                   std::vector<TensorShape> outputs,
                                                   const ops::Target& target,
                                                   const std::shared_ptr<StepObserver>& observer);

}  // namespace anynpu::exec
