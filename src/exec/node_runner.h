// SPDX-License-Identifier: Apache-2.0
// One node of a StepProgram, run with values whose shapes are known only at run time. Logically
// immutable; any number of threads may run it at the same time.
#pragma once

#include <memory>
#include <span>

#include "exec/run_value.h"
#include "graph/graph.h"
#include "ops/kernel.h"
#include "ops/target.h"

namespace anynpu::exec {

class StepObserver;

class NodeRunner {
 public:
  virtual ~NodeRunner() = default;
  // `inputs` has one entry per input of the node (never null; nothing = left out); `outputs` one
  // per output.
  virtual Status run(std::span<const RunValue* const> inputs,
                     std::span<RunValue> outputs) const = 0;
};

using NodeRunnerResult = Result<std::unique_ptr<NodeRunner>>;

// An operator with kernels. `graph` holds its constants and may be destroyed afterwards.
NodeRunnerResult make_operator_step(const graph::Graph& graph, const graph::Node& node,
                                    const ops::Target& target);
// If, Loop, Scan, SequenceMap. `observer` may be null.
NodeRunnerResult make_flow_step(const graph::Node& node, const ops::Target& target,
                                const std::shared_ptr<StepObserver>& observer);
// Sequences and optionals.
NodeRunnerResult make_sequence_step(const graph::Node& node);

// True for the operators make_sequence_step takes.
bool is_sequence_op(const graph::Node& node);

}  // namespace anynpu::exec
