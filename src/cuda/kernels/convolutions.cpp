// SPDX-License-Identifier: Apache-2.0
// Conv and FusedConv with cuDNN in plain layout (NCHW), and FusedBottleneck (MobileNet's inverted
// residual block) as a sequence of convolutions. float32 is computed in float32, not TF32.
#include "base/align.h"
#include "cuda/kernels/cudnn.h"
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/kernels.h"
#include "ops/conv/bottleneck.h"
#include "ops/conv/conv.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::conv::ConvShape;

std::vector<int> narrow(const std::vector<int64_t>& values) {
  return {values.begin(), values.end()};
}

// Asymmetric padding, which cuDNN's legacy API lacks: the input is padded into the workspace first.
struct Padded {
  std::shared_ptr<const JitKernel> kernel;  // null if padding is symmetric
  size_t count = 0, bytes = 0;
};

// A convolution with its epilogue. Immutable.
class Convolution {
 public:
  static Result<std::shared_ptr<const Convolution>> make(const OpContext& context);
  ~Convolution() {
    const Cudnn& dnn = *cudnn();
    for (cudnnTensorDescriptor_t tensor : {x_, y_}) {
      if (tensor) dnn.cudnnDestroyTensorDescriptor(tensor);
    }
    if (w_) dnn.cudnnDestroyFilterDescriptor(w_);
    if (work_) dnn.cudnnDestroyConvolutionDescriptor(work_);
  }

  size_t workspace_bytes() const { return round_up(padded_.bytes, size_t{512}) + scratch_bytes_; }

  Status enqueue(CudaQueue& queue, const void* x, const void* w, const void* bias, const void* z,
                 void* y, std::byte* workspace) const {
    ANYNPU_ASSIGN(const cudnnHandle_t handle, cudnn_handle(queue.gpu()));
    const Cudnn& dnn = *cudnn();
    ANYNPU_TRY(cudnn_check(
        dnn.cudnnSetStream(handle, reinterpret_cast<cudaStream_t>(queue.stream())), "a stream"));
    if (padded_.kernel) {
      void* to = workspace;
      size_t count = padded_.count;
      void* arguments[] = {&x, &to, &count};
      ANYNPU_TRY(padded_.kernel->launch_over(queue, count, arguments));
      x = to;
    }
    const float one = 1, zero = 0;
    const double wide_one = 1, wide_zero = 0;
    const void* const alpha = wide_ ? static_cast<const void*>(&wide_one) : &one;
    const void* const beta = wide_ ? static_cast<const void*>(&wide_zero) : &zero;
    ANYNPU_TRY(
        cudnn_check(dnn.cudnnConvolutionForward(handle, alpha, x_, x, w_, w, work_, algorithm_,
                                                workspace + round_up(padded_.bytes, size_t{512}),
                                                scratch_bytes_, beta, y_, y),
                    "a convolution"));
    return enqueue_epilogue(epilogue_, queue, y, bias, z, count_);
  }

 private:
  Status describe(const OpContext& context, const ConvShape& shape, ops::Window window);
  Status pad(const ConvShape& shape, ops::Window& window, DType type);
  Status choose_algorithm();

  cudnnTensorDescriptor_t x_ = nullptr, y_ = nullptr;
  cudnnFilterDescriptor_t w_ = nullptr;
  cudnnConvolutionDescriptor_t work_ = nullptr;
  cudnnConvolutionFwdAlgo_t algorithm_ = CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM;
  size_t scratch_bytes_ = 0, count_ = 0;
  bool wide_ = false;
  Padded padded_;
  EpilogueKernels epilogue_;
};

Result<std::shared_ptr<const Convolution>> Convolution::make(const OpContext& context) {
  if (!cudnn().ok()) return cudnn().status();
  ANYNPU_ASSIGN(const ConvShape shape, ops::conv::conv_shape_of(context));
  auto made = std::make_shared<Convolution>();
  ANYNPU_TRY(made->describe(context, shape, shape.window));
  ANYNPU_TRY(made->choose_algorithm());
  return std::shared_ptr<const Convolution>(std::move(made));
}

// cuDNN needs two or three spatial axes: adds one of size 1 to 1D convolutions.
void widen_window(ops::Window& window) {
  if (window.dims() != 1) return;
  for (auto* list : {&window.kernel, &window.stride, &window.dilation, &window.in, &window.out})
    list->insert(list->begin(), 1);
  for (auto* list : {&window.pad_begin, &window.pad_end}) list->insert(list->begin(), 0);
}

