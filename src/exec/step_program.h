// SPDX-License-Identifier: Apache-2.0
// StepProgram: the runner for graphs with data-dependent shapes (shapes computed from values,
// control flow, sequences). Parts with fixed shapes, as large as the order of nodes allows, are
// plans; the nodes between them run one by one with kernels planned for the current shapes; these
// plans are cached. Tensors come from a pool of blocks; a run allocates nothing if its shapes, and
// the small integers that determine them, occurred before.
// Thread-safe.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/spare_pool.h"
#include "exec/model.h"
#include "exec/node_runner.h"
#include "exec/run_value.h"
#include "graph/graph.h"
#include "trace/names.h"

namespace anynpu::exec {

class StepProgram {
 public:
  // `graph` is verified and inferred (compile/passes.h); it may be destroyed afterwards.
  // `observer`, when not null, sees every step; the caller of run() calls its begin().
  static Result<std::shared_ptr<const StepProgram>> make(
      const graph::Graph& graph, const ops::Target& target,
      const std::shared_ptr<StepObserver>& observer = nullptr);

  // Values in the order of the graph's inputs and outputs, one for each.
  Status run(std::span<const RunValue> inputs, std::span<RunValue> results) const;
  size_t outputs() const { return outputs_.size(); }

  Sizes sizes() const;  // of the plans inside
  std::vector<StepInfo> steps() const;

 private:
  // What a run fills in; one per value of the graph.
  using Frame = std::vector<RunValue>;

  // What one run at a time uses, kept for the next.
  struct State {
    Frame frame;
    std::vector<const RunValue*> inputs;
    std::vector<RunValue> outputs;
    std::vector<Buffer> in, out;
  };

  struct ProgramStep {
    std::vector<graph::ValueId> inputs, outputs;
    std::vector<graph::ValueId> done;   // values that no later step reads
    std::shared_ptr<LoadedModel> plan;  // one of the two
    std::unique_ptr<NodeRunner> node;
    std::string name, op;
    bool observed = false;
    trace::NameId trace_name{}, description{};  // of a node; plans trace their own steps
  };

  Status add_plan(const graph::Graph& graph, const std::vector<size_t>& nodes);
  Status add_node(const graph::Graph& graph, const graph::Node& node);
  void find_last_uses();
  const RunValue& value(const Frame& frame, graph::ValueId id) const;
  Status run_steps(State& state) const;
  Status run_plan(const ProgramStep& step, State& state) const;
  Status run_node(const ProgramStep& step, State& state) const;
  Status run_observed(const ProgramStep& step, std::span<const RunValue* const> inputs,
                      std::span<RunValue> outputs) const;

  std::vector<graph::ValueId> inputs_, outputs_;
  std::vector<RunValue> constants_;      // one per value; nothing where it is none
  std::vector<graph::Value> described_;  // what is known of each value before the run, without data
  std::vector<ProgramStep> steps_;
  ops::Target target_;
  std::shared_ptr<StepObserver> observer_;
  mutable SparePool<State> states_;
};

// Splits `graph` into parts in execution order: they alternate between nodes with fixed shapes
// (planned) and the others.
struct Region {
  bool planned = false;
  std::vector<size_t> nodes;
};
std::vector<Region> split_regions(const graph::Graph& graph);

}  // namespace anynpu::exec
