// SPDX-License-Identifier: Apache-2.0
#include "exec/plan.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "compile/plan_fusion.h"
#include "device/queue.h"
#include "exec/blocked_values.h"
#include "exec/describe_step.h"
#include "exec/fixed_flow.h"
#include "exec/flow_step.h"
#include "exec/memory.h"
#include "exec/plan_storage.h"
#include "graph/flow.h"
#include "ops/backend_kernels.h"
#include "ops/blocked_layout.h"
#include "ops/enqueued_plan.h"
#include "ops/plain_kernel.h"
#include "ops/registry.h"

namespace anynpu::exec {

namespace {

using graph::kNoValue;
using graph::ValueId;
using ops::Layout;

constexpr const char* kFallbackNote = " (on the host)";  // behind the name of a kernel

std::unique_ptr<ops::KernelPlan> host_copy(size_t bytes) {
  return ops::make_plan([bytes](const ops::RunArgs& args) {
    if (bytes > 0) std::memcpy(args.outputs[0], args.inputs[0], bytes);
  });
}

class EnqueuedCopy final : public ops::EnqueuedPlan {
 public:
  explicit EnqueuedCopy(size_t bytes) : bytes_(bytes) {}
  Status enqueue(const ops::RunArgs& args, device::Queue& queue) const override {
    return bytes_ == 0 ? Status() : queue.copy({args.outputs[0], args.inputs[0], bytes_});
  }

 private:
  size_t bytes_;
};
std::unique_ptr<ops::KernelPlan> enqueued_copy(size_t bytes) {
  return std::make_unique<EnqueuedCopy>(bytes);
}

class Planner {
 public:
  Planner(const graph::Graph& graph, const ops::Target& target, WeightPool& weights,
          const std::shared_ptr<StepObserver>& observer)
      : graph_(graph),
        target_(target),
        on_device_(target.backend != "cpu"),
        weights_(weights),
        observer_(observer),
        values_(graph.values.size()),
        storage_(on_device_) {
    for (size_t i = 0; i < values_.size(); ++i) {
      const graph::Value& v = graph.values[i];
      values_[i].dtype = v.dtype;
      values_[i].shape = v.shape;
      values_[i].has_shape = v.has_shape;
    }
  }

  Result<Plan> make() {
    plan_.on_device = on_device_;
    count_uses();
    for (size_t i = 0; i < graph_.inputs.size(); ++i) {
      const PlannedValue& v = planned(graph_.inputs[i]);
      if (!v.has_shape || !is_static(v.shape) || size_of(v.dtype) == 0) {
        return fail(
            Code::unsupported_shape,
            "input '{}' has shape {} and type {}, which are not fixed; give it a fixed shape "
            "when the model is compiled",
            value(graph_.inputs[i]).name, to_string(v.shape), name_of(v.dtype));
      }
      Storage storage{OperandMemory::input, i};
      storage.last_node = Storage::kNever;
      known(graph_.inputs[i], Layout::plain) = storage_.add(storage);
    }
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      ANYNPU_TRY(plan_node(static_cast<int>(n)), "while planning node '{}'", graph_.nodes[n].name);
    }
    ANYNPU_TRY(finish_outputs());
    storage_.place(plan_);
    return std::move(plan_);
  }

 private:
  struct PlannedValue {
    DType dtype = DType::undefined;  // of the graph until its node is planned, then as inferred
    Shape shape;
    bool has_shape = false;
    std::array<int, ops::kLayouts> stored{-1, -1, -1};  // storage by layout, -1 = not there
    int on_host = -1;                                   // storage of a constant for fallback steps
    int last_node = -1;  // last reader; Storage::kNever for an output
    int output = -1;     // index among the graph's outputs
    Layout made_in = Layout::plain;
    bool wants_blocked = false;  // by all its readers
  };
  PlannedValue& planned(ValueId id) { return values_[static_cast<size_t>(id)]; }
  const graph::Value& value(ValueId id) const { return graph_.values[static_cast<size_t>(id)]; }
  int& known(ValueId id, Layout layout) { return planned(id).stored[static_cast<size_t>(layout)]; }
  void count_uses() {
    for (size_t n = 0; n < graph_.nodes.size(); ++n) {
      for (ValueId id : graph_.nodes[n].inputs) {
        if (id != kNoValue) planned(id).last_node = static_cast<int>(n);
      }
    }
    if (!on_device_) {
      const std::vector<bool> blocked = find_blocked_values(graph_);
      for (size_t i = 0; i < values_.size(); ++i) values_[i].wants_blocked = blocked[i];
    }
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      PlannedValue& output = planned(graph_.outputs[i]);
      if (output.output < 0) output.output = static_cast<int>(i);
      output.last_node =
          Storage::kNever;  // in another layout it is read once more, behind the last node
    }
  }