Status Convolution::pad(const ConvShape& shape, ops::Window& window, DType type) {
  if (window.pad_begin == window.pad_end) return {};
  std::string index = "rest", inside = "1", code = "    u64 rest = i;\n";
  int64_t plane = 1, count = shape.batch * shape.in_channels;
  for (size_t d = window.dims(); d-- > 0;) {
    const int64_t extent = window.in[d] + window.pad_begin[d] + window.pad_end[d];
    code += format("    const i64 p{0} = (i64)(rest % {1}) - {2}; rest /= {1};\n", d, extent,
                   window.pad_begin[d]);
    inside += format(" && p{0} >= 0 && p{0} < {1}", d, window.in[d]);
    count *= extent;
  }
  std::string offset;
  for (size_t d = window.dims(); d-- > 0;) {
    offset += format(" + p{} * {}", d, plane);
    plane *= window.in[d];
  }
  const char* const bits = size_of(type) == 2 ? "u16" : size_of(type) == 4 ? "u32" : "u64";
  ANYNPU_ASSIGN(
      padded_.kernel,
      JitKernel::make(format(
          "extern \"C\" __global__ void kernel(const {0}* x, {0}* y, u64 n) {{\n"
          "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "(u64)blockDim.x) {{\n{1}    y[i] = {2} ? x[(i64)rest * {3}{4}] : ({0})0;\n  }}\n}}\n",
          bits, code, inside, plane, offset)));
  padded_.count = static_cast<size_t>(count);
  padded_.bytes = padded_.count * size_of(type);
  for (size_t d = 0; d < window.dims(); ++d) {
    window.in[d] += window.pad_begin[d] + window.pad_end[d];
    window.pad_begin[d] = window.pad_end[d] = 0;
  }
  return {};
}

