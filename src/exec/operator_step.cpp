// SPDX-License-Identifier: Apache-2.0
// An operator of a StepProgram. Its kernel is planned for the shapes that come; the plans of the
// last shapes are kept, and weights are packed once for all of them.
#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>

#include "exec/node_runner.h"
#include "ops/layout.h"
#include "ops/registry.h"

namespace anynpu::exec {

namespace {

using ops::Layout;
using ops::OpContext;
using ops::Operand;

constexpr size_t kMostPlans = 16;

// Memory for bytes that are no tensor.
Result<std::shared_ptr<std::byte>> take_bytes(size_t bytes) {
  if (bytes == 0) return std::shared_ptr<std::byte>{};
  ANYNPU_ASSIGN(RunValue memory, new_tensor(DType::u8, {static_cast<int64_t>(bytes)}));
  return memory.data;
}

// What pack() wrote; kernels of one kind write the same bytes for the same constants.
struct Packed {
  const ops::KernelDef* def = nullptr;
  size_t bytes = 0;
  std::shared_ptr<std::byte> data;
};

struct Planned {
  struct Key {
    DType dtype = DType::undefined;
    Shape shape;
    bool operator==(const Key&) const = default;
  };
  std::vector<Key> key;  // of the inputs
  std::unique_ptr<ops::Kernel> kernel;
  std::unique_ptr<ops::KernelPlan> plan;
  std::shared_ptr<std::byte> packed;
  std::vector<Operand> outputs;
};

Layout layout_at(const std::vector<Layout>& layouts, size_t index) {
  return index < layouts.size() ? layouts[index] : Layout::plain;
}

class OperatorStep final : public NodeRunner {
 public:
  OperatorStep(const graph::Graph& graph, const graph::Node& node) : node_(node) {
    for (graph::ValueId id : node.inputs) {
      const bool constant =
          id != graph::kNoValue && graph.values[static_cast<size_t>(id)].constant != nullptr;
      is_constant_.push_back(constant);
    }
  }