  Slot slot_of(const WeightPool::Reserved& reserved) {
    const auto found = std::find(plan_.chunks.begin(), plan_.chunks.end(), reserved.chunk);
    const auto chunk = static_cast<uint32_t>(found - plan_.chunks.begin());
    if (found == plan_.chunks.end()) plan_.chunks.push_back(reserved.chunk);
    return {OperandMemory::weights, reserved.offset, chunk};
  }

  // A constant as it is, in the weight memory that steps of this kind read.
  int constant(ValueId id, bool fallback = false) {
    int& index = fallback ? planned(id).on_host : known(id, Layout::plain);
    if (index < 0) {
      const auto bytes = value(id).constant->bytes;
      const WeightSide side = on_device_ && !fallback ? WeightSide::device : WeightSide::host;
      const WeightPool::Reserved reserved = weights_.constant(bytes, side);
      const Slot slot = slot_of(reserved);
      Storage raw{OperandMemory::weights, slot.offset, bytes.size()};
      raw.chunk = slot.chunk;
      raw.side = side;
      raw.last_node = Storage::kNever;
      if (reserved.fresh) plan_.constants.push_back({bytes, slot});
      index = storage_.add(raw);
    }
    return index;
  }

  void push_step(PlanStep step, StepStorage use) {
    storage_.add_step(*step.work, step.fallback, std::move(use));
    plan_.steps.push_back(std::move(step));
  }

  // New memory for output `id` of the next step: the caller's when it is an output of the graph.
  int make_storage(ValueId id, DType dtype, const Shape& shape, Layout layout) {
    Storage fresh{OperandMemory::arena, 0, ops::stored_bytes(dtype, shape, layout),
                  storage_.next_step(), storage_.next_step()};
    fresh.last_node = planned(id).last_node;
    if (planned(id).output >= 0 && layout == Layout::plain) {
      fresh.memory = OperandMemory::output;
      fresh.offset = static_cast<size_t>(planned(id).output);
      fresh.last_node = Storage::kNever;
    }
    return storage_.add(fresh);
  }

  // The plan of a step that turns one layout of a tensor into another, one of them plain.
  Result<std::unique_ptr<ops::KernelPlan>> plan_reorder(const PlannedValue& v, Layout from,
                                                        Layout to) {
    if (from != ops::Layout::channels_last && to != ops::Layout::channels_last)
      return ops::plan_reorder(v.dtype, v.shape, from, to);
    const auto kernels =
        ops::backend_kernels(target_.backend, ops::kReorderOp, ops::kReorderDomain);
    if (kernels.empty()) {
      return fail(Code::internal, "{} has no kernel {}, and plans that need it", target_.backend,
                  ops::kReorderOp);
    }
    ops::OpContext context;
    context.target = target_;
    context.inputs = {ops::Operand::of(v.dtype, v.shape)};
    context.outputs = context.inputs;
    context.inputs[0].layout = from;
    context.outputs[0].layout = to;
    ANYNPU_ASSIGN(auto kernel, kernels[0]->create(context));
    ANYNPU_ASSIGN(auto work, kernel->plan(context));
    plan_.kernels.push_back({std::move(kernel), std::move(context), {}});
    return work;
  }

