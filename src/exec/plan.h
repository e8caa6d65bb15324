// SPDX-License-Identifier: Apache-2.0
// Plan: a graph with fixed shapes, turned into steps for one target. Planning is pure: it packs
// nothing and allocates no model memory; its sizes are exact. A step refers to its operands by
// memory and offset, so that a run only binds addresses.
//
// In a plan for a back end with its own kernels, tensors and weights are in device memory. An
// operator without a device kernel is a fallback step: a CPU kernel on host views of its operands.
// Tensors that only fallback steps use are on the host.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "exec/observer.h"
#include "exec/weight_pool.h"
#include "graph/graph.h"
#include "ops/kernel.h"
#include "ops/target.h"

namespace anynpu::exec {

enum class OperandMemory : uint8_t {
  none,        // an operand left out, or packed by the kernel
  input,       // the caller's buffer `offset` (an index)
  output,      // the same
  weights,     // bytes from the start of a chunk of weights
  arena,       // bytes from the start of the work memory
  host_arena,  // the same on the host, in a plan for a device
};

struct Slot {
  OperandMemory memory = OperandMemory::none;
  size_t offset = 0;
  uint32_t chunk = 0;  // of Plan::chunks
};

struct PlanStep {
  std::unique_ptr<ops::KernelPlan> work;
  std::vector<Slot> inputs, outputs;
  Slot packed, workspace, thread_scratch;
  std::string name;                 // of the node; "reorder" and "copy" for steps of our own
  std::string kernel;               // the implementation that was chosen
  std::string op;                   // of the node; empty for steps of our own
  std::vector<StepTensor> in, out;  // as they lie in memory, without their addresses
  bool fallback = false;            // in a plan for a device: runs on the host
  std::string traced;               // what a profile says about it, see describe_step.h
};

// A tensor between operators, or a kernel's work space: the steps that it lives for, and its size.
struct ArenaUse {
  uint32_t first_step = 0;
  uint32_t last_step = 0;
  size_t bytes = 0;
};

// Plans inside a step (fixed_flow.h): filled, released and observed together with the outer plan.
class InnerPlans {
 public:
  virtual ~InnerPlans() = default;
  virtual Status fill_weights() = 0;
  virtual void forget_graph() = 0;
  virtual void observe_by(const std::shared_ptr<StepObserver>& observer) = 0;
};

struct TensorShape {
  DType dtype = DType::undefined;
  Shape shape;
};

struct Plan {
  std::vector<PlanStep> steps;
  std::vector<TensorShape> outputs;  // of the graph, as inferred for these input shapes
  // Packed weights and the constants that are used as they are; shared with other plans.
  std::vector<std::shared_ptr<WeightChunk>> chunks;
  bool observed = false;             // the steps have an observer (observe.h)
  bool on_device = false;            // steps that are no fallback are ops::EnqueuedPlan
  size_t work_bytes = 0;             // arena: intermediate tensors and workspaces
  size_t host_work_bytes = 0;        // the same for OperandMemory::host_arena
  std::vector<ArenaUse> arena_uses;  // what it is made of, for profiles
  size_t thread_scratch_stride = 0;  // from one thread to the next, the same for all steps
  std::vector<InnerPlans*> inner;    // parts of the steps
  bool memory_known = true;  // false: a step allocates, because shapes inside it are dynamic

  // Whether a launch needs nothing from the host: no fallback steps and no observer.
  bool only_enqueues() const;
  // One line of the log about the operators that `backend` has no kernel for, and the bytes that
  // are copied for them in each run.
  void log_fallbacks(std::string_view model, std::string_view backend) const;

  // Packs kernels and copies constants into the chunks that this plan was the first to use, once
  // they have memory; needs the graph that the plan was made from.
  Status fill_weights();
  // Drops what fill_weights needs; afterwards the graph may be destroyed too.
  void forget_graph();

  struct PackedKernel {
    std::unique_ptr<ops::Kernel> kernel;
    ops::OpContext context;
    Slot packed;  // none: another plan fills it
  };
  struct RawConstant {
    std::span<const std::byte> bytes;
    Slot place;
  };
  std::vector<PackedKernel> kernels;  // kept: plans may refer to their kernel
  std::vector<RawConstant> constants;
  // The graph with the fusions of plan_fusion.h, which fill_weights reads.
  std::shared_ptr<const graph::Graph> own_graph;
};

// `graph` is verified (nodes in topological order) and outlives fill_weights. Fails, naming the
// node, when an operator or a shape cannot be planned. `weights` has a chunk open; `observer` is
// for steps that make plans while they run. On the CPU element-wise operators are fused into each
// other and into products (compile/plan_fusion.h), unless an observer wants to see them.
Result<Plan> make_plan(const graph::Graph& graph, const ops::Target& target, WeightPool& weights,
                       const std::shared_ptr<StepObserver>& observer = nullptr);

}  // namespace anynpu::exec
