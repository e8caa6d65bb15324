// SPDX-License-Identifier: Apache-2.0
// FusedAttention: flash attention, or two matrix products with a softmax kernel in between and the
// scores in the workspace.
#include "ops/attention/attention.h"

#include <algorithm>
#include <array>

#include "base/align.h"
#include "cuda/kernels/flash_attention.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/product.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::attention::AttentionShape;

// Adds the mask and takes the softmax of each row of scores, in place: a block of 128 threads per
// row.
Result<std::shared_ptr<const JitKernel>> make_softmax(const OpContext& context,
                                                      const AttentionShape& a) {
  const DType type = context.inputs[0].dtype;
  std::string mask;
  std::string mask_type = std::string(cuda_name(type));
  if (a.has_mask) {
    const DType of_mask = context.inputs[3].dtype;
    mask_type = std::string(cuda_name(of_mask));
    const std::string at = format("mask[b * {} + h * {} + r * {} + j * {}]", a.mask_steps[0],
                                  a.mask_steps[1], a.mask_steps[2], a.mask_steps[3]);
    mask = of_mask == DType::boolean ? format("if (!load({})) v = -INFINITY;", at)
                                     : format("v += (C)load({});", at);
    if (a.mask_columns < a.columns)
      mask = format("if (j >= {}) v = -INFINITY; else {{ {} }}", a.mask_columns, mask);
  }
  return JitKernel::make(format(
      "typedef float C;\n"
      "__device__ C joined(C v, bool sum) {{\n"
      "  __shared__ C parts[4];\n"
      "  for (int s = 16; s > 0; s >>= 1) {{ const C o = __shfl_xor_sync(0xffffffffu, v, s); v = "
      "sum ? "
      "v + o : fmaxf(v, o); }}\n"
      "  __syncthreads(); if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v; "
      "__syncthreads();\n"
      "  v = parts[0]; for (int w = 1; w < 4; ++w) v = sum ? v + parts[w] : fmaxf(v, parts[w]);\n"
      "  return v;\n}}\n"
      "extern \"C\" __global__ void kernel({0}* scores, const {1}* mask) {{\n"
      "  const i64 row = blockIdx.x, r = row % {2}, h = row / {2} % {3}, b = row / {4};\n"
      "  {0}* s = scores + row * {5};\n"
      "  C top = -INFINITY;\n"
      "  for (int j = threadIdx.x; j < {5}; j += blockDim.x) {{\n"
      "    C v = (C)load(s[j]); {6} store(s[j], v); top = fmaxf(top, v);\n  }}\n"
      "  top = joined(top, false);\n  C sum = 0;\n"
      "  for (int j = threadIdx.x; j < {5}; j += blockDim.x) sum += expf((C)load(s[j]) - top);\n"
      "  sum = joined(sum, true);\n"
      "  for (int j = threadIdx.x; j < {5}; j += blockDim.x) store(s[j], expf((C)load(s[j]) - top) "
      "/ "
      "sum);\n}}\n",
      cuda_name(type), mask_type, a.rows, a.heads, a.rows * a.heads, a.columns, mask));
}

// Runs the kernel on aligned copies of unaligned operands.
Status run_on_copies(const FlashAttention& flash, const std::array<size_t, 4>& bytes,
                     const ops::RunArgs& args, CudaQueue& queue, bool masked) {
  const Driver& cuda = driver();
  CUdeviceptr block = 0;
  ANYNPU_TRY(cuda_status(
      cuda.cuMemAllocAsync(&block, bytes[0] + bytes[1] + bytes[2] + bytes[3], queue.stream()),
      "taking memory for copies of operands"));
  auto* at = reinterpret_cast<std::byte*>(block);
  std::vector<const std::byte*> inputs(args.inputs.begin(), args.inputs.end());
  Status status;
  for (size_t k = 0; k < 3 && status.ok(); ++k) {
    status = queue.copy({at, args.inputs[k], bytes[k]});
    inputs[k] = at;
    at += bytes[k];
  }
  std::byte* const outputs[] = {at};
  ops::RunArgs copies = args;
  copies.inputs = inputs;
  copies.outputs = outputs;
  if (status.ok()) status = flash.enqueue(copies, queue, masked);
  if (status.ok()) status = queue.copy({args.outputs[0], at, bytes[3]});
  const Status freed = cuda_status(cuda.cuMemFreeAsync(block, queue.stream()), "freeing copies");
  return status.ok() ? freed : status;
}

PlanResult plan_flash(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  ANYNPU_ASSIGN(
      const FlashAttention flash,
      make_flash(a, context.inputs[0].dtype, a.has_mask ? context.inputs[3].dtype : DType::f16));
  const auto bytes_of_operand = [](const ops::Operand& operand) {
    return bytes_of(operand.dtype, static_cast<size_t>(element_count(operand.shape)));
  };
  const std::array<size_t, 4> bytes = {
      bytes_of_operand(context.inputs[0]), bytes_of_operand(context.inputs[1]),
      bytes_of_operand(context.inputs[2]), bytes_of_operand(context.outputs[0])};
  return cuda_plan([flash, bytes, masked = a.has_mask](const ops::RunArgs& args, CudaQueue& queue) {
    return FlashAttention::aligned(args) ? flash.enqueue(args, queue, masked)
                                         : run_on_copies(flash, bytes, args, queue, masked);
  });
}

