// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/channels_last_convolution.h"

#include <cmath>
#include <cstring>
#include <map>
#include <mutex>

#include "base/align.h"
#include "base/env.h"
#include "cuda/kernels/channels_last_tensor.h"
#include "cuda/kernels/cudnn_graph.h"
#include "cuda/kernels/depthwise.h"
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/product.h"
#include "cuda/kernels/reorder.h"
#include "ops/conv/conv.h"

namespace anynpu::device::cuda {

namespace {

using ops::conv::ConvShape;

constexpr size_t kCandidates = 10;
constexpr int64_t kWholePack = 8;  // channels in 16 bytes

// A convolution with two or three spatial axes.
struct Problem {
  DType type = DType::f16;
  ConvShape shape;
  int64_t channels = 0;  // input channels, padded
  bool bias = false, residual = false, from_plain = false;
  ops::Activation activation;

  std::string text() const {
    const auto list = [](const std::vector<int64_t>& values) {
      std::string all;
      for (const int64_t value : values) all += format("{}{}", all.empty() ? "" : "x", value);
      return all;
    };
    const ops::Window& w = shape.window;
    return format(
        "conv {} {}x{}({})x{} by {} groups {} kernel {} stride {} dilation {} pads {} {} "
        "with {}{}{} clamp {} {}",
        name_of(type), shape.batch, shape.in_channels, channels, list(w.in), shape.out_channels,
        shape.group, list(w.kernel), list(w.stride), list(w.dilation), list(w.pad_begin),
        list(w.pad_end), bias ? "b" : "", residual ? "z" : "", from_plain ? "p" : "",
        activation.on ? activation.min : -INFINITY, activation.on ? activation.max : INFINITY);
  }
  bool has_clamp() const { return activation.on; }
  bool relu() const { return activation.on && activation.min == 0 && std::isinf(activation.max); }
  // A 1x1 convolution is a matrix product of pixels and filters.
  bool is_product() const {
    const ops::Window& w = shape.window;
    const auto all = [](const std::vector<int64_t>& values, int64_t wanted) {
      return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
    };
    return shape.group == 1 && all(w.kernel, 1) && all(w.stride, 1) && all(w.pad_begin, 0) &&
           all(w.pad_end, 0);
  }
  // Non-overlapping windows (patch embedding): a matrix product after im2col.
  bool is_patches() const {
    const ops::Window& w = shape.window;
    const auto all = [](const std::vector<int64_t>& values, int64_t wanted) {
      return std::all_of(values.begin(), values.end(), [&](int64_t v) { return v == wanted; });
    };
    return shape.group == 1 && from_plain && w.dims() == 2 && w.kernel == w.stride &&
           w.kernel[0] * w.kernel[1] > 1 && all(w.dilation, 1) && all(w.pad_begin, 0) &&
           all(w.pad_end, 0);
  }
  int64_t pixels_out() const {
    int64_t count = shape.batch;
    for (const int64_t extent : shape.window.out) count *= extent;
    return count;
  }
};

constexpr int64_t kX = 1, kW = 2, kY = 3;  // tensor ids; the optional tensors follow:
int64_t bias_id() { return 4; }
int64_t residual_id(const Problem& p) { return p.bias ? 5 : 4; }

Result<std::shared_ptr<const CudnnPlan>> autotune_graph(const Gpu& gpu, const Problem& p,
                                                        bool with_clamp) {
  CudnnGraph graph(gpu);
  const ops::Window& w = p.shape.window;
  const ChannelsLastTensor x(p.shape.batch, p.channels, w.in),
      y(p.shape.batch, p.shape.out_channels, w.out),
      filters(p.shape.out_channels, p.channels / p.shape.group, w.kernel),
      bias(1, p.shape.out_channels, std::vector<int64_t>(w.dims(), 1));
  graph.tensor(p.type, x.extents, x.strides);
  graph.tensor(p.type, filters.extents, filters.strides);
  graph.tensor(p.type, y.extents, y.strides);
  if (p.bias) graph.tensor(p.type, bias.extents, bias.strides);
  if (p.residual) graph.tensor(p.type, y.extents, y.strides);
  int left = (p.residual ? 1 : 0) + (p.bias ? 1 : 0) + (with_clamp && p.has_clamp() ? 1 : 0);
  const auto next = [&] {
    return left-- > 0 ? graph.tensor(DType::f32, y.extents, y.strides, true) : int64_t{kY};
  };
  int64_t last = next();
  graph.convolution(kX, kW, last, {w.pad_begin, w.pad_end, w.stride, w.dilation});
  if (p.residual) {
    const int64_t sum = next();
    graph.add(last, residual_id(p), sum);
    last = sum;
  }
  if (p.bias) {
    const int64_t sum = next();
    graph.add(last, bias_id(), sum);
    last = sum;
  }
  if (with_clamp && p.has_clamp()) graph.clamp(last, next(), p.activation.min, p.activation.max);
  return graph.autotune(format("{} {}", p.text(), with_clamp ? "whole" : "open"), kCandidates);
}

ProductShape product_of(const Problem& p) {
  ProductShape g{.type = p.type,
                 .m = p.pixels_out(),
                 .n = p.shape.out_channels,
                 .k = p.channels,
                 .transpose_b = true};
  if (p.is_patches())
    g.k = p.shape.in_channels * p.shape.window.kernel[0] * p.shape.window.kernel[1];
  g.lda = g.ldb = g.k;
  g.ldy = g.n;
  g.bias = p.bias;
  g.residual = p.residual;
  g.relu = p.relu();
  return g;
}

class Dense final : public ChannelsLastConvolution {
 public:
  explicit Dense(Problem problem) : p_(std::move(problem)) {}

