// SPDX-License-Identifier: Apache-2.0
// Gather along an axis. An index outside the axis gives zeros: the host kernel would refuse it, a
// GPU cannot ask.
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

std::string_view bits_name(size_t bytes) {
  return bytes == 1 ? "u8" : bytes == 2 ? "u16" : bytes == 4 ? "u32" : "u64";
}

PlanResult plan_gather(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis, ops::normal_axis(context, context.int_attr("axis"),
                                                     context.inputs[0].rank()));
  int64_t inner = 1;
  for (auto d = static_cast<size_t>(axis) + 1; d < shape.size(); ++d) inner *= shape[d];
  const int64_t extent = shape[static_cast<size_t>(axis)];
  const int64_t indices = element_count(context.inputs[1].shape);
  const std::string_view type = bits_name(size_of(context.inputs[0].dtype));
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "extern \"C\" __global__ void kernel(const {0}* x, const {1}* at, {0}* y, u64 n) {{\n"
          "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "(u64)blockDim.x) {{\n"
          "    const u64 j = i % {2}, k = i / {2} % {3}, o = i / {4};\n"
          "    i64 index = at[k]; if (index < 0) index += {5};\n"
          "    y[i] = index >= 0 && index < {5} ? x[(o * {5} + index) * {2} + j] : ({0})0;\n"
          "  }}\n}}\n",
          type, cuda_name(context.inputs[1].dtype), std::max<int64_t>(inner, 1),
          std::max<int64_t>(indices, 1), std::max<int64_t>(inner * indices, 1), extent)));
  const auto count = static_cast<size_t>(element_count(context.outputs[0].shape));
  return cuda_plan([kernel, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *at = args.inputs[1];
    void* y = args.outputs[0];
    size_t n = count;
    void* arguments[] = {&x, &at, &y, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

// Only indices that are known to be inside: others are the host's, which can refuse them.
Status can_run_gather(const OpContext& context) {
  if (size_of(context.inputs[0].dtype) > 8) return fail(Code::unsupported_dtype, "wide elements");
  return {};
}

}  // namespace

void add_gathers(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back({.op = "Gather",
                     .name = "cuda_gather",
                     .backend = "cuda",
                     .types = ops::kNumbers | ops::DTypeSet{DType::boolean},
                     .can_run = can_run_gather,
                     .create = ops::create_plain<plan_gather>});
}

}  // namespace anynpu::device::cuda