Status Convolution::describe(const OpContext& context, const ConvShape& shape, ops::Window window) {
  const Cudnn& dnn = *cudnn();
  const DType type = context.inputs[0].dtype;
  wide_ = type == DType::f64;
  widen_window(window);
  ANYNPU_TRY(pad(shape, window, type));
  const auto tensor = [&](cudnnTensorDescriptor_t& made, int64_t channels,
                          const std::vector<int64_t>& extents) {
    std::vector<int> dims{static_cast<int>(shape.batch), static_cast<int>(channels)};
    for (const int64_t extent : extents) dims.push_back(static_cast<int>(extent));
    std::vector<int> strides(dims.size(), 1);
    for (size_t d = dims.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * dims[d + 1];
    ANYNPU_TRY(cudnn_check(dnn.cudnnCreateTensorDescriptor(&made), "describing a tensor"));
    return cudnn_check(
        dnn.cudnnSetTensorNdDescriptor(made, cudnn_type(type), static_cast<int>(dims.size()),
                                       dims.data(), strides.data()),
        "describing a tensor");
  };
  ANYNPU_TRY(tensor(x_, shape.in_channels, window.in));
  ANYNPU_TRY(tensor(y_, shape.out_channels, window.out));
  std::vector<int> filter{static_cast<int>(shape.out_channels),
                          static_cast<int>(shape.in_channels / shape.group)};
  for (const int64_t extent : window.kernel) filter.push_back(static_cast<int>(extent));
  ANYNPU_TRY(cudnn_check(dnn.cudnnCreateFilterDescriptor(&w_), "describing a filter"));
  ANYNPU_TRY(
      cudnn_check(dnn.cudnnSetFilterNdDescriptor(w_, cudnn_type(type), CUDNN_TENSOR_NCHW,
                                                 static_cast<int>(filter.size()), filter.data()),
                  "describing a filter"));
  ANYNPU_TRY(cudnn_check(dnn.cudnnCreateConvolutionDescriptor(&work_), "describing a convolution"));
  const auto pads = narrow(window.pad_begin), strides = narrow(window.stride),
             dilations = narrow(window.dilation);
  ANYNPU_TRY(cudnn_check(
      dnn.cudnnSetConvolutionNdDescriptor(work_, static_cast<int>(pads.size()), pads.data(),
                                          strides.data(), dilations.data(), CUDNN_CROSS_CORRELATION,
                                          wide_ ? CUDNN_DATA_DOUBLE : CUDNN_DATA_FLOAT),
      "describing a convolution"));
  ANYNPU_TRY(cudnn_check(dnn.cudnnSetConvolutionGroupCount(work_, static_cast<int>(shape.group)),
                         "its groups"));
  const bool exact = type == DType::f32 || wide_;
  ANYNPU_TRY(cudnn_check(
      dnn.cudnnSetConvolutionMathType(work_, exact ? CUDNN_FMA_MATH : CUDNN_TENSOR_OP_MATH),
      "its precision"));

  count_ = static_cast<size_t>(element_count(context.outputs[0].shape));
  int64_t plane = 1;
  for (const int64_t extent : window.out) plane *= extent;
  Epilogue epilogue;
  epilogue.type = type;
  epilogue.has_z = context.has_input(3);
  ANYNPU_ASSIGN(epilogue.activation, ops::activation_of(context));
  if (context.has_input(2)) epilogue.c_index = format("i / {} % {}", plane, shape.out_channels);
  ANYNPU_ASSIGN(epilogue_, make_epilogue(epilogue));
  return {};
}

Status Convolution::choose_algorithm() {
  const auto gpus = Gpu::used();
  if (gpus.empty()) return fail(Code::invalid_device, "no GPU is in use");
  ANYNPU_ASSIGN(const cudnnHandle_t handle, cudnn_handle(*gpus[0]));
  const Cudnn& dnn = *cudnn();
  cudnnConvolutionFwdAlgoPerf_t found[8] = {};
  int count = 0;
  ANYNPU_TRY(cudnn_check(
      dnn.cudnnGetConvolutionForwardAlgorithm_v7(handle, x_, w_, work_, y_, 8, &count, found),
      "choosing a convolution"));
  for (int k = 0; k < count; ++k) {
    if (found[k].status != CUDNN_STATUS_SUCCESS) continue;
    // FFT is less accurate than float32 arithmetic should be.
    if (found[k].algo == CUDNN_CONVOLUTION_FWD_ALGO_FFT ||
        found[k].algo == CUDNN_CONVOLUTION_FWD_ALGO_FFT_TILING)
      continue;
    algorithm_ = found[k].algo;
    return cudnn_check(dnn.cudnnGetConvolutionForwardWorkspaceSize(handle, x_, w_, work_, y_,
                                                                   algorithm_, &scratch_bytes_),
                       "sizing a convolution");
  }
  return fail(Code::unsupported_shape, "cuDNN has no convolution for this case");
}

PlanResult plan_convolution(const OpContext& context) {
  ANYNPU_ASSIGN(auto convolution, Convolution::make(context));
  auto plan = cuda_plan([convolution](const ops::RunArgs& args, CudaQueue& queue) {
    const auto input = [&](size_t k) { return k < args.inputs.size() ? args.inputs[k] : nullptr; };
    return convolution->enqueue(queue, input(0), input(1), input(2), input(3), args.outputs[0],
                                args.workspace);
  });
  plan->workspace_bytes = convolution->workspace_bytes();
  return plan;
}

Status can_run_convolution(const OpContext& context) {
  if (!cudnn().ok()) return cudnn().status();
  ANYNPU_ASSIGN(const ConvShape shape, ops::conv::conv_shape_of(context));
  if (shape.window.dims() < 1 || shape.window.dims() > 3)
    return fail(Code::unsupported_shape, "{} spatial axes, takes 1 to 3", shape.window.dims());
  if (element_count(context.outputs[0].shape) == 0 || element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to compute");
  if (element_count(context.inputs[0].shape) >= (int64_t{1} << 31) ||
      element_count(context.outputs[0].shape) >= (int64_t{1} << 31))
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  return {};
}

// Runs the stages in sequence, with intermediate results in the workspace.
PlanResult plan_bottleneck(const OpContext& context) {
  ANYNPU_ASSIGN(const auto stages, ops::conv::stages_of(context));
  struct Stage {
    std::shared_ptr<const Convolution> work;
    std::array<int, 3> inputs;
    size_t out_at = 0;
  };
  std::vector<Stage> parts;
  size_t scratch_at = 0, scratch = 0;
  for (const ops::conv::StageConv& stage : stages) {
    ANYNPU_ASSIGN(auto work, Convolution::make(stage.context));
    scratch = std::max(scratch, work->workspace_bytes());
    const ops::Operand& out = stage.context.outputs[0];
    parts.push_back(
        {std::move(work), {stage.input(1), stage.input(2), stage.input(3)}, scratch_at});
    scratch_at +=
        round_up(static_cast<size_t>(element_count(out.shape)) * size_of(out.dtype), size_t{512});
  }
  auto plan = cuda_plan([parts, scratch_at](const ops::RunArgs& args, CudaQueue& queue) {
    const std::byte* x = args.inputs[0];
    for (const Stage& stage : parts) {
      const auto input = [&](int k) -> const std::byte* {
        return k >= 0 && static_cast<size_t>(k) < args.inputs.size()
                   ? args.inputs[static_cast<size_t>(k)]
                   : nullptr;
      };
      std::byte* const y =
          &stage == &parts.back() ? args.outputs[0] : args.workspace + stage.out_at;
      ANYNPU_TRY(stage.work->enqueue(queue, x, input(stage.inputs[0]), input(stage.inputs[1]),
                                     input(stage.inputs[2]), y, args.workspace + scratch_at));
      x = y;
    }
    return Status();
  });
  plan->workspace_bytes = scratch_at + scratch;
  return plan;
}

Status can_run_bottleneck(const OpContext& context) {
  if (!cudnn().ok()) return cudnn().status();
  ANYNPU_ASSIGN(const auto stages, ops::conv::stages_of(context));
  for (const auto& stage : stages) ANYNPU_TRY(can_run_convolution(stage.context));
  return {};
}

}  // namespace

void add_convolutions(std::vector<ops::KernelDef>& kernels) {
  for (const auto& [op, domain] : {std::pair{"Conv", ""}, std::pair{"FusedConv", "anynpu"}}) {
    kernels.push_back({.op = op,
                       .name = "cudnn",
                       .domain = domain,
                       .backend = "cuda",
                       .types = ops::kFloats,
                       .can_run = can_run_convolution,
                       .create = ops::create_plain<plan_convolution>});
  }
  kernels.push_back({.op = "FusedBottleneck",
                     .name = "cudnn_stages",
                     .domain = "anynpu",
                     .backend = "cuda",
                     .types = ops::kFloats,
                     .can_run = can_run_bottleneck,
                     .create = ops::create_plain<plan_bottleneck>});
}

}  // namespace anynpu::device::cuda