  Status autotune(const Gpu& gpu) {
    if (p_.is_patches() && (!p_.has_clamp() || p_.relu())) {
      const ops::Window& w = p_.shape.window;
      ANYNPU_ASSIGN(conversion_,
                    make_patches(p_.type, {p_.shape.batch, p_.shape.in_channels, w.in[0], w.in[1],
                                           w.kernel[0], w.kernel[1], w.out[0], w.out[1]}));
      ANYNPU_ASSIGN(product_, Product::make(product_of(p_)));
      return {};
    }
    if (p_.from_plain || p_.channels != p_.shape.in_channels) {
      int64_t plane = 1;
      for (const int64_t extent : p_.shape.window.in) plane *= extent;
      ANYNPU_ASSIGN(conversion_,
                    make_to_channels_last(p_.type, p_.shape.batch, p_.shape.in_channels, plane,
                                          p_.channels, p_.from_plain));
    }
    if (p_.is_product() && (!p_.has_clamp() || p_.relu())) {
      if (auto made = Product::make(product_of(p_)); made.ok()) product_ = *made;
    }
    auto graph = autotune_graph(gpu, p_, true);
    if (!graph.ok() && p_.has_clamp() && !product_) {
      graph = autotune_graph(gpu, p_, false);
      Epilogue after;
      after.type = p_.type;
      after.activation = p_.activation;
      ANYNPU_ASSIGN(epilogue_, make_epilogue(after));
    }
    if (!graph.ok() && !product_) return graph.status();
    if (env::lists(env::Name::verbose, "dispatch")) {
      std::fputs(format("anynpu,measured,{}: cuDNN {} us, cuBLASLt {} us\n", p_.text(),
                        graph.ok() ? (*graph)->microseconds() : INFINITY,
                        product_ ? product_->microseconds() : INFINITY)
                     .c_str(),
                 stderr);
    }
    if (graph.ok() && (!product_ || (*graph)->microseconds() < product_->microseconds())) {
      graph_ = *graph;
      product_ = nullptr;
    }
    return {};
  }

  size_t packed_bytes() const override {
    const int64_t channels = p_.is_patches() ? p_.shape.in_channels : group_channels();
    return static_cast<size_t>(p_.shape.out_channels * taps() * channels) * size_of(p_.type);
  }

  // KCRS to KRSC, with padded channels set to zero.
  void pack(std::span<const std::byte> filters, std::span<std::byte> packed) const override {
    if (p_.is_patches()) {  // no conversion needed
      std::memcpy(packed.data(), filters.data(), packed.size());
      return;
    }
    const int64_t channels = p_.shape.in_channels / p_.shape.group, wide = group_channels();
    const auto* const from = reinterpret_cast<const uint16_t*>(filters.data());
    auto* const to = reinterpret_cast<uint16_t*>(packed.data());
    for (int64_t k = 0; k < p_.shape.out_channels; ++k) {
      for (int64_t t = 0; t < taps(); ++t) {
        for (int64_t c = 0; c < wide; ++c) {
          to[(k * taps() + t) * wide + c] =
              c < channels ? from[(k * channels + c) * taps() + t] : uint16_t{0};
        }
      }
    }
  }

  size_t workspace_bytes() const override {
    return converted_bytes() + (graph_ ? graph_->workspace_bytes() : product_->workspace_bytes());
  }

