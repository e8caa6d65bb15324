// SPDX-License-Identifier: Apache-2.0
// Conv and FusedConv of 16-bit floats with channels last, and FusedBottleneck (MobileNet's inverted
// residual block) as a sequence of two or three convolutions. Filters are packed at load time.
#include <cmath>

#include "base/align.h"
#include "cuda/kernels/channels_last_convolution.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/blocked_layout.h"
#include "ops/conv/bottleneck.h"
#include "ops/conv/conv.h"

namespace anynpu::device::cuda {

namespace {

using ops::Layout;
using ops::OpContext;

constexpr ops::DTypeSet kShortFloats{DType::f16, DType::bf16};
constexpr int64_t kFewChannels = 4;  // images: the convolution converts them from plain layout

Status check_operands(const OpContext& context) {
  const ops::Operand& x = context.inputs[0];
  if (!context.inputs[1].is_constant)
    return fail(Code::unsupported_feature, "filters are known only at run time");
  for (const size_t k : {size_t{1}, size_t{2}, size_t{3}}) {
    if (context.has_input(k) && context.inputs[k].dtype != x.dtype)
      return fail(Code::unsupported_dtype, "operands of several types");
  }
  if (x.rank() < 3 || x.rank() > 5)
    return fail(Code::unsupported_shape, "{} axes, takes 3 to 5", x.rank());
  if (element_count(x.shape) == 0 || element_count(context.outputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to compute");
  if (element_count(x.shape) >= (int64_t{1} << 31) ||
      element_count(context.outputs[0].shape) >= (int64_t{1} << 31))
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  return {};
}

ChannelsLastOptions options_of(const OpContext& context) {
  ChannelsLastOptions options;
  const ops::Operand& x = context.inputs[0];
  options.from_plain =
      x.layout == Layout::plain && x.shape[1] <= kFewChannels && context.int_attr("group") == 1;
  return options;
}

class ChannelsLastKernel final : public ops::Kernel {
 public:
  ChannelsLastKernel(std::shared_ptr<const ChannelsLastConvolution> work,
                     const ChannelsLastOptions& options)
      : work_(std::move(work)), from_plain_(options.from_plain) {}

  size_t packed_bytes() const override { return work_->packed_bytes(); }
  bool packs_input(size_t input) const override { return input == 1; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    work_->pack(context.inputs[1].constant, packed);
    return {};
  }
  Result<std::unique_ptr<ops::KernelPlan>> plan(const OpContext&) const override {
    auto plan = cuda_plan([work = work_](const ops::RunArgs& args, CudaQueue& queue) {
      const auto input = [&](size_t k) {
        return k < args.inputs.size() ? args.inputs[k] : nullptr;
      };
      return work->enqueue(
          queue, {input(0), args.packed, input(2), input(3), args.outputs[0], args.workspace});
    });
    plan->workspace_bytes = work_->workspace_bytes();
    plan->input_layouts = {from_plain_ ? Layout::plain : Layout::channels_last, Layout::plain,
                           Layout::plain, Layout::channels_last};
    plan->output_layouts = {Layout::channels_last};
    return plan;
  }

 private:
  const std::shared_ptr<const ChannelsLastConvolution> work_;
  const bool from_plain_;
};

Status can_run(const OpContext& context) {
  ANYNPU_TRY(check_operands(context));
  return ChannelsLastConvolution::make(context, options_of(context)).status();
}

Result<std::unique_ptr<ops::Kernel>> create(const OpContext& context) {
  const ChannelsLastOptions options = options_of(context);
  ANYNPU_ASSIGN(auto work, ChannelsLastConvolution::make(context, options));
  return std::unique_ptr<ops::Kernel>(
      std::make_unique<ChannelsLastKernel>(std::move(work), options));
}

// ---- FusedBottleneck

struct Stage {
  std::shared_ptr<const ChannelsLastConvolution> work;
  int bias = ops::conv::kNoInput, residual = ops::conv::kNoInput, weight = ops::conv::kNoInput;
  size_t packed_at = 0, out_at = 0;
};

struct Stages {
  std::vector<Stage> list;
  size_t packed_bytes = 0, scratch_at = 0, scratch_bytes = 0;
};

// An upper clamp (ReLU6) in front of a depthwise stage becomes the input_clamp of that stage, so
// that this stage only needs a ReLU.
Result<Stages> make_stages(const OpContext& context) {
  ANYNPU_ASSIGN(auto parts, ops::conv::stages_of(context));
  Stages stages;
  ops::Activation left;
  for (size_t i = 0; i < parts.size(); ++i) {
    OpContext& part = parts[i].context;
    ANYNPU_TRY(check_operands(part));
    ChannelsLastOptions options;
    options.input_clamp = left;
    left = {};
    ANYNPU_ASSIGN(const ops::Activation clamp, ops::activation_of(part));
    const bool before_channels = i + 1 < parts.size() && parts[i + 1].stage->depthwise;
    if (before_channels && clamp.on && clamp.min == 0 && !std::isinf(clamp.max)) {
      options.activation = clamp;
      options.activation->max = INFINITY;
      left = clamp;
    }
    ANYNPU_ASSIGN(auto work, ChannelsLastConvolution::make(part, options));
    if (options.input_clamp.on && !work->is_depthwise())
      return fail(Code::unsupported_feature, "the middle of the block is no depthwise convolution");
    Stage stage{work, parts[i].input(2), parts[i].input(3), parts[i].input(1)};
    stage.packed_at = stages.packed_bytes;
    stages.packed_bytes += round_up(work->packed_bytes(), size_t{256});
    stage.out_at = stages.scratch_at;
    if (i + 1 < parts.size()) {
      const ops::Operand& out = part.outputs[0];
      stages.scratch_at +=
          round_up(static_cast<size_t>(element_count(out.shape)) * size_of(out.dtype), size_t{512});
    }
    stages.scratch_bytes = std::max(stages.scratch_bytes, work->workspace_bytes());
    stages.list.push_back(std::move(stage));
  }
  return stages;
}

class BottleneckKernel final : public ops::Kernel {
 public:
  explicit BottleneckKernel(Stages stages) : stages_(std::move(stages)) {}

  size_t packed_bytes() const override { return stages_.packed_bytes; }
  bool packs_input(size_t input) const override {
    return std::any_of(stages_.list.begin(), stages_.list.end(),
                       [&](const Stage& stage) { return stage.weight == static_cast<int>(input); });
  }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    for (const Stage& stage : stages_.list) {
      stage.work->pack(context.inputs[static_cast<size_t>(stage.weight)].constant,
                       packed.subspan(stage.packed_at, stage.work->packed_bytes()));
    }
    return {};
  }
  Result<std::unique_ptr<ops::KernelPlan>> plan(const OpContext& context) const override {
    auto plan = cuda_plan([stages = stages_](const ops::RunArgs& args, CudaQueue& queue) {
      const void* x = args.inputs[0];
      for (const Stage& stage : stages.list) {
        const auto input = [&](int k) -> const void* {
          return k >= 0 && static_cast<size_t>(k) < args.inputs.size()
                     ? args.inputs[static_cast<size_t>(k)]
                     : nullptr;
        };
        std::byte* const y =
            &stage == &stages.list.back() ? args.outputs[0] : args.workspace + stage.out_at;
        ANYNPU_TRY(stage.work->enqueue(
            queue, {x, args.packed + stage.packed_at, input(stage.bias), input(stage.residual), y,
                    args.workspace + stages.scratch_at}));
        x = y;
      }
      return Status();
    });
    plan->workspace_bytes = stages_.scratch_at + stages_.scratch_bytes;
    plan->input_layouts.assign(context.inputs.size(), Layout::plain);
    plan->input_layouts[ops::conv::kBlockInput] = Layout::channels_last;
    if (context.inputs.size() > ops::conv::kBlockResidual)
      plan->input_layouts[ops::conv::kBlockResidual] = Layout::channels_last;
    plan->output_layouts = {Layout::channels_last};
    return plan;
  }

 private:
  const Stages stages_;
};

Status can_run_bottleneck(const OpContext& context) { return make_stages(context).status(); }

Result<std::unique_ptr<ops::Kernel>> create_bottleneck(const OpContext& context) {
  ANYNPU_ASSIGN(Stages stages, make_stages(context));
  return std::unique_ptr<ops::Kernel>(std::make_unique<BottleneckKernel>(std::move(stages)));
}

}  // namespace

void add_channels_last_kernels(std::vector<ops::KernelDef>& kernels) {
  for (const auto& [op, domain] : {std::pair{"Conv", ""}, std::pair{"FusedConv", "anynpu"}}) {
    kernels.push_back({.op = op,
                       .name = "channels_last",
                       .domain = domain,
                       .backend = "cuda",
                       .types = kShortFloats,
                       .can_run = can_run,
                       .create = create});
  }
  kernels.push_back({.op = "FusedBottleneck",
                     .name = "channels_last",
                     .domain = "anynpu",
                     .backend = "cuda",
                     .types = kShortFloats,
                     .can_run = can_run_bottleneck,
                     .create = create_bottleneck});
}

}  // namespace anynpu::device::cuda
