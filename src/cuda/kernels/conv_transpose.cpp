// SPDX-License-Identifier: Apache-2.0
// ConvTranspose with cuDNN, as the data gradient of a convolution. 16-bit floats use channels last,
// with filters packed at load time; float32 uses plain layout.
#include "ops/conv/conv_transpose.h"

#include "cuda/kernels/channels_last_tensor.h"
#include "cuda/kernels/cudnn.h"
#include "cuda/kernels/cudnn_graph.h"
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/kernels.h"
#include "ops/blocked_layout.h"

namespace anynpu::device::cuda {

namespace {

using ops::Layout;
using ops::OpContext;
using ops::conv::TransposeShape;

constexpr size_t kCandidates = 8;

// With at least two spatial axes, as cuDNN needs, and with the end padding.
struct Problem {
  DType type = DType::f32;
  TransposeShape shape;
  std::vector<int64_t> pad_end;
  bool bias = false, channels_last = false;

  int64_t taps() const { return element_count(shape.kernel); }
  std::string text() const {
    std::string all = format("transposed {} {}x{} by {} groups {} {}", name_of(type), shape.batch,
                             shape.in_channels, shape.out_channels, shape.group,
                             channels_last ? "last" : "plain");
    for (const auto* list : {&shape.in, &shape.out, &shape.kernel, &shape.stride, &shape.dilation,
                             &shape.pad, &pad_end})
      all += " " + to_string(*list);
    return all;
  }
};

Result<Problem> problem_of(const OpContext& context) {
  Problem p;
  ANYNPU_ASSIGN(p.shape, ops::conv::transpose_shape_of(context));
  p.type = context.inputs[0].dtype;
  p.bias = context.has_input(2);
  p.channels_last = p.type != DType::f32;
  TransposeShape& s = p.shape;
  if (s.in.size() == 1) {
    for (auto* list : {&s.in, &s.kernel, &s.stride, &s.dilation, &s.out})
      list->insert(list->begin(), 1);
    s.pad.insert(s.pad.begin(), 0);
  }
  for (size_t d = 0; d < s.in.size(); ++d) {
    const int64_t reach = (s.kernel[d] - 1) * s.dilation[d] + 1;
    p.pad_end.push_back((s.in[d] - 1) * s.stride[d] + reach - s.out[d] - s.pad[d]);
    if (p.pad_end.back() < 0 || s.pad[d] < 0)
      return fail(Code::unsupported_shape, "the output goes beyond what the filters reach");
  }
  if (s.in.size() > 3) return fail(Code::unsupported_shape, "{} spatial axes", s.in.size());
  return p;
}

Result<std::shared_ptr<const CudnnPlan>> autotune(const Problem& p) {
  const auto gpus = Gpu::used();
  if (gpus.empty()) return fail(Code::invalid_device, "no GPU is in use");
  const TransposeShape& s = p.shape;
  const auto strides = [&](const ChannelsLastTensor& tensor) {
    return p.channels_last ? tensor.strides : plain_strides(tensor.extents);
  };
  const ChannelsLastTensor x(s.batch, s.in_channels, s.in), y(s.batch, s.out_channels, s.out),
      filters(s.in_channels, s.out_channels / s.group, s.kernel);
  CudnnGraph graph(*gpus[0]);
  graph.tensor(p.type, x.extents, strides(x));
  graph.tensor(p.type, filters.extents, strides(filters));
  graph.tensor(p.type, y.extents, strides(y));
  graph.transposed_convolution(1, 2, 3, {s.pad, p.pad_end, s.stride, s.dilation});
  return graph.autotune(p.text(), kCandidates);
}

class TransposeKernel final : public ops::Kernel {
 public:
  TransposeKernel(Problem problem, std::shared_ptr<const CudnnPlan> work, EpilogueKernels after)
      : p_(std::move(problem)), work_(std::move(work)), epilogue_(std::move(after)) {}

  size_t packed_bytes() const override {
    return p_.channels_last ? static_cast<size_t>(p_.shape.in_channels * channels() * p_.taps()) *
                                  size_of(p_.type)
                            : 0;
  }
  bool packs_input(size_t input) const override { return p_.channels_last && input == 1; }
  Status pack(const OpContext& context, std::span<std::byte> packed) override {
    const auto* const from = reinterpret_cast<const uint16_t*>(context.inputs[1].constant.data());
    auto* const to = reinterpret_cast<uint16_t*>(packed.data());
    for (int64_t k = 0; k < p_.shape.in_channels; ++k) {
      for (int64_t c = 0; c < channels(); ++c) {
        for (int64_t t = 0; t < p_.taps(); ++t)
          to[(k * p_.taps() + t) * channels() + c] = from[(k * channels() + c) * p_.taps() + t];
      }
    }
    return {};
  }
  Result<std::unique_ptr<ops::KernelPlan>> plan(const OpContext& context) const override {
    const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
    auto plan =
        cuda_plan([work = work_, after = epilogue_, count, channels_last = p_.channels_last](
                      const ops::RunArgs& args, CudaQueue& queue) {
          const GraphOperand operands[] = {{1, args.inputs[0]},
                                           {2, channels_last ? args.packed : args.inputs[1]},
                                           {3, args.outputs[0]}};
          ANYNPU_TRY(work->enqueue(queue.gpu(), queue.stream(), operands, args.workspace));
          const void* const bias = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
          return enqueue_epilogue(after, queue, args.outputs[0], bias, nullptr, count);
        });
    plan->workspace_bytes = work_->workspace_bytes();
    if (p_.channels_last) {
      plan->input_layouts = {Layout::channels_last, Layout::plain, Layout::plain};
      plan->output_layouts = {Layout::channels_last};
    }
    return plan;
  }

 private:
  int64_t channels() const { return p_.shape.out_channels / p_.shape.group; }

  const Problem p_;
  const std::shared_ptr<const CudnnPlan> work_;
  const EpilogueKernels epilogue_;
};

Status can_run(const OpContext& context) {
  if (!cudnn().ok()) return cudnn().status();
  ANYNPU_ASSIGN(const Problem p, problem_of(context));
  if (p.channels_last && !context.inputs[1].is_constant)
    return fail(Code::unsupported_feature, "filters are known only at run time");
  if (element_count(context.outputs[0].shape) >= (int64_t{1} << 31) ||
      element_count(context.outputs[0].shape) == 0 || element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to compute, or more than 2^31 elements");
  return autotune(p).status();
}

Result<std::unique_ptr<ops::Kernel>> create(const OpContext& context) {
  ANYNPU_ASSIGN(Problem p, problem_of(context));
  ANYNPU_ASSIGN(auto work, autotune(p));
  Epilogue after;
  after.type = p.type;
  if (p.bias) {
    after.c_index = p.channels_last
                        ? format("i % {}", p.shape.out_channels)
                        : format("i / {} % {}", element_count(p.shape.out), p.shape.out_channels);
  }
  ANYNPU_ASSIGN(EpilogueKernels kernels, make_epilogue(after));
  return std::unique_ptr<ops::Kernel>(
      std::make_unique<TransposeKernel>(std::move(p), std::move(work), std::move(kernels)));
}

}  // namespace

void add_conv_transpose(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back({.op = "ConvTranspose",
                     .name = "cudnn",
                     .backend = "cuda",
                     .types = ops::DTypeSet{DType::f32, DType::f16, DType::bf16},
                     .can_run = can_run,
                     .create = create});
}

}  // namespace anynpu::device::cuda
