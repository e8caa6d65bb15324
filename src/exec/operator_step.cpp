// SPDX-License-Identifier: Apache-2.0
// An operator of a StepProgram. Its kernel is planned for the current shapes; recent plans are
// cached, and weights are packed once for all of them.
#include <algorithm>
#include <cstring>
#include <list>
#include <mutex>

#include "base/spare_pool.h"
#include "exec/block_pool.h"
#include "exec/node_runner.h"
#include "ops/blocked_layout.h"
#include "ops/registry.h"

namespace anynpu::exec {

namespace {

using ops::Layout;
using ops::layout_at;
using ops::OpContext;
using ops::Operand;

constexpr size_t kMostPlans = 16;
constexpr size_t kMostValueBytes = 256;

// Memory for bytes that are no tensor.
Result<std::shared_ptr<std::byte>> take_bytes(size_t bytes) {
  if (bytes == 0) return std::shared_ptr<std::byte>{};
  auto memory = take_block(bytes);
  if (!memory) return fail(Code::out_of_memory, "{} bytes cannot be allocated", bytes);
  return memory;
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
  bool by_values = false;
  std::vector<std::byte> values;  // then: of the small integers among them, one behind the other
  std::unique_ptr<ops::Kernel> kernel;
  std::unique_ptr<ops::KernelPlan> plan;
  std::shared_ptr<std::byte> packed;
  std::vector<Operand> outputs;
};

class OperatorStep final : public NodeRunner {
 public:
  OperatorStep(const graph::Graph& graph, const graph::Node& node, const ops::Target& target,
               size_t formal_inputs)
      : node_(node), target_(target), formal_inputs_(formal_inputs) {
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
    auto cache = caches_.take();
    if (!cache) cache = std::make_unique<Cache>();
    Status status = run_with(*cache, inputs, outputs);
    caches_.give(std::move(cache));
    return status;
  }

 private:
  // What one run at a time uses: runs at the same time have one each, so that none waits.
  struct Cache {
    std::list<std::unique_ptr<Planned>> plans;  // the last used one first
    std::unique_ptr<Planned> once;              // for values, not for shapes
    std::vector<const std::byte*> sources;
    std::vector<std::byte*> targets;
    std::vector<std::shared_ptr<std::byte>> kept;
  };

  Status run_with(Cache& cache, std::span<const RunValue* const> inputs,
                  std::span<RunValue> outputs) const {
    ANYNPU_ASSIGN(const Planned* planned, find_or_plan(cache, inputs));
    Status status = run_planned(*planned, cache, inputs, outputs);
    cache.kept.clear();
    cache.once.reset();
    return status;
  }

  // Integers that determine shapes (the target of a Reshape): plans are cached by their values.
  static bool is_small(const RunValue& input) {
    return input.is_tensor() && (input.dtype == DType::i64 || input.dtype == DType::i32) &&
           input.bytes() <= kMostValueBytes;
  }

  static bool same_values(const Planned& planned, std::span<const RunValue* const> inputs) {
    size_t at = 0;
    for (const RunValue* input : inputs) {
      if (!is_small(*input)) continue;
      const size_t bytes = input->bytes();
      if (planned.values.size() - at < bytes ||
          (bytes > 0 && std::memcmp(planned.values.data() + at, input->data.get(), bytes) != 0))
        return false;
      at += bytes;
    }
    return true;
  }

  static bool fits(const Planned& planned, std::span<const RunValue* const> inputs) {
    if (planned.by_values && !same_values(planned, inputs)) return false;
    return std::equal(planned.key.begin(), planned.key.end(), inputs.begin(), inputs.end(),
                      [](const Planned::Key& key, const RunValue* input) {
                        return key.dtype == input->dtype && key.shape == input->shape;
                      });
  }

