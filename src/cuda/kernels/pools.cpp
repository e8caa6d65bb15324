// SPDX-License-Identifier: Apache-2.0
// MaxPool, AveragePool and their global variants in plain layout: a grid stride loop over the
// outputs.
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/pool/pool.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

// Loops over the taps of the window that are inside the input; `body` can use `at`, the tap's
// offset.
std::string tap_loops(const ops::Window& w, const std::string& body) {
  std::string code = "    u32 rest = i;\n";
  for (size_t d = w.dims(); d-- > 0;)
    code += format("    const int o{0} = rest % {1}; rest /= {1};\n", d, w.out[d]);
  int64_t plane = 1;
  for (const int64_t extent : w.in) plane *= extent;
  code += format("    const i64 base = (i64)rest * {};\n", plane);
  std::string offset = "base";
  std::string close;
  for (size_t d = 0; d < w.dims(); ++d) {
    code += format(
        "    for (int t{0} = 0; t{0} < {1}; ++t{0}) {{ const int p{0} = o{0} * {2} + t{0} * {3} - "
        "{4}; if (p{0} < 0 || p{0} >= {5}) continue;\n",
        d, w.kernel[d], w.stride[d], w.dilation[d], w.pad_begin[d], w.in[d]);
    close += "}";
  }
  int64_t scale = 1;
  for (size_t d = w.dims(); d-- > 0;) {
    offset += format(" + (i64)p{} * {}", d, scale);
    scale *= w.in[d];
  }
  return code + format("      const i64 at = {};\n      {}\n    {}\n", offset, body, close);
}

// The divisor of an average that counts padding: the taps inside the padded input.
std::string padded_count(const ops::Window& w) {
  std::string code = "    C taps = 1;\n";
  for (size_t d = 0; d < w.dims(); ++d) {
    code += format(
        "    {{ int c = 0; for (int t = 0; t < {1}; ++t) {{ const int p = o{0} * {2} + t * {3} - "
        "{4}; c += p < {5}; }} taps *= c; }}\n",
        d, w.kernel[d], w.stride[d], w.dilation[d], w.pad_begin[d], w.in[d] + w.pad_end[d]);
  }
  return code;
}

PlanResult plan_pool(const OpContext& context) {
  ANYNPU_ASSIGN(const ops::pool::PoolShape pool, ops::pool::pool_shape_of(context));
  const bool max = pool.kind == ops::pool::PoolKind::max;
  const DType type = context.inputs[0].dtype;
  std::string body;
  if (max) {
    body = "    C best = 0; bool any = false;\n" +
           tap_loops(pool.window,
                     "const C v = load(x[at]); best = any ? higher(v, best) : v; "
                     "any = true;") +
           "    store(y[i], best);\n";
  } else {
    body =
        "    C sum = 0, inside = 0;\n" + tap_loops(pool.window, "sum += load(x[at]); inside += 1;");
    body += pool.count_pads ? padded_count(pool.window) + "    store(y[i], sum / taps);\n"
                            : "    store(y[i], sum / inside);\n";
  }
  ANYNPU_ASSIGN(auto kernel,
                JitKernel::make(format(
                    "typedef {} C;\nextern \"C\" __global__ void kernel(const {}* x, {}* y, u32 n) "
                    "{{\n  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += "
                    "gridDim.x * blockDim.x) {{\n{}  }}\n}}\n",
                    compute_name(type), cuda_name(type), cuda_name(type), body)));
  const auto count = static_cast<uint32_t>(element_count(context.outputs[0].shape));
  return cuda_plan([kernel, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void* x = args.inputs[0];
    void* y = args.outputs[0];
    uint32_t n = count;
    void* arguments[] = {&x, &y, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

Status can_run_pool(const OpContext& context) {
  if (context.outputs.size() > 1) return fail(Code::unsupported_feature, "indices are asked for");
  if (element_count(context.outputs[0].shape) >= (int64_t{1} << 31))
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  return {};
}

}  // namespace

void add_pools(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"MaxPool", "AveragePool", "GlobalMaxPool", "GlobalAveragePool"}) {
    kernels.push_back({.op = op,
                       .name = "cuda_pool",
                       .backend = "cuda",
                       .types = ops::kFloats,
                       .can_run = can_run_pool,
                       .create = ops::create_plain<plan_pool>});
  }
}

}  // namespace anynpu::device::cuda
