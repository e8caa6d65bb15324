// SPDX-License-Identifier: Apache-2.0
// Data movement operators. For most the CPU's plan is a strided copy
// (ops/data_movement/strided_copy.h), from which a GPU kernel is generated. Views share memory;
// Concat and Split are 2D copies.
#include "cuda/kernels/host_plan.h"
#include "cuda/kernels/indexing.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "cuda/transfer.h"
#include "ops/data_movement/axes.h"
#include "ops/data_movement/strided_copy.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

PlanResult plan_copy(const OpContext& context) {
  ANYNPU_ASSIGN(const auto on_host, host_plan(context));
  const auto* const copy = dynamic_cast<const ops::StridedCopy*>(on_host.get());
  if (!copy) return fail(Code::internal, "{} is no strided copy", context.label());
  const std::string type = bits_type(copy->element_bytes);
  ANYNPU_ASSIGN(auto kernel,
                JitKernel::make(format(
                    "extern \"C\" __global__ void kernel(const {0}* x, {0}* y, u32 n) {{\n"
                    "  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
                    "blockDim.x)\n    y[i] = x[{1}];\n}}\n",
                    type, strided_index(copy->out, copy->strides, copy->offset))));
  const auto count = static_cast<uint32_t>(element_count(copy->out));
  return cuda_plan([kernel, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void* x = args.inputs[0];
    void* y = args.outputs[0];
    uint32_t n = count;
    void* arguments[] = {&x, &y, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

Status can_run_copy(const OpContext& context) {
  if (element_count(context.outputs[0].shape) >= (int64_t{1} << 31))
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  ANYNPU_ASSIGN(const auto on_host, host_plan(context));
  if (dynamic_cast<const ops::StridedCopy*>(on_host.get())) return {};
  return fail(Code::unsupported_feature, "this case is no strided copy");
}

PlanResult plan_view(const OpContext& context) {
  const size_t bytes = bytes_of(context.outputs[0].dtype,
                                static_cast<size_t>(element_count(context.outputs[0].shape)));
  auto plan = cuda_plan([bytes](const ops::RunArgs& args, CudaQueue& queue) {
    if (args.outputs[0] == args.inputs[0]) return Status();
    return queue.copy({args.outputs[0], args.inputs[0], bytes});
  });
  plan->in_place_input = 0;
  plan->view = true;
  return plan;
}

Status can_run_view(const OpContext& context) {
  if (context.outputs.size() > 1 && context.outputs[1].present)
    return fail(Code::unsupported_feature, "a mask is asked for");
  if (context.schema->name == "Dropout" && context.has_input(2)) {
    const ops::Operand& training = context.inputs[2];
    if (!training.is_constant || training.constant.empty() || training.constant[0] != std::byte{0})
      return fail(Code::unsupported_feature, "training may be asked for");
  }
  return {};
}

// Each row of the whole tensor is the concatenation of one row of each part.
struct Parts {
  size_t rows = 1, whole = 0;
  std::vector<size_t> widths;
};

Result<Parts> parts_of(const OpContext& context, const std::vector<ops::Operand>& operands,
                       const Shape& whole) {
  ANYNPU_ASSIGN(const int64_t axis, ops::normal_axis(context, context.int_attr("axis"),
                                                     static_cast<int64_t>(whole.size())));
  Parts parts;
  for (int64_t d = 0; d < axis; ++d)
    parts.rows *= static_cast<size_t>(whole[static_cast<size_t>(d)]);
  size_t inner = size_of(operands[0].dtype);
  for (auto d = static_cast<size_t>(axis) + 1; d < whole.size(); ++d)
    inner *= static_cast<size_t>(whole[d]);
  for (const ops::Operand& operand : operands) {
    parts.widths.push_back(
        operand.present ? inner * static_cast<size_t>(operand.shape[static_cast<size_t>(axis)])
                        : 0);
  }
  parts.whole = inner * static_cast<size_t>(whole[static_cast<size_t>(axis)]);
  return parts;
}

PlanResult plan_concat(const OpContext& context) {
  ANYNPU_ASSIGN(const Parts parts, parts_of(context, context.inputs, context.outputs[0].shape));
  return cuda_plan([parts](const ops::RunArgs& args, CudaQueue& queue) {
    std::byte* to = args.outputs[0];
    for (size_t k = 0; k < parts.widths.size(); ++k) {
      ANYNPU_TRY(queue.copy(
          {to, args.inputs[k], parts.widths[k], parts.rows, parts.whole, parts.widths[k]}));
      to += parts.widths[k];
    }
    return Status();
  });
}

PlanResult plan_split(const OpContext& context) {
  ANYNPU_ASSIGN(const Parts parts, parts_of(context, context.outputs, context.inputs[0].shape));
  return cuda_plan([parts](const ops::RunArgs& args, CudaQueue& queue) {
    const std::byte* from = args.inputs[0];
    for (size_t k = 0; k < parts.widths.size(); ++k) {
      if (args.outputs[k])
        ANYNPU_TRY(queue.copy(
            {args.outputs[k], from, parts.widths[k], parts.rows, parts.widths[k], parts.whole}));
      from += parts.widths[k];
    }
    return Status();
  });
}

ops::KernelDef copy_kernel(std::string_view op, std::string_view name,
                           Result<std::unique_ptr<ops::Kernel>> (*create)(const OpContext&),
                           Status (*can_run)(const OpContext&)) {
  return {.op = op,
          .name = name,
          .backend = "cuda",
          .types = ops::kAnyFixed,
          .can_run = can_run,
          .create = create};
}

}  // namespace

void add_copies(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"Transpose", "Slice", "Expand", "Tile", "DepthToSpace", "SpaceToDepth"}) {
    kernels.push_back(copy_kernel(op, "cuda_copy", ops::create_plain<plan_copy>, can_run_copy));
  }
  for (const char* op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity", "Dropout",
                         "BitCast", "OptionalGetElement"}) {
    kernels.push_back(copy_kernel(op, "cuda_view", ops::create_plain<plan_view>, can_run_view));
    kernels.back().types = ops::kAnyPacked | ops::kFloat6;
  }
  kernels.push_back(copy_kernel("Concat", "cuda_rows", ops::create_plain<plan_concat>, nullptr));
  kernels.push_back(copy_kernel("Split", "cuda_rows", ops::create_plain<plan_split>, nullptr));
}

}  // namespace anynpu::device::cuda