  Status run(std::span<const RunValue* const> inputs, std::span<RunValue> outputs) const override {
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i]->kind != RunValue::Kind::sequence) continue;
      return fail(Code::unsupported_dtype, "{} '{}': input {} is a sequence; expected a tensor",
                  node_.op, node_.name, i);
    }
    ANYNPU_ASSIGN(const std::shared_ptr<const Planned> planned, find_or_plan(inputs));
    return run_planned(*planned, inputs, outputs);
  }

 private:
  static std::vector<Planned::Key> key_of(std::span<const RunValue* const> inputs) {
    std::vector<Planned::Key> key;
    for (const RunValue* input : inputs) key.push_back({input->dtype, input->shape});
    return key;
  }

  Result<std::shared_ptr<const Planned>> find_or_plan(
      std::span<const RunValue* const> inputs) const {
    std::vector<Planned::Key> key = key_of(inputs);
    {
      const std::lock_guard lock(mutex_);
      for (auto at = plans_.begin(); at != plans_.end(); ++at) {
        if ((*at)->key != key) continue;
        plans_.splice(plans_.begin(), plans_, at);
        return plans_.front();
      }
    }
    // What the shapes of inputs decide holds for every run with these shapes; what their values
    // decide for this run alone.
    auto context = infer(inputs, false);
    const bool lasting = context.ok() && outputs_known(*context);
    if (!lasting) context = infer(inputs, true);
    ANYNPU_TRY(context.status());
    if (!outputs_known(*context)) {
      return fail(Code::unsupported_shape, "{}: the shape of an output cannot be told",
                  context->label());
    }
    ANYNPU_ASSIGN(auto planned, make(*context));
    planned->key = std::move(key);
    if (lasting) {
      const std::lock_guard lock(mutex_);
      plans_.push_front(planned);
      if (plans_.size() > kMostPlans) plans_.pop_back();
    }
    return std::shared_ptr<const Planned>(std::move(planned));
  }

  Result<OpContext> infer(std::span<const RunValue* const> inputs, bool with_values) const {
    std::vector<Operand> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]->is_tensor()) {
        operands.push_back(Operand::absent());
        continue;
      }
      Operand operand = Operand::of(inputs[i]->dtype, inputs[i]->shape);
      operand.is_constant = with_values || is_constant_[i];
      if (operand.is_constant) operand.constant = {inputs[i]->data.get(), inputs[i]->bytes()};
      operands.push_back(std::move(operand));
    }
    return ops::infer(node_, std::move(operands));
  }

  static bool outputs_known(const OpContext& context) {
    return std::all_of(context.outputs.begin(), context.outputs.end(), [](const Operand& output) {
      return !output.present || output.fully_known();
    });
  }

  Result<std::shared_ptr<Planned>> make(const OpContext& context) const {
    auto planned = std::make_shared<Planned>();
    ANYNPU_ASSIGN(const ops::KernelDef* def, ops::choose_kernel(context));
    ANYNPU_ASSIGN(planned->kernel, def->create(context));
    ANYNPU_ASSIGN(planned->packed, pack(*def, *planned->kernel, context));
    ANYNPU_ASSIGN(planned->plan, planned->kernel->plan(context));
    planned->outputs = context.outputs;
    return planned;
  }

  Result<std::shared_ptr<std::byte>> pack(const ops::KernelDef& def, ops::Kernel& kernel,
                                          const OpContext& context) const {
    const size_t bytes = kernel.packed_bytes();
    const bool lasting =
        std::equal(is_constant_.begin(), is_constant_.end(), context.inputs.begin(),
                   [](bool constant, const Operand& in) { return constant == in.is_constant; });
    if (lasting && bytes > 0) {
      const std::lock_guard lock(mutex_);
      for (const Packed& packed : packed_) {
        if (packed.def == &def && packed.bytes == bytes) return packed.data;
      }
    }
    ANYNPU_ASSIGN(auto data, take_bytes(bytes));
    ANYNPU_TRY(kernel.pack(context, {data.get(), bytes}));
    if (lasting && bytes > 0) {
      const std::lock_guard lock(mutex_);
      packed_.push_back({&def, bytes, data});
    }
    return data;
  }

  Status run_planned(const Planned& planned, std::span<const RunValue* const> inputs,
                     std::span<RunValue> outputs) const {
    const ops::KernelPlan& plan = *planned.plan;
    const auto shared = static_cast<size_t>(plan.in_place_input);
    if (plan.view && plan.in_place_input >= 0 && shared < inputs.size() &&
        inputs[shared]->is_tensor()) {
      outputs[0] = *inputs[shared];
      outputs[0].dtype = planned.outputs[0].dtype;
      outputs[0].shape = planned.outputs[0].shape;
      return {};
    }
    std::vector<const std::byte*> sources(std::max(inputs.size(), formal_inputs(planned)));
    std::vector<std::shared_ptr<std::byte>> kept;
    for (size_t i = 0; i < inputs.size(); ++i) {
      sources[i] = inputs[i]->data.get();
      if (!inputs[i]->is_tensor() || layout_at(plan.input_layouts, i) == Layout::plain) continue;
      ANYNPU_ASSIGN(auto blocked, reordered(*inputs[i], layout_at(plan.input_layouts, i)));
      sources[i] = blocked.get();
      kept.push_back(std::move(blocked));
    }
    std::vector<std::byte*> targets(outputs.size(), nullptr);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Operand& output = planned.outputs[i];
      if (!output.present) continue;
      ANYNPU_ASSIGN(outputs[i], new_tensor(output.dtype, output.shape));
      targets[i] = outputs[i].data.get();
      if (layout_at(plan.output_layouts, i) == Layout::plain) continue;
      ANYNPU_ASSIGN(auto blocked, take_bytes(ops::stored_bytes(output.dtype, output.shape,
                                                               layout_at(plan.output_layouts, i))));
      targets[i] = blocked.get();
      kept.push_back(std::move(blocked));
    }
    ANYNPU_ASSIGN(const auto workspace, take_bytes(plan.workspace_bytes));
    ANYNPU_TRY(plan.run({sources, targets, planned.packed.get(), workspace.get()}));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!planned.outputs[i].present || layout_at(plan.output_layouts, i) == Layout::plain)
        continue;
      const auto back = ops::plan_reorder(outputs[i].dtype, outputs[i].shape,
                                          layout_at(plan.output_layouts, i), Layout::plain);
      const std::byte* from = targets[i];
      std::byte* to = outputs[i].data.get();
      if (back->view) {
        std::memcpy(to, from, outputs[i].bytes());
        continue;
      }
      ANYNPU_TRY(back->run({{&from, 1}, {&to, 1}, nullptr, nullptr}));
    }
    return {};
  }

  // Kernels may look at every formal input, given or not.
  size_t formal_inputs(const Planned&) const {
    const auto schema = ops::Registry::instance().find(node_);
    return schema.ok() ? (*schema)->inputs.size() : 0;
  }

  static Result<std::shared_ptr<std::byte>> reordered(const RunValue& tensor, Layout layout) {
    const auto plan = ops::plan_reorder(tensor.dtype, tensor.shape, Layout::plain, layout);
    if (plan->view) return tensor.data;
    ANYNPU_ASSIGN(auto blocked, take_bytes(ops::stored_bytes(tensor.dtype, tensor.shape, layout)));
    const std::byte* from = tensor.data.get();
    std::byte* to = blocked.get();
    ANYNPU_TRY(plan->run({{&from, 1}, {&to, 1}, nullptr, nullptr}));
    return blocked;
  }

  graph::Node node_;
  std::vector<bool> is_constant_;
  mutable std::mutex mutex_;                                 // guards the two lists
  mutable std::list<std::shared_ptr<const Planned>> plans_;  // the last used one first
  mutable std::vector<Packed> packed_;
};

}  // namespace

NodeRunnerResult make_operator_step(const graph::Graph& graph, const graph::Node& node) {
  ANYNPU_TRY(ops::Registry::instance().find(node).status());
  return std::unique_ptr<NodeRunner>(std::make_unique<OperatorStep>(graph, node));
}

}  // namespace anynpu::exec
