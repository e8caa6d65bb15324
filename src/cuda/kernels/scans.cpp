// SPDX-License-Identifier: Apache-2.0
// CumSum and CumProd: one thread per row. The axis may be known only at run time.
#include "cuda/kernels/index_check.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

PlanResult plan_scan(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  std::string extents;
  for (const int64_t extent : shape) extents += format("{},", extent);
  const bool product = context.schema->name == "CumProd";
  const bool exclusive = context.int_attr("exclusive") != 0;
  const bool reverse = context.int_attr("reverse") != 0;
  const int64_t count = element_count(shape);
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "typedef {0} C; typedef {1} T;\n__device__ const i64 extents[] = {{{2}}};\n"
          "extern \"C\" __global__ void kernel(const T* x, const {3}* at, T* y, volatile i64* "
          "board, i64 "
          "number) {{\n  i64 axis = at[0]; if (axis < 0) axis += {4};\n"
          "  if (axis < 0 || axis >= {4}) {{ fault(board, number, at[0], {4}); return; }}\n"
          "  i64 step = 1; for (i64 d = axis + 1; d < {4}; ++d) step *= extents[d];\n"
          "  const i64 length = extents[axis], rows = {5} / length;\n"
          "  for (i64 r = blockIdx.x * (i64)blockDim.x + threadIdx.x; r < rows; r += gridDim.x * "
          "(i64)blockDim.x) {{\n"
          "    const i64 base = r / step * step * length + r % step; C s = {6};\n"
          "    for (i64 k = 0; k < length; ++k) {{\n      const i64 j = base + ({7}) * step; const "
          "C v = "
          "load(x[j]);\n      if ({8}) {{ store(y[j], s); s = s {9} v; }} else {{ s = s {9} v; "
          "store(y[j], s); "
          "}}\n    }}\n  }}\n}}\n",
          compute_name(context.inputs[0].dtype), cuda_name(context.inputs[0].dtype), extents,
          cuda_name(context.inputs[1].dtype), shape.size(), count, product ? "1" : "0",
          reverse ? "length - 1 - k" : "k", exclusive ? 1 : 0, product ? "*" : "+")));
  ANYNPU_ASSIGN(const IndexCheck check, IndexCheck::of(context));
  return cuda_plan([kernel, check, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *at = args.inputs[1];
    void* y = args.outputs[0];
    volatile int64_t* board = check.board;
    uint64_t number = check.number;
    void* arguments[] = {&x, &at, &y, &board, &number};
    return kernel->launch_over(queue, static_cast<size_t>(count), arguments);
  });
}

Status can_run_scan(const OpContext& context) {
  if (element_count(context.inputs[0].shape) == 0 || context.inputs[0].rank() == 0)
    return fail(Code::unsupported_shape, "nothing to add up");
  if (cuda_name(context.inputs[1].dtype).empty())
    return fail(Code::unsupported_dtype, "an axis of type {}", name_of(context.inputs[1].dtype));
  return {};
}

}  // namespace

void add_scans(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"CumSum", "CumProd"}) {
    kernels.push_back({.op = op,
                       .name = "cuda_rows",
                       .backend = "cuda",
                       .types = ops::kNumbers,
                       .can_run = can_run_scan,
                       .create = ops::create_plain<plan_scan>});
  }
}

}  // namespace anynpu::device::cuda
