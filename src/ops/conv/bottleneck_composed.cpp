// SPDX-License-Identifier: Apache-2.0
#include "ops/conv/bottleneck_composed.h"

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/conv/bottleneck.h"
#include "ops/registry.h"

namespace anynpu::ops::conv {

namespace {

constexpr int kBefore = -2;  // the result of the step before

// A convolution, or a change of layout between two of them.
struct ComposedStep {
  std::unique_ptr<KernelPlan> work;
  std::array<int, 4> inputs = {kBefore, kNoInput, kNoInput, kNoInput};  // of the operator
  size_t packed_at = 0, out_at = 0;
};

struct ComposedPlan final : KernelPlan {
  std::vector<ComposedStep> steps;
  size_t scratch_at = 0;  // workspace of the step that runs

  Status run(const RunArgs& args) const override {
    const std::byte* before = nullptr;
    for (const ComposedStep& step : steps) {
      std::array<const std::byte*, 4> inputs{};
      for (size_t i = 0; i < inputs.size(); ++i) {
        const int from = step.inputs[i];
        if (from == kBefore) inputs[i] = before;
        if (from >= 0) inputs[i] = args.inputs[static_cast<size_t>(from)];
      }
      std::byte* out = &step == &steps.back() ? args.outputs[0] : args.workspace + step.out_at;
      ANYNPU_TRY(step.work->run(
          {inputs, {&out, 1}, args.packed + step.packed_at, args.workspace + scratch_at}));
      before = out;
    }
    return {};
  }
};

class Composed final : public Kernel {
 public:
  struct Part {
    std::unique_ptr<Kernel> kernel;
    size_t packed_at = 0;
    std::array<int, 4> inputs;  // of the operator
  };
  explicit Composed(std::vector<Part> parts) : parts_(std::move(parts)) {}

  size_t packed_bytes() const override {
    return parts_.back().packed_at +
           round_up(parts_.back().kernel->packed_bytes(), kBufferAlignment);
  }
  bool packs_input(size_t input) const override {
    for (const Part& part : parts_) {
      for (size_t i = 0; i < part.inputs.size(); ++i) {
        if (part.inputs[i] == static_cast<int>(input)) return part.kernel->packs_input(i);
      }
    }
    return false;
  }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    ANYNPU_ASSIGN(const std::vector<StageConv> stages, stages_of(context));
    for (size_t i = 0; i < parts_.size(); ++i) {
      Kernel& kernel = *parts_[i].kernel;
      ANYNPU_TRY(kernel.pack(stages[i].context,
                             packed.subspan(parts_[i].packed_at, kernel.packed_bytes())));
    }
    return {};
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(std::vector<StageConv> stages, stages_of(context));
    auto made = std::make_unique<ComposedPlan>();
    made->input_layouts.assign(context.inputs.size(), Layout::plain);
    Layout before = context.inputs[kBlockInput].layout;
    size_t scratch = 0;
    const auto add = [&](ComposedStep step, const Operand& result) {
      scratch = std::max(scratch, step.work->workspace_bytes);
      before = layout_at(step.work->output_layouts, 0);
      step.out_at = made->scratch_at;
      made->scratch_at +=
          round_up(stored_bytes(result.dtype, result.shape, before), kBufferAlignment);
      made->steps.push_back(std::move(step));
    };
    for (size_t i = 0; i < parts_.size(); ++i) {
      stages[i].context.inputs[0].layout = before;
      ComposedStep step;
      ANYNPU_ASSIGN(step.work, parts_[i].kernel->plan(stages[i].context));
      step.inputs = parts_[i].inputs;
      step.packed_at = parts_[i].packed_at;
      const Operand& x = stages[i].context.inputs[0];
      const Layout wanted = layout_at(step.work->input_layouts, 0);
      if (i == 0) made->input_layouts[kBlockInput] = wanted;
      if (i > 0 && wanted != before) {
        ComposedStep move;
        move.work = plan_reorder(x.dtype, x.shape, before, wanted);
        move.work->output_layouts = {wanted};
        add(std::move(move), x);
      }
      add(std::move(step), stages[i].context.outputs[0]);
    }
    const KernelPlan& last = *made->steps.back().work;
    made->input_layouts[kBlockResidual] = layout_at(last.input_layouts, 3);
    made->output_layouts = {before};
    made->in_place_input = last.in_place_input == 3 ? static_cast<int>(kBlockResidual) : -1;
    made->scratch_at = made->steps.back().out_at;  // the last result is the operator's
    made->workspace_bytes = made->scratch_at + scratch;
    return std::unique_ptr<KernelPlan>(std::move(made));
  }

 private:
  std::vector<Part> parts_;
};

}  // namespace

Result<const KernelDef*> choose_fastest(const OpContext& stage) { return choose_kernel(stage); }

Result<const KernelDef*> choose_reference(const OpContext& stage) {
  return Registry::instance().kernels(stage.schema->name, stage.schema->domain).back();
}

template <ChooseKernel choose>
Result<std::unique_ptr<Kernel>> create_composed(const OpContext& context) {
  ANYNPU_ASSIGN(std::vector<StageConv> stages, stages_of(context));
  std::vector<Composed::Part> parts;
  size_t packed = 0;
  Layout before = context.inputs[kBlockInput].layout;
  for (StageConv& stage : stages) {
    stage.context.inputs[0].layout = before;
    ANYNPU_ASSIGN(const KernelDef* def, choose(stage.context));
    Composed::Part part;
    ANYNPU_ASSIGN(part.kernel, def->create(stage.context));
    ANYNPU_ASSIGN(const auto plan, part.kernel->plan(stage.context));
    before = layout_at(plan->output_layouts, 0);
    part.packed_at = packed;
    packed += round_up(part.kernel->packed_bytes(), kBufferAlignment);
    for (size_t i = 0; i < part.inputs.size(); ++i) part.inputs[i] = stage.input(i);
    part.inputs[0] = parts.empty() ? static_cast<int>(kBlockInput) : kBefore;
    parts.push_back(std::move(part));
  }
  return std::unique_ptr<Kernel>(std::make_unique<Composed>(std::move(parts)));
}

template Result<std::unique_ptr<Kernel>> create_composed<choose_fastest>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_composed<choose_reference>(const OpContext&);

}  // namespace anynpu::ops::conv
