// SPDX-License-Identifier: Apache-2.0
// NegativeLogLikelihoodLoss and SoftmaxCrossEntropyLoss. A single thread block sums in a fixed
// order, so results are deterministic.
#include "cuda/kernels/index_check.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

constexpr unsigned kThreads = 256;

std::string source_of(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const int64_t classes = x[1], spatial = element_count(Shape(x.begin() + 2, x.end()));
  const std::string how = context.string_attr("reduction");
  const bool softmax = context.schema->name == "SoftmaxCrossEntropyLoss";
  const bool keeps_scores = context.outputs.size() > 1 && context.outputs[1].present;
  const std::string ignored = context.has_attr("ignore_index")
                                  ? format("at == {}ll", context.int_attr("ignore_index"))
                                  : "false";
  std::string shift;
  if (softmax) {
    shift = format(
        "    C top = load(x[base]); for (i64 c = 1; c < {0}; ++c) {{ const C v = load(x[base + c * "
        "{1}]); "
        "top = v > top ? v : top; }}\n"
        "    C sum = 0; for (i64 c = 0; c < {0}; ++c) sum += exp((C)load(x[base + c * {1}]) - "
        "top);\n"
        "    shift = top + log(sum);\n",
        classes, spatial);
    if (keeps_scores) {
      shift += format(
          "    for (i64 c = 0; c < {0}; ++c) store(scores[base + c * {1}], "
          "(C)load(x[base + c * {1}]) - shift);\n",
          classes, spatial);
    }
  }
  return format(
      "typedef double C; typedef {0} T;\n"
      "__device__ C joined(C v) {{\n  __shared__ C parts[{1}]; parts[threadIdx.x] = v; "
      "__syncthreads();\n"
      "  C s = 0; for (int k = 0; k < {1}; ++k) s += parts[k]; __syncthreads(); return s;\n}}\n"
      "extern \"C\" __global__ void kernel(const T* x, const {2}* labels, const T* weight, T* y, "
      "T* "
      "scores, volatile i64* board, i64 number) {{\n"
      "  C total = 0, weights = 0;\n"
      "  for (i64 p = threadIdx.x; p < {3}; p += {1}) {{\n"
      "    const i64 base = p / {4} * {5} + p % {4}; C shift = 0, loss = 0;\n{6}"
      "    const i64 at = labels[p];\n"
      "    if (!({7})) {{\n      if (at < 0 || at >= {8}) {{ fault(board, number, at, {8}); "
      "continue; }}\n"
      "      const C w = {9}; loss = -((C)load(x[base + at * {4}]) - shift) * w; total += loss; "
      "weights += "
      "w;\n    }}\n    {10}\n  }}\n"
      "  if ({11}) return;\n  total = joined(total); weights = joined(weights);\n"
      "  if (threadIdx.x == 0) store(y[0], (float)({12}));\n}}\n",
      cuda_name(context.inputs[0].dtype), kThreads, cuda_name(context.inputs[1].dtype),
      x[0] * spatial, std::max<int64_t>(spatial, 1), classes * spatial, shift, ignored, classes,
      context.has_input(2) ? "(C)load(weight[at])" : "(C)1",
      how == "none" ? "store(y[p], (float)loss);" : "", how == "none" ? "true" : "false",
      how == "mean" ? "total / weights" : "total");
}

PlanResult plan_loss(const OpContext& context) {
  ANYNPU_ASSIGN(auto kernel, JitKernel::make(source_of(context)));
  ANYNPU_ASSIGN(const IndexCheck check, IndexCheck::of(context));
  return cuda_plan([kernel, check](const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *labels = args.inputs[1];
    const void* weight = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
    void* y = args.outputs[0];
    void* scores = args.outputs.size() > 1 ? args.outputs[1] : nullptr;
    volatile int64_t* board = check.board;
    uint64_t number = check.number;
    void* arguments[] = {&x, &labels, &weight, &y, &scores, &board, &number};
    return kernel->launch(queue, 1, kThreads, arguments);
  });
}

Status can_run_loss(const OpContext& context) {
  if (element_count(context.inputs[0].shape) == 0)
    return fail(Code::unsupported_shape, "nothing to sum");
  return {};
}

}  // namespace

void add_losses(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"NegativeLogLikelihoodLoss", "SoftmaxCrossEntropyLoss"}) {
    kernels.push_back({.op = op,
                       .name = "cuda_block",
                       .backend = "cuda",
                       .types = ops::DTypeSet{DType::f32, DType::f16, DType::bf16},
                       .can_run = can_run_loss,
                       .create = ops::create_plain<plan_loss>});
  }
}

}  // namespace anynpu::device::cuda
