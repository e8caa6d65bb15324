// SPDX-License-Identifier: Apache-2.0
// QuantizeLinear and DequantizeLinear with integers of 8 and 16 bits: per tensor, per axis,
// blocked.
#include "cuda/kernels/quantize.h"

#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/quantize/linear.h"

namespace anynpu::device::cuda {

std::string scale_place(const ops::quantize::ScaleWalk& walk, std::string_view i) {
  if (walk.per_tensor) return "0";
  if (!walk.blocked) return format("{} / {} % {}", i, walk.inner, walk.extent);
  return format("({4} / {0} / {1} * {2} + {4} / {0} % {1} / {3}) * {0} + {4} % {0}", walk.inner,
                walk.extent, walk.scales, walk.block, i);
}

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::quantize::ScaleWalk;

constexpr ops::DTypeSet kQuantised{DType::u8, DType::i8, DType::u16, DType::i16};

// Rounds an expression of type C to the type of the division.
std::string rounded(DType precision, const std::string& value) {
  if (size_of(precision) != 2) return value;
  return format("round_to<{}>({})", cuda_name(precision), value);
}

// `result` is a CUDA expression of x, scale and zero, in type C.
PlanResult plan_scaled(const OpContext& context, std::string_view compute,
                       const std::string& result) {
  ANYNPU_ASSIGN(const ScaleWalk walk, ops::quantize::scale_walk(context));
  const bool has_zero = context.has_input(2);
  const DType zero = has_zero ? context.inputs[2].dtype : DType::u8;
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "typedef {0} C;\n"
          "template <typename T> __device__ C round_to(C v) {{ T t; store(t, v); return load(t); "
          "}}\n"
          "extern \"C\" __global__ void kernel(const {1}* p, const {2}* s, const {3}* z, {4}* y, "
          "u32 n) {{\n"
          "  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "blockDim.x) {{\n"
          "    const u32 at = {5};\n"
          "    const C x = (C)load(p[i]), scale = (C)load(s[at]), zero = {6};\n"
          "    store(y[i], {7});\n  }}\n}}\n",
          compute, cuda_name(context.inputs[0].dtype), cuda_name(context.inputs[1].dtype),
          cuda_name(zero), cuda_name(context.outputs[0].dtype), scale_place(walk, "i"),
          has_zero ? "(C)load(z[at])" : "(C)0", result)));
  const auto count = static_cast<uint32_t>(walk.count);
  return cuda_plan([kernel, count](const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *scale = args.inputs[1];
    const void* z = args.inputs.size() > 2 ? args.inputs[2] : nullptr;
    void* y = args.outputs[0];
    uint32_t n = count;
    void* arguments[] = {&x, &scale, &z, &y, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

PlanResult plan_quantize(const OpContext& context) {
  ANYNPU_ASSIGN(const DType precision, ops::quantize::division_type(context));
  const std::string quotient =
      rounded(precision, format("{} / {}", rounded(precision, "x"), rounded(precision, "scale")));
  const DType to = context.outputs[0].dtype;
  const auto bits = static_cast<int64_t>(8 * size_of(to));
  const bool has_sign = to == DType::i8 || to == DType::i16;
  const int64_t low = has_sign ? -(int64_t{1} << (bits - 1)) : 0;
  const int64_t high = low + (int64_t{1} << bits) - 1;
  return plan_scaled(context, precision == DType::f64 ? "double" : "float",
                     format("(int)fmin(fmax(rint({}) + zero, (C){}), (C){})", quotient, low, high));
}

// The product of a float and an integer of up to 17 bits is exact in double.
PlanResult plan_dequantize(const OpContext& context) {
  return plan_scaled(context, "double", "(x - zero) * scale");
}

Status check(const OpContext& context, const ops::Operand& quantised) {
  if (!kQuantised.has(quantised.dtype) && quantised.dtype != DType::i32)
    return fail(Code::unsupported_dtype, "quantised values are {}, takes {}",
                name_of(quantised.dtype), kQuantised.to_string());
  for (const ops::Operand& operand : context.inputs) {
    if (operand.present && cuda_name(operand.dtype).empty())
      return fail(Code::unsupported_dtype, "type {}", name_of(operand.dtype));
  }
  if (cuda_name(context.outputs[0].dtype).empty())
    return fail(Code::unsupported_dtype, "type {}", name_of(context.outputs[0].dtype));
  if (element_count(context.inputs[0].shape) > INT32_MAX)
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  return {};
}

Status can_quantize(const OpContext& context) {
  if (!kQuantised.has(context.outputs[0].dtype))
    return fail(Code::unsupported_dtype, "quantised values are {}, gives {}",
                name_of(context.outputs[0].dtype), kQuantised.to_string());
  return check(context, context.outputs[0]);
}

Status can_dequantize(const OpContext& context) { return check(context, context.inputs[0]); }

}  // namespace

void add_quantize(std::vector<ops::KernelDef>& kernels) {
  kernels.push_back({.op = "QuantizeLinear",
                     .name = "cuda_scaled",
                     .backend = "cuda",
                     .types = ops::kFloats | ops::DTypeSet{DType::i32},
                     .can_run = can_quantize,
                     .create = ops::create_plain<plan_quantize>});
  kernels.push_back({.op = "DequantizeLinear",
                     .name = "cuda_scaled",
                     .backend = "cuda",
                     .types = kQuantised | ops::DTypeSet{DType::i32},
                     .can_run = can_dequantize,
                     .create = ops::create_plain<plan_dequantize>});
}

}  // namespace anynpu::device::cuda