  // `id` in `layout`, converted by a separate step if only another layout exists. Between two
  // layouts that are not plain the conversion goes through the plain one.
  Result<int> in_layout(ValueId id, Layout layout = Layout::plain) {
    if (known(id, layout) >= 0) return known(id, layout);
    const Layout other = layout == Layout::plain ? planned(id).made_in : Layout::plain;
    if (layout != Layout::plain && known(id, other) < 0 && planned(id).made_in != Layout::plain)
      ANYNPU_TRY(in_layout(id, Layout::plain).status());
    const int from = known(id, other);
    if (from < 0) {
      return fail(Code::corrupt_model,
                  "value '{}' is used before a node makes it; export the model again",
                  value(id).name);
    }
    const Shape& shape = planned(id).shape;
    ANYNPU_ASSIGN(auto work, plan_reorder(planned(id), other, layout));
    if (work->view && !(layout == Layout::plain && planned(id).output >= 0)) {
      known(id, layout) = from;  // the same bytes
      return from;
    }
    const int to = make_storage(id, planned(id).dtype, shape, layout);
    PlanStep step;
    step.work = std::move(work);
    step.name = value(id).name;
    step.kernel = "reorder";
    step.fallback =
        on_device_ && other != ops::Layout::channels_last && layout != ops::Layout::channels_last;
    step.in = {{planned(id).dtype, shape, other}};
    step.out = {{planned(id).dtype, shape, layout}};
    step.traced = describe_move("TransData", planned(id).dtype, shape, value(id).format);
    push_step(std::move(step), {{from}, {to}});
    known(id, layout) = to;
    return to;
  }

  Status check_size(const ops::OpContext& context, const ops::Operand& operand) const {
    const int64_t count = operand.present ? element_count(operand.shape) : 0;
    if (count <= most_bytes_ / static_cast<int64_t>(std::max<size_t>(1, size_of(operand.dtype))))
      return {};
    return fail(Code::out_of_memory,
                "{}: a tensor of {} and {} is larger than the machine's {} bytes", context.label(),
                to_string(operand.shape), name_of(operand.dtype), most_bytes_);
  }

  Result<ops::OpContext> context_of(const graph::Node& node) {
    std::vector<ops::Operand> operands;
    for (ValueId id : node.inputs) {
      ops::Operand operand = ops::Operand::of(graph_, id);
      if (id != kNoValue) {
        operand.layout = planned(id).made_in;
        operand.dtype = planned(id).dtype;
        operand.shape = planned(id).shape;
        operand.has_shape = planned(id).has_shape;
      }
      operands.push_back(std::move(operand));
    }
    ANYNPU_ASSIGN(ops::OpContext context, ops::infer(node, std::move(operands), target_));
    for (const ops::Operand& input : context.inputs) ANYNPU_TRY(check_size(context, input));
    for (size_t i = 0; i < context.outputs.size(); ++i) {
      ops::Operand& output = context.outputs[i];
      if (output.present && !output.has_shape && planned(node.outputs[i]).has_shape) {
        output.shape = planned(node.outputs[i]).shape;  // as the model states; checked when it runs
        output.has_shape = true;
      }
      if (output.fully_known()) ANYNPU_TRY(check_size(context, output));
      if (output.present && planned(node.outputs[i]).wants_blocked)
        output.layout = Layout::blocked16;
      if (output.present && !output.fully_known()) {
        return fail(
            Code::unsupported_shape,
            "{}: the shape of output {} is not known before the model runs; give every input a "
            "fixed shape when the model is compiled",
            context.label(), i);
      }
    }
    return context;
  }

  static std::vector<StepTensor> tensors_of(const std::vector<ops::Operand>& operands,
                                            const std::vector<Layout>& layouts) {
    std::vector<StepTensor> tensors;
    for (size_t i = 0; i < operands.size(); ++i) {
      tensors.push_back(
          {operands[i].dtype, operands[i].shape, i < layouts.size() ? layouts[i] : Layout::plain});
    }
    return tensors;
  }

