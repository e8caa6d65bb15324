// SPDX-License-Identifier: Apache-2.0
// Softmax and normalization operators, with one thread block per row.
#include <algorithm>
#include <numeric>

#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/row_plan.h"
#include "cuda/kernels/warp_norm.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;

// ---- Softmax, LogSoftmax

PlanResult plan_softmax(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = context.int_attr("axis");
  if (axis < 0) axis = std::max<int64_t>(axis + rank, 0);
  const bool flattened = context.schema->since < 13;
  int64_t outer = 1, length = 1, step = 1;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t& part = d < axis ? outer : (d == axis || flattened ? length : step);
    part *= shape[static_cast<size_t>(d)];
  }
  if (length == 0) outer = 0;
  ANYNPU_TRY(check_rows(outer * step));
  const bool log = context.schema->name == "LogSoftmax";
  return plan_rows(
      context, outer * step, length, 1,
      format(
          "  const i64 base = row / {0} * {1} + row % {0};\n"
          "  C top = load(p0[base]);\n"
          "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x) top = higher(top, (C)load(p0[base "
          "+ j * {0}]));\n"
          "  top = join_block(top, Highest(), top);\n"
          "  C sum = 0;\n"
          "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x) sum += exp((C)load(p0[base + j * "
          "{0}]) - top);\n"
          "  sum = join_block(sum, Sum(), (C)0);\n"
          "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x) {{\n"
          "    const C v = (C)load(p0[base + j * {0}]) - top;\n"
          "    store(y[base + j * {0}], {3});\n  }}\n",
          step, length * step, length, log ? "v - log(sum)" : "exp(v) / sum"));
}

// ---- Normalisations

// `before`: what each block does once it knows mean and inverse deviation.
std::string normalise(int64_t length, bool centred, double epsilon, const std::string& factor,
                      const std::string& shift, const std::string& before = {}) {
  return format(
      "  const i64 base = row * {0};\n  C mean = 0, square = 0;\n"
      "  if ({1}) {{\n"
      "    for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) mean += (C)load(p0[base + j]);\n"
      "    mean = join_block(mean, Sum(), (C)0) / {0};\n  }}\n"
      "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x) {{\n"
      "    const C v = (C)load(p0[base + j]) - mean;\n    square += v * v;\n  }}\n"
      "  const C inverse = 1 / sqrt(join_block(square, Sum(), (C)0) / {0} + (C){2});\n{5}"
      "  for (i64 j = threadIdx.x; j < {0}; j += blockDim.x)\n"
      "    store(y[base + j], ((C)load(p0[base + j]) - mean) * inverse{3}{4});\n",
      length, centred ? 1 : 0, literal(epsilon), factor, shift, before);
}

// Whether mean and inverse deviation of the rows are asked for.
bool has_statistics(const OpContext& context) {
  for (size_t k = 1; k < context.outputs.size(); ++k) {
    if (context.outputs[k].present) return true;
  }
  return false;
}

PlanResult plan_layer_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  int64_t length = 1;
  for (auto d = static_cast<size_t>(axis); d < shape.size(); ++d) length *= shape[d];
  const int64_t rows = length > 0 ? element_count(shape) / length : 0;
  const bool centred = context.schema->name == "LayerNormalization";
  const bool statistics = has_statistics(context);
  ANYNPU_ASSIGN(
      std::unique_ptr<ops::KernelPlan> any,
      plan_rows(context, rows, length, 3,
                normalise(length, centred, context.float_attr("epsilon"), " * (C)load(p1[j])",
                          context.has_input(2) ? " + (C)load(p2[j])" : "",
                          statistics ? "  if (threadIdx.x == 0) {\n"
                                       "    if (y1) store(y1[row], mean);\n"
                                       "    if (y2) store(y2[row], inverse);\n  }\n"
                                     : ""),
                statistics ? 3 : 1));
  const WarpNorm norm{context.inputs[0].dtype,      rows, length, centred, context.has_input(2),
                      context.float_attr("epsilon")};
  const bool one_type = std::all_of(
      context.inputs.begin(), context.inputs.end(),
      [&](const ops::Operand& input) { return !input.present || input.dtype == norm.type; });
  if (!one_type || statistics || !can_run_warp_norm(norm)) return any;
  ANYNPU_ASSIGN(const WarpNormKernel wide, make_warp_norm(norm));
  return cuda_plan([wide, any = std::shared_ptr<ops::KernelPlan>(std::move(any))](
                       const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *scale = args.inputs[1];
    const void* shift = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
    void* y = args.outputs[0];
    const auto bits = reinterpret_cast<uintptr_t>(x) | reinterpret_cast<uintptr_t>(scale) |
                      reinterpret_cast<uintptr_t>(shift) | reinterpret_cast<uintptr_t>(y);
    if (bits % 16 != 0) return static_cast<const ops::EnqueuedPlan&>(*any).enqueue(args, queue);
    void* arguments[] = {&x, &scale, &shift, &y};
    return wide.kernel->launch(queue, wide.blocks, wide.threads, arguments);
  });
}

