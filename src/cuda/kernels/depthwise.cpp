// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/depthwise.h"

#include "base/align.h"
#include "cuda/kernels/epilogue.h"
#include "cuda/kernels/jit_kernel.h"

namespace anynpu::device::cuda {

namespace {

constexpr int64_t kMostTaps = 121;        // the loops over taps are unrolled
constexpr int64_t kManyThreads = 400000;  // above this, a thread computes several outputs of a row

int64_t channels_of_thread(int64_t channels) {
  for (const int64_t pack : {8, 4, 2}) {
    if (channels % pack == 0) return pack;
  }
  return 1;
}

std::string source_of(const Depthwise& work, int64_t pack, int64_t strip) {
  const ops::Window& w = work.shape.window;
  const int64_t channels = work.shape.in_channels;
  const int64_t columns = ceil_div(w.out[1], strip);
  const int64_t count = work.shape.batch * w.out[0] * columns * (channels / pack);
  std::string input_clamp;
  if (work.input_clamp.on) {
    input_clamp = format("u = u < (C){0} ? (C){0} : u > (C){1} ? (C){1} : u; ",
                         literal(work.input_clamp.min), literal(work.input_clamp.max));
  }
  const int64_t reach = (strip - 1) * w.stride[1] + (w.kernel[1] - 1) * w.dilation[1] + 1;
  return format(
      "typedef float C; typedef {0} T; struct alignas({1} * sizeof(T)) P {{ T v[{1}]; }};\n"
      "extern \"C\" __global__ void __launch_bounds__(128) kernel(const P* x, const P* f, const P* "
      "bias, P* y) {{\n"
      "  const u32 i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= {2}u) return;\n"
      "  const u32 c = i % {3}, px = i / {3} % {4}, py = i / {5} % {6}, b = i / {7};\n"
      "  const int x0 = (int)(px * {8}) * {9} - {10}, y0 = (int)py * {11} - {12};\n"
      "  C acc[{8}][{1}];\n"
      "#pragma unroll\n  for (int s = 0; s < {8}; ++s)\n#pragma unroll\n"
      "    for (int k = 0; k < {1}; ++k) acc[s][k] = 0;\n"
      "#pragma unroll\n  for (int r = 0; r < {13}; ++r) {{\n"
      "    const int iy = y0 + r * {14}; if (iy < 0 || iy >= {15}) continue;\n"
      "    const P* row = x + ((i64)b * {15} + iy) * {16} * {3} + c;\n"
      "    P taps[{17}];\n"
      "#pragma unroll\n    for (int t = 0; t < {17}; ++t) taps[t] = f[(r * {17} + t) * {3} + c];\n"
      "#pragma unroll\n    for (int j = 0; j < {18}; ++j) {{\n"
      "      const int ix = x0 + j; P p;\n"
      "      if (ix < 0 || ix >= {16}) continue;\n      p = row[(i64)ix * {3}];\n"
      "#pragma unroll\n      for (int s = 0; s < {8}; ++s)\n#pragma unroll\n"
      "        for (int t = 0; t < {17}; ++t) if (s * {9} + t * {19} == j)\n#pragma unroll\n"
      "          for (int k = 0; k < {1}; ++k) {{ C u = load(p.v[k]); {20}acc[s][k] += u * "
      "load(taps[t].v[k]); }}\n"
      "    }}\n  }}\n"
      "{21}"
      "#pragma unroll\n  for (int s = 0; s < {8}; ++s) {{\n    const int ox = px * {8} + s; if (ox "
      ">= "
      "{22}) break;\n    P out;\n#pragma unroll\n    for (int k = 0; k < {1}; ++k) {{\n"
      "    C v = acc[s][k]{23};\n{24}    store(out.v[k], v);\n    }}\n"
      "    y[(((i64)b * {6} + py) * {22} + ox) * {3} + c] = out;\n  }}\n}}\n",
      cuda_name(work.type), pack, count, channels / pack, columns, columns * (channels / pack),
      w.out[0], columns * (channels / pack) * w.out[0], strip, w.stride[1], w.pad_begin[1],
      w.stride[0], w.pad_begin[0], w.kernel[0], w.dilation[0], w.in[0], w.in[1], w.kernel[1], reach,
      w.dilation[1], input_clamp, work.bias ? "  const P added = bias[c];\n" : "", w.out[1],
      work.bias ? " + load(added.v[k])" : "", clamp_code(work.activation));
}

class DepthwiseConvolution final : public ChannelsLastConvolution {
 public:
  explicit DepthwiseConvolution(const Depthwise& work) : work_(work) {}

  Status compile() {
    const ops::Window& w = work_.shape.window;
    const int64_t pack = channels_of_thread(work_.shape.in_channels);
    const int64_t each = work_.shape.batch * w.out[0] * (work_.shape.in_channels / pack);
    const int64_t strip = each * w.out[1] > kManyThreads ? 4 : 1;
    count_ = static_cast<size_t>(each * ceil_div(w.out[1], strip));
    ANYNPU_ASSIGN(kernel_, JitKernel::make(source_of(work_, pack, strip)));
    return {};
  }

  size_t packed_bytes() const override {
    return static_cast<size_t>(work_.shape.in_channels * taps()) * size_of(work_.type);
  }
  void pack(std::span<const std::byte> filters, std::span<std::byte> packed) const override {
    const auto* const from = reinterpret_cast<const uint16_t*>(filters.data());
    auto* const to = reinterpret_cast<uint16_t*>(packed.data());
    for (int64_t c = 0; c < work_.shape.in_channels; ++c) {
      for (int64_t t = 0; t < taps(); ++t)
        to[t * work_.shape.in_channels + c] = from[c * taps() + t];
    }
  }
  size_t workspace_bytes() const override { return 0; }
  bool is_depthwise() const override { return true; }

  Status enqueue(CudaQueue& queue, const Operands& o) const override {
    const void *x = o.x, *filters = o.filters, *bias = o.bias;
    void* y = o.y;
    void* arguments[] = {&x, &filters, &bias, &y};
    constexpr unsigned kThreads = 128;
    return kernel_->launch(queue, ceil_div(count_, size_t{kThreads}), kThreads, arguments);
  }

 private:
  int64_t taps() const { return work_.shape.window.kernel[0] * work_.shape.window.kernel[1]; }

  const Depthwise work_;
  std::shared_ptr<const JitKernel> kernel_;
  size_t count_ = 0;
};

}  // namespace

bool can_run_depthwise(const ops::conv::ConvShape& shape) {
  const ops::Window& w = shape.window;
  return shape.group > 1 && shape.group == shape.in_channels &&
         shape.out_channels == shape.in_channels && w.dims() == 2 &&
         w.kernel[0] * w.kernel[1] <= kMostTaps &&
         shape.batch * w.out[0] * w.out[1] * shape.in_channels < (int64_t{1} << 31);
}

Result<std::shared_ptr<const ChannelsLastConvolution>> make_depthwise(const Depthwise& work) {
  auto made = std::make_shared<DepthwiseConvolution>(work);
  ANYNPU_TRY(made->compile());
  return std::shared_ptr<const ChannelsLastConvolution>(std::move(made));
}

}  // namespace anynpu::device::cuda