  Status plan_node(int n) {
    const graph::Node& node = graph_.nodes[static_cast<size_t>(n)];
    if (graph::has_subgraphs(node)) return plan_flow_node(n);
    ANYNPU_ASSIGN(ops::OpContext context, context_of(node));
    ANYNPU_ASSIGN(const ops::KernelDef* def, ops::choose_kernel(context));
    const bool fallback = on_device_ && def->backend != target_.backend;
    if (fallback) context.target = ops::Target::host();
    ANYNPU_ASSIGN(auto kernel, def->create(context));
    ANYNPU_ASSIGN(auto work, kernel->plan(context));

    StepStorage use;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const ValueId id = i < node.inputs.size() ? node.inputs[i] : kNoValue;
      if (id == kNoValue || kernel->packs_input(i)) {
        use.inputs.push_back(-1);
        continue;
      }
      const Layout layout = ops::layout_at(work->input_layouts, i);
      if (value(id).constant && fallback && layout == Layout::plain) {
        use.inputs.push_back(constant(id, fallback));
        continue;
      }
      if (value(id).constant) constant(id);
      ANYNPU_ASSIGN(const int index, in_layout(id, layout));
      use.inputs.push_back(index);
    }
    const bool view = place_outputs(n, context, *work, use);
    PlanStep step;
    step.op = node.op;
    step.in = tensors_of(context.inputs, work->input_layouts);
    step.out = tensors_of(context.outputs, work->output_layouts);
    step.name = node.name;
    step.fallback = fallback;
    step.kernel = std::string(def->name) + (fallback ? kFallbackNote : "");
    step.traced = describe_step(graph_, node, context, step.kernel);
    Slot unfilled;
    if (kernel->packed_bytes() > 0) {
      const WeightPool::Reserved reserved = weights_.packed(*def, *kernel, context);
      step.packed = slot_of(reserved);
      if (reserved.fresh) unfilled = step.packed;
    }
    plan_.kernels.push_back({std::move(kernel), std::move(context), unfilled});
    step.work = std::move(work);
    if (!view) push_step(std::move(step), std::move(use));
    return {};
  }

  // Control flow between tensors of fixed shapes is one step. Graphs of dynamic shapes have
  // memory of their own.
  Status plan_flow_node(int n) {
    const graph::Node& node = graph_.nodes[static_cast<size_t>(n)];
    StepStorage use;
    ops::OpContext context;
    context.node = &node;
    std::vector<TensorShape> given, made;
    for (ValueId id : node.inputs) {
      given.push_back(id == kNoValue ? TensorShape{}
                                     : TensorShape{planned(id).dtype, planned(id).shape});
      context.inputs.push_back(id == kNoValue
                                   ? ops::Operand::absent()
                                   : ops::Operand::of(given.back().dtype, given.back().shape));
      if (id != kNoValue && value(id).constant) constant(id);
      use.inputs.push_back(-1);
      if (id != kNoValue) {
        ANYNPU_ASSIGN(use.inputs.back(), in_layout(id));
      }
    }
    for (ValueId id : node.outputs) {
      made.push_back(id == kNoValue ? TensorShape{}
                                    : TensorShape{planned(id).dtype, planned(id).shape});
      context.outputs.push_back(ops::Operand::of(made.back().dtype, made.back().shape));
      ANYNPU_TRY(check_size(context, context.outputs.back()));
    }
    PlanStep step;
    step.name = node.name;
    step.fallback = on_device_;
    step.kernel = on_device_ ? std::string("flow") + kFallbackNote : "flow";
    step.in = tensors_of(context.inputs, {});
    step.out = tensors_of(context.outputs, {});
    step.traced = describe_step(graph_, node, context, step.kernel);
    // The host decides what runs next, so what is inside runs on the host as well.
    const ops::Target target = on_device_ ? ops::Target::host() : target_;
    ANYNPU_ASSIGN(FixedFlow fixed, plan_fixed_flow(node, given, made, target, weights_, observer_));
    if (fixed.work) {
      step.work = std::move(fixed.work);
      plan_.inner.push_back(fixed.inner);
      plan_.memory_known = plan_.memory_known && fixed.memory_known;
    } else {
      ANYNPU_ASSIGN(step.work,
                    plan_flow(node, std::move(given), std::move(made), target, observer_));
      plan_.memory_known = false;
    }
    place_outputs(n, context, *step.work, use);
    push_step(std::move(step), std::move(use));
    return {};
  }

  // Storage of each output; true when the node needs no step because input and output share bytes.
  bool place_outputs(int n, const ops::OpContext& context, const ops::KernelPlan& work,
                     StepStorage& use) {
    const graph::Node& node = graph_.nodes[static_cast<size_t>(n)];
    bool view = false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const ValueId id = node.outputs[i];
      if (id == kNoValue) {
        use.outputs.push_back(-1);
        continue;
      }
      const ops::Operand& output = context.outputs[i];
      const Layout layout = i < work.output_layouts.size() ? work.output_layouts[i] : Layout::plain;
      int index = -1;
      if (i == 0 && work.in_place_input >= 0) {
        const int shared = use.inputs[static_cast<size_t>(work.in_place_input)];
        const bool external = planned(id).output >= 0 && layout == Layout::plain;
        // A step of the device may read the output: it must not be among host weights.
        const bool of_host = shared >= 0 && on_device_ &&
                             storage_[shared].memory == OperandMemory::weights &&
                             storage_[shared].side == WeightSide::host;
        if (!external && shared >= 0 && work.view && !of_host) {
          index = shared;
          view = true;
        } else if (!external && shared >= 0 &&
                   storage_.may_overwrite(n, use, work.in_place_input,
                                          ops::stored_bytes(output.dtype, output.shape, layout))) {
          index = shared;
        }
      }
      if (index < 0) {
        index = make_storage(id, output.dtype, output.shape, layout);
      } else {
        Storage& shared = storage_[index];
        shared.last_node = std::max(shared.last_node, planned(id).last_node);
        shared.last_step = std::max(shared.last_step, storage_.next_step());
      }
      use.outputs.push_back(index);
      known(id, layout) = index;
      planned(id).made_in = layout;
      planned(id).dtype = output.dtype;
      planned(id).shape = output.shape;
      planned(id).has_shape = true;
    }
    return view;
  }

  // Outputs that no step has written into the caller's buffer yet.
  Status finish_outputs() {
    for (size_t i = 0; i < graph_.outputs.size(); ++i) {
      const ValueId id = graph_.outputs[i];
      const graph::Value& v = value(id);
      const Shape shape = planned(id).shape;
      const DType dtype = planned(id).dtype;
      plan_.outputs.push_back({dtype, shape});
      if (v.constant) constant(id);
      ANYNPU_ASSIGN(const int index, in_layout(id), "output '{}'", v.name);
      const Storage& from = storage_[index];
      if (from.memory == OperandMemory::output && from.offset == i) continue;
      const size_t bytes = ops::stored_bytes(dtype, shape, Layout::plain);
      const int now = storage_.next_step();
      const int to = storage_.add({OperandMemory::output, i, bytes, now, now});
      PlanStep step;
      step.work = on_device_ ? enqueued_copy(bytes) : host_copy(bytes);
      step.name = v.name;
      step.kernel = "copy";
      step.traced = describe_move("Copy", dtype, shape, v.format);
      push_step(std::move(step), {{index}, {to}});
    }
    return {};
  }

  const graph::Graph& graph_;
  const ops::Target target_;
  const bool on_device_;  // it has kernels of its own
  WeightPool& weights_;
  const std::shared_ptr<StepObserver> observer_;
  const int64_t most_bytes_ = machine_bytes();
  std::vector<PlannedValue> values_;
  PlanStorage storage_;
  Plan plan_;
};

}  // namespace

Result<Plan> make_plan(const graph::Graph& graph, const ops::Target& target, WeightPool& weights,
                       const std::shared_ptr<StepObserver>& observer) {
  const bool fuses = target.backend == "cpu" && !observer;
  if (!fuses && !compile::has_quantized_weights(graph))
    return Planner(graph, target, weights, observer).make();
  auto fused = std::make_shared<graph::Graph>(graph);
  if (fuses) {
    ANYNPU_TRY(compile::join_quantized(*fused));
    ANYNPU_TRY(compile::join_weight_only(*fused));
  }
  ANYNPU_TRY(compile::unpack_weights(*fused));
  if (fuses) {
    ANYNPU_TRY(compile::widen_shorts(*fused));
    ANYNPU_TRY(compile::join_elementwise(*fused));
    ANYNPU_TRY(compile::join_epilogues(*fused));
  }
  ANYNPU_ASSIGN(Plan plan, Planner(*fused, target, weights, observer).make());
  plan.own_graph = std::move(fused);
  return plan;
}

}  // namespace anynpu::exec