PlanResult plan_attention(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  const DType type = context.inputs[0].dtype;
  const auto bytes = static_cast<int64_t>(size_of(type));
  ProductShape scores{.type = type, .m = a.rows, .n = a.columns, .k = a.size, .transpose_b = true};
  scores.lda = a.q.row;
  scores.ldb = a.key.read.row;
  scores.ldy = a.columns;
  scores.batch = static_cast<int32_t>(a.heads);
  scores.stride_a = a.q.head;
  scores.stride_b = a.key.read.head;
  scores.stride_y = a.rows * a.columns;
  ProductShape values{.type = type, .m = a.rows, .n = a.value_size, .k = a.columns};
  values.lda = a.columns;
  values.ldb = a.value.read.row;
  values.ldy = a.y.row;
  values.batch = static_cast<int32_t>(a.heads);
  values.stride_a = a.rows * a.columns;
  values.stride_b = a.value.read.head;
  values.stride_y = a.y.head;
  ANYNPU_ASSIGN(const auto first, Product::make(scores));
  ANYNPU_ASSIGN(const auto second, Product::make(values));
  ANYNPU_ASSIGN(const auto softmax, make_softmax(context, a));
  const int64_t score_bytes = a.heads * a.rows * a.columns * bytes;
  const size_t scratch_at = round_up(static_cast<size_t>(a.batch * score_bytes), size_t{512});
  auto plan = cuda_plan([=](const ops::RunArgs& args, CudaQueue& queue) {
    std::byte* const scratch = args.workspace + scratch_at;
    for (int64_t b = 0; b < a.batch; ++b) {
      ANYNPU_TRY(first->enqueue(queue.gpu(), queue.stream(),
                                {.a = args.inputs[0] + b * a.q.batch * bytes,
                                 .b = args.inputs[1] + b * a.key.read.batch * bytes,
                                 .y = args.workspace + b * score_bytes,
                                 .workspace = scratch,
                                 .alpha = a.scale}));
    }
    void* at = args.workspace;
    const void* mask = a.has_mask ? args.inputs[3] : nullptr;
    void* arguments[] = {&at, &mask};
    ANYNPU_TRY(
        softmax->launch(queue, static_cast<size_t>(a.batch * a.heads * a.rows), 128, arguments));
    for (int64_t b = 0; b < a.batch; ++b) {
      ANYNPU_TRY(second->enqueue(queue.gpu(), queue.stream(),
                                 {.a = args.workspace + b * score_bytes,
                                  .b = args.inputs[2] + b * a.value.read.batch * bytes,
                                  .y = args.outputs[0] + b * a.y.batch * bytes,
                                  .workspace = scratch}));
    }
    return Status();
  });
  plan->workspace_bytes =
      scratch_at + std::max(first->workspace_bytes(), second->workspace_bytes());
  return plan;
}

Status can_run_either(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  if (a.has_past || a.causal || a.left >= 0 || a.right >= 0 || a.has_lengths || a.softcap != 0 ||
      a.scores != ops::attention::Scores::none)
    return fail(Code::unsupported_feature, "caches, windows, groups or scores are asked for");
  if (a.has_mask && cuda_name(context.inputs[3].dtype).empty())
    return fail(Code::unsupported_dtype, "a mask of type {}", name_of(context.inputs[3].dtype));
  if (a.batch * a.heads * a.rows == 0 || a.columns == 0 || a.size == 0)
    return fail(Code::unsupported_shape, "nothing to compute");
  if (a.batch * a.heads * a.rows > INT32_MAX)
    return fail(Code::unsupported_shape, "more than 2^31 rows");
  return {};
}

Status can_run_attention(const OpContext& context) {
  ANYNPU_TRY(Product::available());
  ANYNPU_TRY(can_run_either(context));
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  if (a.kv_heads != a.heads)
    return fail(Code::unsupported_feature, "{} heads of keys for {} heads", a.kv_heads, a.heads);
  return {};
}

Status can_run_one_kernel(const OpContext& context) {
  ANYNPU_TRY(can_run_either(context));
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  if (can_run_flash(a, context.inputs[0].dtype)) return {};
  return fail(Code::unsupported_feature, "takes heads of up to 128 numbers, a multiple of 16");
}

}  // namespace

void add_attention(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back({.op = "FusedAttention",
                     .name = "cuda_flash",
                     .domain = "anynpu",
                     .backend = "cuda",
                     .types = ops::DTypeSet{DType::f16, DType::bf16},
                     .can_run = can_run_one_kernel,
                     .create = ops::create_plain<plan_flash>});
  kernels.push_back({.op = "FusedAttention",
                     .name = "cublaslt_rows",
                     .domain = "anynpu",
                     .backend = "cuda",
                     .types = ops::attention::kTiledTypes,
                     .can_run = can_run_attention,
                     .create = ops::create_plain<plan_attention>});
}

}  // namespace anynpu::device::cuda