Status can_run_layer_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  const Shape rest(shape.begin() + axis, shape.end());
  for (size_t k = 1; k < context.inputs.size(); ++k) {
    if (!context.has_input(k)) continue;
    if (context.inputs[k].shape != rest)
      return fail(Code::unsupported_shape, "scale or bias of shape {}, takes {}",
                  to_string(context.inputs[k].shape), to_string(rest));
    if (cuda_name(context.inputs[k].dtype).empty())
      return fail(Code::unsupported_dtype, "type {}", name_of(context.inputs[k].dtype));
  }
  for (const ops::Operand& output : context.outputs) {
    if (output.present && cuda_name(output.dtype).empty())
      return fail(Code::unsupported_dtype, "type {}", name_of(output.dtype));
  }
  return check_rows(
      rest.empty() ? 1 : element_count(shape) / std::max<int64_t>(1, element_count(rest)));
}

PlanResult plan_instance_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t rows = shape[0] * shape[1];
  const int64_t length = rows > 0 ? element_count(shape) / rows : 0;
  ANYNPU_TRY(check_rows(rows));
  return plan_rows(context, length > 0 ? rows : 0, length, 3,
                   normalise(length, true, context.float_attr("epsilon"),
                             format(" * (C)load(p1[row % {}])", shape[1]),
                             format(" + (C)load(p2[row % {}])", shape[1])));
}

// ---- BatchNormalization

PlanResult plan_batch_norm(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  const int64_t channels = shape.size() > 1 ? shape[1] : 1;
  int64_t plane = 1;
  for (size_t d = 2; d < shape.size(); ++d) plane *= shape[d];
  const int64_t rows = plane > 0 ? element_count(shape) / plane : 0;
  ANYNPU_TRY(check_rows(rows));
  return plan_rows(
      context, rows, plane, 5,
      format("  const i64 c = row % {0};\n"
             "  const C factor = (C)load(p1[c]) / sqrt((C)load(p4[c]) + (C){1});\n"
             "  const C shift = (C)load(p2[c]) - (C)load(p3[c]) * factor;\n"
             "  for (i64 j = threadIdx.x; j < {2}; j += blockDim.x)\n"
             "    store(y[row * {2} + j], (C)load(p0[row * {2} + j]) * factor + shift);\n",
             channels, literal(context.float_attr("epsilon")), plane));
}

Status can_run_batch_norm(const OpContext& context) {
  for (size_t k = 1; k < context.outputs.size(); ++k) {
    if (context.outputs[k].present) return fail(Code::unsupported_feature, "training");
  }
  if (context.int_attr("training_mode") != 0) return fail(Code::unsupported_feature, "training");
  return {};
}

}  // namespace

void add_rows(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"Softmax", "LogSoftmax"})
    kernels.push_back(row_kernel(op, ops::create_plain<plan_softmax>));
  for (const char* op : {"LayerNormalization", "RMSNormalization"})
    kernels.push_back(row_kernel(op, ops::create_plain<plan_layer_norm>, can_run_layer_norm));
  kernels.push_back(row_kernel("InstanceNormalization", ops::create_plain<plan_instance_norm>));
  kernels.push_back(
      row_kernel("BatchNormalization", ops::create_plain<plan_batch_norm>, can_run_batch_norm));
}

}  // namespace anynpu::device::cuda
