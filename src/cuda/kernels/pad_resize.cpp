// SPDX-License-Identifier: Apache-2.0
// Pad, Resize and Upsample. The CPU's plan has index and weight tables for each axis
// (ops/data_movement/mapped_copy.h, ops/resize/weighted.h), which become constants of the kernel.
#include <algorithm>
#include <cstring>
#include <optional>

#include "cuda/kernels/host_plan.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/mapped_copy.h"
#include "ops/resize/weighted.h"

namespace anynpu::device::cuda {

namespace {

using ops::MappedCopy;
using ops::OpContext;
using ops::PlanResult;
using ops::resize::Pass;
using ops::resize::WeightedPlan;

constexpr size_t kMostEntries = 65536;  // table entries in the source of a kernel

template <typename T, typename Text>
std::string table(std::string_view type, std::string_view name, const std::vector<T>& values,
                  Text text) {
  std::string list;
  for (const T& value : values) list += std::string(text(value)) + ",";
  return format("__device__ const {} {}[] = {{{}}};\n", type, name, list);
}

// The stride if the entries are evenly spaced, so that no table is needed.
std::optional<int64_t> equal_steps(const std::vector<int64_t>& map) {
  const int64_t step = map.size() > 1 ? map[1] - map[0] : 0;
  for (size_t i = 0; i < map.size(); ++i) {
    if (map[i] < 0 || map[i] != static_cast<int64_t>(i) * step) return std::nullopt;
  }
  return step;
}

// ---- Mapped copies: padding and nearest-neighbour resizing

PlanResult plan_mapped_copy(const OpContext& context) {
  ANYNPU_ASSIGN(const auto host, host_plan(context));
  const auto& copy = dynamic_cast<const MappedCopy&>(*host);
  std::string tables, code = "    u32 rest = i; bool inside = true; i64 at = 0;\n";
  for (size_t d = copy.out.size(); d-- > 0;) {
    code += format("    {{ const int k = rest % {0}; rest /= {0}; ", copy.out[d]);
    if (const auto step = equal_steps((*copy.maps)[d])) {
      code += format("at += (i64)k * {}; }}\n", *step);
      continue;
    }
    tables += table("int", format("m{}", d), (*copy.maps)[d],
                    [](int64_t value) { return format("{}", value); });
    code += format("const int m = m{}[k]; inside = inside && m >= 0; at += m; }}\n", d);
  }
  const std::string type = bits_type(copy.element_bytes);
  const bool given = copy.fill.input >= 0;
  std::string fill = "f[0]";
  if (!given) {
    uint64_t bits = 0;
    std::memcpy(&bits, copy.fill.bytes.data(), std::min<size_t>(copy.fill.bytes.size(), 8));
    fill = format("({}){}ull", type, bits);
  }
  ANYNPU_ASSIGN(
      auto kernel,
      JitKernel::make(format(
          "{0}extern \"C\" __global__ void kernel(const {1}* x, const {1}* f, {1}* y, u32 n) "
          "{{\n  for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
          "blockDim.x) {{\n{2}    y[i] = inside ? x[at] : {3};\n  }}\n}}\n",
          tables, type, code, fill)));
  const auto count = static_cast<uint32_t>(element_count(copy.out));
  const auto from = static_cast<size_t>(std::max(copy.fill.input, 0));
  return cuda_plan([kernel, count, from](const ops::RunArgs& args, CudaQueue& queue) {
    const void *x = args.inputs[0], *f = args.inputs[from];
    void* y = args.outputs[0];
    uint32_t n = count;
    void* arguments[] = {&x, &f, &y, &n};
    return kernel->launch_over(queue, count, arguments);
  });
}

// ---- Interpolation: one kernel per axis, in float (double for float64)

Result<std::shared_ptr<const JitKernel>> make_pass(const Pass& pass, std::string_view from,
                                                   std::string_view to, std::string_view compute,
                                                   double outside) {
  const auto& taps = pass.taps;
  std::string tables =
      table("int", "index", taps.index, [](int64_t value) { return format("{}", value); }) +
      table("C", "weight", taps.weight, [](double value) { return literal(value); });
  std::string beyond;
  if (std::find(taps.outside.begin(), taps.outside.end(), true) != taps.outside.end()) {
    tables += table("u8", "out", taps.outside, [](bool value) { return value ? "1" : "0"; });
    beyond = format("    if (out[o]) s = (C){};\n", literal(outside));
  }
  return JitKernel::make(format(
      "typedef {0} C;\n{1}extern \"C\" __global__ void kernel(const {2}* x, {3}* y, u64 n) {{\n"
      "  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
      "(u64)blockDim.x) {{\n"
      "    const u64 j = i % {4}, o = i / {4} % {5}, u = i / {6};\n    C s = 0;\n"
      "    for (int t = 0; t < {7}; ++t) s += weight[o * {7} + t] * (C)load(x[(u * {8} + index[o * "
      "{7} + "
      "t]) * {4} + j]);\n{9}    store(y[i], s);\n  }}\n}}\n",
      compute, tables, from, to, std::max<int64_t>(pass.inner, 1), std::max<int64_t>(pass.out, 1),
      std::max<int64_t>(pass.inner * pass.out, 1), taps.per_output, pass.in, beyond));
}

struct WeightedPass {
  std::shared_ptr<const JitKernel> kernel;
  size_t count = 0;
};

PlanResult plan_weighted(const OpContext& context) {
  ANYNPU_ASSIGN(const auto host, host_plan(context));
  const auto& resize = dynamic_cast<const WeightedPlan&>(*host).resize;
  const DType type = context.inputs[0].dtype;
  const std::string_view compute = compute_name(type);
  std::vector<WeightedPass> passes;
  for (size_t p = 0; p < resize.passes.size(); ++p) {
    Pass pass = resize.passes[p];
    pass.outer *= resize.planes;
    ANYNPU_ASSIGN(auto kernel, make_pass(pass, p == 0 ? cuda_name(type) : compute,
                                         p + 1 == resize.passes.size() ? cuda_name(type) : compute,
                                         compute, resize.outside[0]));
    passes.push_back({std::move(kernel), static_cast<size_t>(pass.outer * pass.out * pass.inner)});
  }
  const size_t bytes = bytes_of(type, static_cast<size_t>(element_count(context.outputs[0].shape)));
  const size_t half = static_cast<size_t>(resize.planes * resize.most) * sizeof(double);
  auto plan = cuda_plan([passes, bytes, half](const ops::RunArgs& args, CudaQueue& queue) {
    if (passes.empty()) return queue.copy({args.outputs[0], args.inputs[0], bytes});
    const void* x = args.inputs[0];
    for (size_t p = 0; p < passes.size(); ++p) {
      void* y = p + 1 == passes.size() ? args.outputs[0] : args.workspace + (p % 2) * half;
      size_t n = passes[p].count;
      void* arguments[] = {&x, &y, &n};
      ANYNPU_TRY(passes[p].kernel->launch_over(queue, n, arguments));
      x = y;
    }
    return Status();
  });
  plan->workspace_bytes = passes.size() > 1 ? 2 * half : 0;
  return plan;
}

Status check_size(const OpContext& context) {
  if (element_count(context.outputs[0].shape) >= (int64_t{1} << 31) ||
      element_count(context.inputs[0].shape) >= (int64_t{1} << 31))
    return fail(Code::unsupported_shape, "more than 2^31 elements");
  return {};
}

Status can_run_mapped_copy(const OpContext& context) {
  ANYNPU_TRY(check_size(context));
  ANYNPU_ASSIGN(const auto host, host_plan(context));
  const auto* const copy = dynamic_cast<const MappedCopy*>(host.get());
  if (!copy) return fail(Code::unsupported_feature, "this case is no copy of chosen elements");
  if (copy->element_bytes > 8) return fail(Code::unsupported_dtype, "wide elements");
  size_t entries = 0;
  for (const auto& map : *copy->maps) entries += equal_steps(map) ? 0 : map.size();
  if (entries > kMostEntries) return fail(Code::unsupported_shape, "tables of {} entries", entries);
  return {};
}

Status can_run_weighted(const OpContext& context) {
  ANYNPU_TRY(check_size(context));
  ANYNPU_ASSIGN(const auto host, host_plan(context));
  const auto* const weighted = dynamic_cast<const WeightedPlan*>(host.get());
  if (!weighted) return fail(Code::unsupported_feature, "this case has no weights");
  if (weighted->resize.parts != 1) return fail(Code::unsupported_dtype, "complex numbers");
  size_t entries = 0;
  for (const Pass& pass : weighted->resize.passes) entries += pass.taps.index.size();
  if (entries > kMostEntries) return fail(Code::unsupported_shape, "tables of {} entries", entries);
  return {};
}

}  // namespace

void add_pad_resize(std::vector<ops::KernelDef>& kernels) {
  for (const char* op : {"Pad", "CenterCropPad", "Resize", "Upsample"}) {
    kernels.push_back({.op = op,
                       .name = "cuda_mapped",
                       .backend = "cuda",
                       .types = ops::kAnyFixed,
                       .can_run = can_run_mapped_copy,
                       .create = ops::create_plain<plan_mapped_copy>});
  }
  for (const char* op : {"Resize", "Upsample"}) {
    kernels.push_back({.op = op,
                       .name = "cuda_weighted",
                       .backend = "cuda",
                       .types = ops::kFloats,
                       .can_run = can_run_weighted,
                       .create = ops::create_plain<plan_weighted>});
  }
}

}  // namespace anynpu::device::cuda
