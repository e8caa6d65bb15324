// SPDX-License-Identifier: Apache-2.0
#include "cuda/kernels/reorder.h"

#include "base/align.h"
#include "cuda/kernels/host_plan.h"
#include "cuda/kernels/kernels.h"
#include "ops/backend_kernels.h"
#include "ops/blocked_layout.h"

namespace anynpu::device::cuda {

namespace {

using ops::Layout;
using ops::OpContext;
using ops::PlanResult;

constexpr unsigned kThreads = 256;
constexpr int64_t kTile = 32;
constexpr int64_t kFewChannels = 16;  // up to this, a thread converts a whole pixel

size_t blocks_for(int64_t count) {
  return static_cast<size_t>(ceil_div(count, static_cast<int64_t>(kThreads)));
}

// One thread per pixel: reads are coalesced in each plane.
std::string pixel_source(std::string_view type, int64_t channels, int64_t plane, int64_t wide,
                         bool from_plain, int64_t pixels) {
  const std::string at =
      from_plain ? format("(i / {0}) * {1} + i % {0} + c * {0}", plane, plane * channels)
                 : format("i * {} + c", channels);
  return format(
      "struct alignas({5}) Pixel {{ {0} v[{1}]; }};\n"
      "extern \"C\" __global__ void kernel(const {0}* x, Pixel* y) {{\n"
      "  const i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; if (i >= {2}) return;\n"
      "  Pixel p;\n#pragma unroll\n  for (int c = 0; c < {1}; ++c) p.v[c] = c < {3} ? x[{4}] : "
      "({0})0;\n"
      "  y[i] = p;\n}}\n",
      type, wide, pixels, channels, at,
      std::min<int64_t>(16, wide * (type == "u16"  ? 2
                                    : type == "u8" ? 1
                                                   : 4)));
}

}  // namespace

Result<std::shared_ptr<const LayoutConversion>> make_to_channels_last(DType type, int64_t batch,
                                                                      int64_t channels,
                                                                      int64_t plane, int64_t wide,
                                                                      bool from_plain) {
  if (from_plain && wide == channels && channels > kFewChannels)
    return make_transpose(size_of(type), batch, channels, plane);
  auto conversion = std::make_shared<LayoutConversion>();
  conversion->threads = kThreads;
  conversion->bytes = static_cast<size_t>(batch * plane * wide) * size_of(type);
  const bool few = wide <= kFewChannels && (wide & (wide - 1)) == 0;
  if (few) {
    conversion->blocks = blocks_for(batch * plane);
    ANYNPU_ASSIGN(conversion->kernel,
                  JitKernel::make(pixel_source(bits_type(size_of(type)), channels, plane, wide,
                                               from_plain, batch * plane)));
    return std::shared_ptr<const LayoutConversion>(std::move(conversion));
  }
  const int64_t count = batch * plane * wide;
  conversion->blocks = blocks_for(count);
  const std::string at =
      from_plain ? format("(p / {0}) * {1} + p % {0} + c * {0}", plane, plane * channels)
                 : format("p * {} + c", channels);
  ANYNPU_ASSIGN(
      conversion->kernel,
      JitKernel::make(format(
          "extern \"C\" __global__ void kernel(const {0}* x, {0}* y) {{\n"
          "  const i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; if (i >= {1}) return;\n"
          "  const i64 p = i / {2}, c = i % {2};\n  y[i] = c < {3} ? x[{4}] : ({0})0;\n}}\n",
          bits_type(size_of(type)), count, wide, channels, at)));
  return std::shared_ptr<const LayoutConversion>(std::move(conversion));
}

namespace {

Result<std::shared_ptr<LayoutConversion>> make_patches(DType type, const Patches& p, int64_t pack) {
  auto conversion = std::make_shared<LayoutConversion>();
  conversion->threads = kThreads;
  const int64_t row = p.channels * p.window_height * p.window_width;
  const int64_t count = p.batch * p.down * p.across * row;
  conversion->bytes = static_cast<size_t>(count) * size_of(type);
  conversion->blocks = blocks_for(count / pack);
  ANYNPU_ASSIGN(
      conversion->kernel,
      JitKernel::make(format(
          "struct alignas({1} * sizeof({0})) P {{ {0} v[{1}]; }};\n"
          "extern \"C\" __global__ void kernel(const P* x, P* y) {{\n"
          "  const i64 i = blockIdx.x * (i64)blockDim.x + threadIdx.x; if (i >= {2}) return;\n"
          "  i64 rest = i; const int tx = rest % {3}; rest /= {3}; const int ty = rest % {4}; rest "
          "/= {4};\n"
          "  const int c = rest % {5}; rest /= {5}; const int ox = rest % {6}; rest /= {6};\n"
          "  const int oy = rest % {7}; const i64 b = rest / {7};\n"
          "  y[i] = x[((b * {5} + c) * {8} + oy * {4} + ty) * {9} + ox * {3} + tx];\n}}\n",
          bits_type(size_of(type)), pack, count / pack, p.window_width / pack, p.window_height,
          p.channels, p.across, p.down, p.height, p.width / pack)));
  return conversion;
}

}  // namespace

// Vectorized along the rows of a window, with a scalar kernel for unaligned inputs.
Result<std::shared_ptr<const LayoutConversion>> make_patches(DType type, const Patches& p) {
  auto pack = static_cast<int64_t>(16 / size_of(type));
  while (p.window_width % pack != 0 || p.width % pack != 0) pack /= 2;
  ANYNPU_ASSIGN(std::shared_ptr<LayoutConversion> conversion, make_patches(type, p, pack));
  if (pack > 1) {
    ANYNPU_ASSIGN(conversion->unaligned, make_patches(type, p, 1));
  }
  return std::shared_ptr<const LayoutConversion>(std::move(conversion));
}

Result<std::shared_ptr<const LayoutConversion>> make_transpose(size_t element_bytes, int64_t batch,
                                                               int64_t rows, int64_t columns) {
  auto conversion = std::make_shared<LayoutConversion>();
  conversion->threads = kThreads;
  conversion->bytes = static_cast<size_t>(batch * rows * columns) * element_bytes;
  const int64_t down = ceil_div(rows, kTile), across = ceil_div(columns, kTile);
  conversion->blocks = static_cast<size_t>(batch * down * across);
  ANYNPU_ASSIGN(
      conversion->kernel,
      JitKernel::make(format(
          "extern \"C\" __global__ void kernel(const {0}* x, {0}* y) {{\n"
          "  __shared__ {0} tile[32][33];\n"
          "  const i64 b = blockIdx.x / {1}; const int at = blockIdx.x % {1};\n"
          "  const int r0 = at / {2} * 32, c0 = at % {2} * 32, tx = threadIdx.x & 31, ty = "
          "threadIdx.x "
          ">> 5;\n  x += b * {5}; y += b * {5};\n"
          "  for (int k = ty; k < 32; k += 8)\n"
          "    if (r0 + k < {3} && c0 + tx < {4}) tile[k][tx] = x[(i64)(r0 + k) * {4} + c0 + tx];\n"
          "  __syncthreads();\n"
          "  for (int k = ty; k < 32; k += 8)\n"
          "    if (c0 + k < {4} && r0 + tx < {3}) y[(i64)(c0 + k) * {3} + r0 + tx] = tile[tx][k];\n"
          "}}\n",
          bits_type(element_bytes), down * across, across, rows, columns, rows * columns)));
  return std::shared_ptr<const LayoutConversion>(std::move(conversion));
}

namespace {

PlanResult plan_reorder(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const Layout from = context.inputs[0].layout, to = context.outputs[0].layout;
  int64_t plane = 1;
  for (size_t d = 2; d < shape.size(); ++d) plane *= shape[d];
  const size_t bytes = bytes_of(context.inputs[0].dtype, static_cast<size_t>(element_count(shape)));
  std::unique_ptr<ops::KernelPlan> plan;
  if (plane <= 1 || shape[1] == 1 || bytes == 0) {  // both layouts are the same
    plan = cuda_plan([bytes](const ops::RunArgs& args, CudaQueue& queue) {
      if (bytes == 0 || args.outputs[0] == args.inputs[0]) return Status();
      return queue.copy({args.outputs[0], args.inputs[0], bytes});
    });
    plan->in_place_input = 0;
    plan->view = true;
  } else {
    const bool to_channels_last = to == ops::Layout::channels_last;
    const DType type = context.inputs[0].dtype;
    const auto made = to_channels_last
                          ? make_to_channels_last(type, shape[0], shape[1], plane, shape[1], true)
                          : make_transpose(size_of(type), shape[0], plane, shape[1]);
    ANYNPU_ASSIGN(const auto conversion, made);
    plan = cuda_plan([conversion](const ops::RunArgs& args, CudaQueue& queue) {
      const void* x = args.inputs[0];
      void* y = args.outputs[0];
      void* arguments[] = {&x, &y};
      return conversion->enqueue(queue, arguments);
    });
  }
  plan->input_layouts = {from};
  plan->output_layouts = {to};
  return plan;
}

}  // namespace

void add_reorder(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back({.op = ops::kReorderOp,
                     .name = "cuda_reorder",
                     .domain = ops::kReorderDomain,
                     .backend = "cuda",
                     .types = ops::kAnyFixed,
                     .create = ops::create_plain<plan_reorder>});
}

}  // namespace anynpu::device::cuda
