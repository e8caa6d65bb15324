// SPDX-License-Identifier: Apache-2.0
#include "ops/widen.h"

#include "base/align.h"
#include "ops/blocked_layout.h"
#include "ops/parallel.h"
#include "ops/registry.h"
#include "tensor/half_arrays.h"

namespace anynpu::ops {

namespace {

constexpr size_t kMinRange = size_t{1} << 14;

bool is_short(const Operand& operand) { return operand.present && kShortFloats.has(operand.dtype); }

// The context in float32; its constants are in `buffers`.
OpContext widened(const OpContext& context, std::vector<std::vector<float>>& buffers) {
  OpContext wide = context;
  buffers.resize(context.inputs.size());
  for (size_t i = 0; i < wide.inputs.size(); ++i) {
    Operand& input = wide.inputs[i];
    if (!is_short(input)) continue;
    if (input.is_constant) {
      buffers[i].resize(input.constant.size() / 2);
      widen(input.dtype, input.constant.data(), buffers[i].data(), buffers[i].size());
      input.constant = std::as_bytes(std::span(buffers[i]));
    }
    input.dtype = DType::f32;
  }
  for (Operand& output : wide.outputs) {
    if (is_short(output)) output.dtype = DType::f32;
  }
  return wide;
}

// The same for questions about shapes: the bytes of constants are still the short ones.
OpContext widened_shapes(const OpContext& context) {
  OpContext wide = context;
  for (auto* operands : {&wide.inputs, &wide.outputs}) {
    for (Operand& operand : *operands) {
      if (is_short(operand)) operand.dtype = DType::f32;
    }
  }
  return wide;
}

// One operand on its way between the short type and float32, in the layout of the inner kernel.
struct Passage {
  bool used = false;
  DType dtype = DType::undefined;
  size_t count = 0;
  size_t place = 0;  // in the workspace
};

class WidenedPlan final : public KernelPlan {
 public:
  std::unique_ptr<KernelPlan> inner;
  std::vector<Passage> inputs, outputs;
  size_t inner_workspace = 0;

  Status run(const RunArgs& args) const override {
    // Operators have few operands: the pointers stay on the stack.
    const std::byte* in[16] = {};
    std::byte* out[16] = {};
    for (size_t i = 0; i < inputs.size(); ++i) {
      in[i] = args.inputs[i];
      if (inputs[i].used && in[i]) in[i] = take_in(inputs[i], args, in[i]);
    }
    for (size_t i = 0; i < outputs.size(); ++i) {
      out[i] = outputs[i].used ? args.workspace + outputs[i].place : args.outputs[i];
    }
    const RunArgs wide{
        {in, inputs.size()}, {out, outputs.size()}, args.packed, args.workspace + inner_workspace};
    ANYNPU_TRY(inner->run(wide));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].used && args.outputs[i]) give_out(outputs[i], args, args.outputs[i]);
    }
    return {};
  }

 private:
  static const std::byte* take_in(const Passage& passage, const RunArgs& args,
                                  const std::byte* data) {
    auto* wide = reinterpret_cast<float*>(args.workspace + passage.place);
    parallel(passage.count, kMinRange, [&](size_t begin, size_t end) {
      widen(passage.dtype, data + begin * 2, wide + begin, end - begin);
    });
    return args.workspace + passage.place;
  }

  static void give_out(const Passage& passage, const RunArgs& args, std::byte* data) {
    const auto* wide = reinterpret_cast<const float*>(args.workspace + passage.place);
    parallel(passage.count, kMinRange, [&](size_t begin, size_t end) {
      narrow(passage.dtype, wide + begin, data + begin * 2, end - begin);
    });
  }
};

class WidenedKernel final : public Kernel {
 public:
  explicit WidenedKernel(std::unique_ptr<Kernel> inner) : inner_(std::move(inner)) {}

  size_t packed_bytes() const override { return inner_->packed_bytes(); }
  bool packs_input(size_t input) const override { return inner_->packs_input(input); }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    std::vector<std::vector<float>> buffers;
    return inner_->pack(widened(context, buffers), packed);
  }

  Result<std::unique_ptr<KernelPlan>> plan(const OpContext& context) const override {
    const OpContext wide = widened_shapes(context);
    auto made = std::make_unique<WidenedPlan>();
    ANYNPU_ASSIGN(made->inner, inner_->plan(wide));
    size_t used = 0;
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const bool packed = context.inputs[i].is_constant && inner_->packs_input(i);
      made->inputs.push_back(
          passage(context.inputs[i], layout_at(made->inner->input_layouts, i), packed, used));
    }
    for (size_t i = 0; i < context.outputs.size(); ++i) {
      made->outputs.push_back(
          passage(context.outputs[i], layout_at(made->inner->output_layouts, i), false, used));
    }
    made->input_layouts = made->inner->input_layouts;
    made->output_layouts = made->inner->output_layouts;
    made->inner_workspace = used;
    made->workspace_bytes = used + made->inner->workspace_bytes;
    return std::unique_ptr<KernelPlan>(std::move(made));
  }

 private:
  static Passage passage(const Operand& operand, Layout layout, bool packed, size_t& used) {
    Passage one;
    one.used = is_short(operand) && !packed;
    if (!one.used) return one;
    one.dtype = operand.dtype;
    one.count = static_cast<size_t>(stored_elements(operand.shape, layout));
    one.place = used;
    used += round_up(one.count * sizeof(float), kBufferAlignment);
    return one;
  }

  std::unique_ptr<Kernel> inner_;
};

}  // namespace

Status can_run_widened(const OpContext& context) {
  if (context.inputs.size() > 16 || context.outputs.size() > 16)
    return fail(Code::unsupported_feature, "takes up to 16 operands");
  ANYNPU_ASSIGN(const KernelDef* kernel, choose_kernel(widened_shapes(context)));
  if (kernel->name.find("reference") == std::string_view::npos) return {};
  return fail(Code::unsupported_dtype, "float32 has the reference only");
}

Result<std::unique_ptr<Kernel>> create_widened(const OpContext& context) {
  std::vector<std::vector<float>> buffers;
  const OpContext wide = widened(context, buffers);
  ANYNPU_ASSIGN(const KernelDef* kernel, choose_kernel(wide));
  ANYNPU_ASSIGN(auto inner, kernel->create(wide));
  return std::unique_ptr<Kernel>(std::make_unique<WidenedKernel>(std::move(inner)));
}

}  // namespace anynpu::ops
