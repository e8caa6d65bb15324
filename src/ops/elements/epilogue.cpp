// SPDX-License-Identifier: Apache-2.0
#include "ops/elements/epilogue.h"

#include <algorithm>
#include <utility>

#include "ops/blocked_layout.h"
#include "ops/registry.h"

namespace anynpu::ops {

namespace {

constexpr int64_t kPieceOfResult = 512;  // elements

// The result of a plan, and FusedElementwise over it in place.
class EpiloguePlan final : public KernelPlan {
 public:
  EpiloguePlan(std::unique_ptr<KernelPlan> inner, std::unique_ptr<KernelPlan> after)
      : inner_(std::move(inner)), after_(std::move(after)) {
    input_layouts = inner_->input_layouts;
    output_layouts = inner_->output_layouts;
    workspace_bytes = inner_->workspace_bytes;
    thread_scratch_count = inner_->thread_scratch_count;
    thread_scratch_bytes = inner_->thread_scratch_bytes;
    in_place_input = inner_->in_place_input;
  }

  Status run(const RunArgs& args) const override {
    ANYNPU_TRY(inner_->run(args));
    const std::byte* const in[] = {args.outputs[0]};
    RunArgs rest;
    rest.inputs = in;
    rest.outputs = args.outputs.first(1);
    return after_->run(rest);
  }

 private:
  std::unique_ptr<KernelPlan> inner_, after_;
};

class EpilogueKernel final : public Kernel {
 public:
  explicit EpilogueKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}

  size_t packed_bytes() const override { return inner_->packed_bytes(); }
  bool packs_input(size_t input) const override { return inner_->packs_input(input); }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    return inner_->pack(context, packed);
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    ANYNPU_ASSIGN(auto first, inner_->plan(context));
    graph::Node node;
    node.op = "FusedElementwise";
    node.domain = "anynpu";
    node.opset = 1;
    node.name = context.node->name;
    node.inputs = {0};
    node.outputs = {1};
    for (const char* key : {"steps", "operands", "numbers"}) {
      const auto found = context.node->attrs.find(key);
      if (found != context.node->attrs.end()) node.attrs.insert(*found);
    }
    Operand result = Operand::of(context.outputs[0].dtype, context.outputs[0].shape);
    result.layout = layout_at(first->output_layouts, 0);
    ANYNPU_ASSIGN(OpContext after, infer(node, {result}, context.target));
    ANYNPU_ASSIGN(const KernelDef* def, choose_kernel(after));
    ANYNPU_ASSIGN(auto kernel, def->create(after));
    ANYNPU_ASSIGN(auto second, kernel->plan(after));
    if (layout_at(second->input_layouts, 0) != result.layout) {
      return fail(Code::internal, "{}: the epilogue cannot follow the layout of the result",
                  context.label());
    }
    return std::unique_ptr<KernelPlan>(
        std::make_unique<EpiloguePlan>(std::move(first), std::move(second)));
  }

 private:
  std::unique_ptr<Kernel> inner_;
};

}  // namespace

Result<StepsEpilogue> StepsEpilogue::of(const OpContext& context, Isa isa) {
  StepsEpilogue made;
  if (!has_epilogue(context)) return made;
  ANYNPU_ASSIGN(const Program program, Program::of(context, 1));
  made.program_.emplace(program, isa);
  return made;
}

void StepsEpilogue::apply(float* x, int64_t count) const {
  alignas(kBufferAlignment) float registers[kMostRegisters * kPieceOfResult];
  for (int64_t at = 0; at < count; at += kPieceOfResult) {
    const float* in[] = {x + at};
    program_->run(in, registers, kPieceOfResult, x + at, std::min(kPieceOfResult, count - at));
  }
}

Result<std::unique_ptr<Kernel>> add_epilogue(const OpContext& context,
                                             std::unique_ptr<Kernel> inner) {
  if (!has_epilogue(context)) return inner;
  return std::unique_ptr<Kernel>(std::make_unique<EpilogueKernel>(std::move(inner)));
}

}  // namespace anynpu::ops