  Result<const Planned*> find_or_plan(Cache& cache, std::span<const RunValue* const> inputs) const {
    auto& plans = cache.plans;
    for (auto at = plans.begin(); at != plans.end(); ++at) {
      if (!fits(**at, inputs)) continue;
      plans.splice(plans.begin(), plans, at);
      return plans.front().get();
    }
    // What the shapes of inputs decide holds for every run with these shapes, and what a few
    // integers decide for every run with these too; what other values decide for this run alone.
    auto context = infer(inputs, Known::constants);
    const bool by_values = !context.ok() || !outputs_known(*context);
    if (by_values) context = infer(inputs, Known::integers);
    const bool lasting = context.ok() && outputs_known(*context);
    if (!lasting) context = infer(inputs, Known::all);
    ANYNPU_TRY(context.status());
    if (!outputs_known(*context)) {
      return fail(Code::unsupported_shape, "{}: the shape of an output cannot be told",
                  context->label());
    }
    ANYNPU_ASSIGN(auto planned, make(*context));
    if (!lasting) {
      cache.once = std::move(planned);
      return cache.once.get();
    }
    planned->by_values = by_values;
    for (const RunValue* input : inputs) {
      planned->key.push_back({input->dtype, input->shape});
      if (by_values && is_small(*input)) {
        const std::byte* data = input->data.get();
        planned->values.insert(planned->values.end(), data, data + input->bytes());
      }
    }
    plans.push_front(std::move(planned));
    if (plans.size() > kMostPlans) plans.pop_back();
    return plans.front().get();
  }

  // Inputs whose values the shape rule may look at.
  enum class Known { constants, integers, all };

  Result<OpContext> infer(std::span<const RunValue* const> inputs, Known known) const {
    std::vector<Operand> operands;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (!inputs[i]->is_tensor()) {
        operands.push_back(Operand::absent());
        continue;
      }
      Operand operand = Operand::of(inputs[i]->dtype, inputs[i]->shape);
      operand.is_constant = is_constant_[i] || known == Known::all ||
                            (known == Known::integers && is_small(*inputs[i]));
      if (operand.is_constant) operand.constant = {inputs[i]->data.get(), inputs[i]->bytes()};
      operands.push_back(std::move(operand));
    }
    return ops::infer(node_, std::move(operands), target_);
  }

  static bool outputs_known(const OpContext& context) {
    return std::all_of(context.outputs.begin(), context.outputs.end(), [](const Operand& output) {
      return !output.present || output.fully_known();
    });
  }

  Result<std::unique_ptr<Planned>> make(const OpContext& context) const {
    auto planned = std::make_unique<Planned>();
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

  Status run_planned(const Planned& planned, Cache& cache, std::span<const RunValue* const> inputs,
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
    auto& sources = cache.sources;
    auto& targets = cache.targets;
    auto& kept = cache.kept;
    sources.assign(std::max(inputs.size(), formal_inputs_), nullptr);
    for (size_t i = 0; i < inputs.size(); ++i) {
      sources[i] = inputs[i]->data.get();
      if (!inputs[i]->is_tensor() || layout_at(plan.input_layouts, i) == Layout::plain) continue;
      ANYNPU_ASSIGN(auto blocked, reordered(*inputs[i], layout_at(plan.input_layouts, i)));
      sources[i] = blocked.get();
      kept.push_back(std::move(blocked));
    }
    targets.assign(outputs.size(), nullptr);
    for (size_t i = 0; i < outputs.size(); ++i) {
      const Operand& output = planned.outputs[i];
      if (!output.present) continue;
      ANYNPU_TRY(make_tensor(output.dtype, output.shape, outputs[i]));
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
  const ops::Target target_;
  std::vector<bool> is_constant_;
  size_t formal_inputs_ = 0;  // kernels may look at every formal input, given or not
  mutable SparePool<Cache> caches_;
  mutable std::mutex mutex_;  // guards what is packed; taken when a plan is made
  mutable std::vector<Packed> packed_;
};

}  // namespace

NodeRunnerResult make_operator_step(const graph::Graph& graph, const graph::Node& node,
                                    const ops::Target& target) {
  ANYNPU_ASSIGN(const ops::OpSchema* schema, ops::Registry::instance().find(node));
  return std::unique_ptr<NodeRunner>(
      std::make_unique<OperatorStep>(graph, node, target, schema->inputs.size()));
}

}  // namespace anynpu::exec
