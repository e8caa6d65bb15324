// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and their global variants for 16-bit floats with channels last. Each thread
// computes a few channels of one output; global pooling also splits the pixels over 8 warps.
#include "base/align.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/blocked_layout.h"
#include "ops/pool/pool.h"

namespace anynpu::device::cuda {

namespace {

using ops::Layout;
using ops::OpContext;
using ops::PlanResult;
using ops::pool::PoolKind;
using ops::pool::PoolShape;

constexpr unsigned kThreads = 256;

int64_t channels_of_thread(int64_t channels) {
  for (const int64_t pack : {8, 4, 2}) {
    if (channels % pack == 0) return pack;
  }
  return 1;
}

std::string head(DType type, int64_t pack) {
  return format(
      "typedef float C; typedef {0} T; struct alignas({1} * sizeof(T)) P {{ T v[{1}]; }};\n",
      cuda_name(type), pack);
}

bool whole_picture(const ops::Window& w) {
  for (size_t d = 0; d < w.dims(); ++d) {
    if (w.kernel[d] != w.in[d] || w.out[d] != 1 || w.pad_begin[d] != 0 || w.pad_end[d] != 0)
      return false;
  }
  return true;
}

// Global pooling: a block has 32 packs of channels and splits the pixels into 8 parts.
std::string whole_source(const PoolShape& pool, DType type, int64_t pack, int64_t plane) {
  const bool max = pool.kind == PoolKind::max;
  const int64_t packs = pool.channels / pack;
  return head(type, pack) +
         format(
             "extern \"C\" __global__ void kernel(const P* x, P* y) {{\n"
             "  __shared__ C parts[8][32][{0}];\n"
             "  const int lane = threadIdx.x & 31, part = threadIdx.x >> 5;\n"
             "  const i64 b = blockIdx.x / {1}; const int c = blockIdx.x % {1} * 32 + lane;\n"
             "  C acc[{0}];\n#pragma unroll\n  for (int k = 0; k < {0}; ++k) acc[k] = {2};\n"
             "  if (c < {3})\n#pragma unroll 4\n    for (int p = part; p < {4}; p += 8) {{\n"
             "      const P v = x[(b * {4} + p) * {3} + c];\n#pragma unroll\n"
             "      for (int k = 0; k < {0}; ++k) acc[k] = {5};\n    }}\n"
             "#pragma unroll\n  for (int k = 0; k < {0}; ++k) parts[part][lane][k] = acc[k];\n"
             "  __syncthreads();\n  if (part || c >= {3}) return;\n  P out;\n#pragma unroll\n"
             "  for (int k = 0; k < {0}; ++k) {{\n    C s = parts[0][lane][k];\n"
             "    for (int q = 1; q < 8; ++q) s = {6};\n    store(out.v[k], s{7});\n  }}\n"
             "  y[b * {3} + c] = out;\n}}\n",
             pack, ceil_div(packs, 32), max ? "-INFINITY" : "0", packs, plane,
             max ? "higher((C)load(v.v[k]), acc[k])" : "acc[k] + load(v.v[k])",
             max ? "higher(parts[q][lane][k], s)" : "s + parts[q][lane][k]",
             max ? std::string() : format(" / {}", plane));
}

// One thread per pack of output channels: kernel(x, y).
std::string window_source(const PoolShape& pool, DType type, int64_t pack, int64_t count) {
  const ops::Window& w = pool.window;
  const bool max = pool.kind == PoolKind::max;
  const int64_t packs = pool.channels / pack;
  std::string code = format("    u32 rest = i / {0}; const int c = i % {0};\n", packs);
  int64_t plane = 1;
  for (const int64_t extent : w.in) plane *= extent;
  for (size_t d = w.dims(); d-- > 0;)
    code += format("    const int o{0} = rest % {1}; rest /= {1};\n", d, w.out[d]);
  code += format(
      "    C acc[{0}]; bool any = false; C inside = 0, taps = 1;\n#pragma unroll\n"
      "    for (int k = 0; k < {0}; ++k) acc[k] = 0;\n",
      pack);
  std::string offset = "0", close;
  for (size_t d = 0; d < w.dims(); ++d) {
    code += format(
        "#pragma unroll\n    for (int t{0} = 0; t{0} < {1}; ++t{0}) {{ const int p{0} = o{0} * {2} "
        "+ "
        "t{0} * {3} - {4}; if (p{0} < 0 || p{0} >= {5}) continue;\n",
        d, w.kernel[d], w.stride[d], w.dilation[d], w.pad_begin[d], w.in[d]);
    offset = format("({}) * {} + p{}", offset, w.in[d], d);
    close += "}";
  }
  code += format(
      "      const P v = x[((i64)rest * {0} + {1}) * {2} + c]; inside += 1;\n"
      "#pragma unroll\n      for (int k = 0; k < {3}; ++k) {{ const C u = load(v.v[k]); "
      "acc[k] = {4}; }}\n      any = true;\n    {5}\n",
      plane, offset, packs, pack, max ? "any ? higher(u, acc[k]) : u" : "acc[k] + u", close);
  if (!max && pool.count_pads) {
    for (size_t d = 0; d < w.dims(); ++d) {
      code += format(
          "    {{ int n = 0; for (int t = 0; t < {1}; ++t) n += o{0} * {2} + t * {3} - {4} < {5}; "
          "taps "
          "*= n; }}\n",
          d, w.kernel[d], w.stride[d], w.dilation[d], w.pad_begin[d], w.in[d] + w.pad_end[d]);
    }
  }
  const char* const scaled = max ? "" : pool.count_pads ? " / taps" : " / inside";
  return head(type, pack) +
         format(
             "extern \"C\" __global__ void kernel(const P* x, P* y) {{\n"
             "  const u32 i = blockIdx.x * blockDim.x + threadIdx.x; if (i >= {}u) return;\n{}"
             "    P out;\n#pragma unroll\n    for (int k = 0; k < {}; ++k) store(out.v[k], "
             "acc[k]{});"
             "\n    y[i] = out;\n}}\n",
             count, code, pack, scaled);
}

PlanResult plan_pool(const OpContext& context) {
  ANYNPU_ASSIGN(const PoolShape pool, ops::pool::pool_shape_of(context));
  const DType type = context.inputs[0].dtype;
  const int64_t pack = channels_of_thread(pool.channels);
  const int64_t packs = pool.channels / pack;
  size_t blocks = 0;
  std::string source;
  if (whole_picture(pool.window)) {
    int64_t plane = 1;
    for (const int64_t extent : pool.window.in) plane *= extent;
    blocks = static_cast<size_t>(pool.batch * ceil_div(packs, 32));
    source = whole_source(pool, type, pack, plane);
  } else {
    const int64_t count = element_count(context.outputs[0].shape) / pack;
    blocks = static_cast<size_t>(ceil_div(count, int64_t{kThreads}));
    source = window_source(pool, type, pack, count);
  }
  ANYNPU_ASSIGN(auto kernel, JitKernel::make(std::move(source)));
  auto plan = cuda_plan([kernel, blocks](const ops::RunArgs& args, CudaQueue& queue) {
    const void* x = args.inputs[0];
    void* y = args.outputs[0];
    void* arguments[] = {&x, &y};
    return kernel->launch(queue, blocks, kThreads, arguments);
  });
  plan->input_layouts = {ops::Layout::channels_last};
  plan->output_layouts = {ops::Layout::channels_last};
  return plan;
}

Status can_run_pool(const OpContext& context) {
  if (context.inputs[0].layout != ops::Layout::channels_last)
    return fail(Code::unsupported_feature, "the input comes in plain layout");
  if (context.outputs.size() > 1 && context.outputs[1].present)
    return fail(Code::unsupported_feature, "indices are asked for");
  if (element_count(context.outputs[0].shape) >= (int64_t{1} << 31) ||
      element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to compute, or more than 2^31 elements");
  return {};
}

}  // namespace

void add_channels_last_pools(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}) {
    kernels.push_back({.op = op,
                       .name = "channels_last",
                       .backend = "cuda",
                       .types = ops::DTypeSet{DType::f16, DType::bf16},
                       .can_run = can_run_pool,
                       .create = ops::create_plain<plan_pool>});
  }
}

}  // namespace anynpu::device::cuda