  Status enqueue(CudaQueue& queue, const Operands& o) const override {
    const void* x = o.x;
    if (conversion_) {
      void* to = o.workspace;
      void* arguments[] = {&x, &to};
      ANYNPU_TRY(conversion_->enqueue(queue, arguments));
      x = to;
    }
    std::byte* const workspace = o.workspace + converted_bytes();
    if (product_) {
      return product_->enqueue(queue.gpu(), queue.stream(),
                               {x, o.filters, o.bias, o.residual, o.y, workspace});
    }
    std::vector<GraphOperand> operands = {{kX, x}, {kW, o.filters}, {kY, o.y}};
    if (p_.bias) operands.push_back({bias_id(), o.bias});
    if (p_.residual) operands.push_back({residual_id(p_), o.residual});
    ANYNPU_TRY(graph_->enqueue(queue.gpu(), queue.stream(), operands, workspace));
    return enqueue_epilogue(epilogue_, queue, o.y, nullptr, nullptr,
                            static_cast<size_t>(p_.pixels_out() * p_.shape.out_channels));
  }

 private:
  int64_t taps() const {
    int64_t count = 1;
    for (const int64_t extent : p_.shape.window.kernel) count *= extent;
    return count;
  }
  int64_t group_channels() const { return p_.channels / p_.shape.group; }
  size_t converted_bytes() const {
    return conversion_ ? round_up(conversion_->bytes, size_t{512}) : 0;
  }

  const Problem p_;
  std::shared_ptr<const LayoutConversion> conversion_;
  std::shared_ptr<const CudnnPlan> graph_;
  std::shared_ptr<const Product> product_;
  EpilogueKernels epilogue_;
};

// cuDNN needs two or three spatial axes: adds one of size 1 to 1D convolutions.
void at_least_2d(ops::Window& window) {
  if (window.dims() != 1) return;
  for (auto* list : {&window.kernel, &window.stride, &window.dilation, &window.in, &window.out})
    list->insert(list->begin(), 1);
  for (auto* list : {&window.pad_begin, &window.pad_end}) list->insert(list->begin(), 0);
}

Result<Problem> problem_of(const ops::OpContext& context, const ChannelsLastOptions& options) {
  Problem p;
  ANYNPU_ASSIGN(p.shape, ops::conv::conv_shape_of(context));
  p.type = context.inputs[0].dtype;
  p.bias = context.has_input(2);
  p.residual = context.has_input(3);
  p.from_plain = options.from_plain;
  ANYNPU_ASSIGN(p.activation, ops::activation_of(context));
  if (options.activation) p.activation = *options.activation;
  at_least_2d(p.shape.window);
  p.channels = p.shape.in_channels;
  if (p.shape.group == 1)
    p.channels = round_up(p.channels, p.channels <= 4 ? int64_t{4} : kWholePack);
  return p;
}

Result<std::shared_ptr<const ChannelsLastConvolution>> make_new(
    const Gpu& gpu, const Problem& p, const ChannelsLastOptions& options) {
  if (can_run_depthwise(p.shape) && !p.residual && !p.from_plain) {
    return make_depthwise({p.type, p.shape, p.bias, p.activation, options.input_clamp});
  }
  if (options.input_clamp.on)
    return fail(Code::unsupported_feature, "the input is clamped by filters of one channel alone");
  auto made = std::make_shared<Dense>(p);
  ANYNPU_TRY(made->autotune(gpu));
  return std::shared_ptr<const ChannelsLastConvolution>(std::move(made));
}

}  // namespace

Result<std::shared_ptr<const ChannelsLastConvolution>> ChannelsLastConvolution::make(
    const ops::OpContext& context, const ChannelsLastOptions& options) {
  const auto gpus = Gpu::used();
  if (gpus.empty()) return fail(Code::invalid_device, "no GPU is in use");
  ANYNPU_ASSIGN(const Problem p, problem_of(context, options));
  static auto& mutex = *new std::mutex;
  static auto& known = *new std::map<std::string, std::shared_ptr<const ChannelsLastConvolution>>;
  constexpr size_t kMostKnown = 1000;
  const std::string key =
      format("{} input {} {}", p.text(), options.input_clamp.on, options.input_clamp.max);
  const std::lock_guard lock(mutex);
  if (const auto found = known.find(key); found != known.end()) return found->second;
  if (known.size() >= kMostKnown) known.clear();
  ANYNPU_ASSIGN(auto made, make_new(*gpus[0], p, options));
  known.emplace(key, made);
  return made;
}

}  // namespace anynpu::device::cuda
