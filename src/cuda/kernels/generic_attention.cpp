// SPDX-License-Identifier: Apache-2.0
// Generic Attention and FusedAttention, for cases that no faster kernel supports: one thread block
// per row of a head, with its scores in shared memory.
#include "base/align.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/attention/attention.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;
using ops::PlanResult;
using ops::attention::AttentionShape;
using ops::attention::CachedTensor;
using ops::attention::HeadSteps;
using ops::attention::Scores;

constexpr unsigned kThreads = 128;
constexpr int64_t kMostColumns = 10000;  // the scores of a row must fit into shared memory

std::string place(const HeadSteps& steps, std::string_view head, std::string_view row) {
  return format("b * {}ll + {} * {}ll + {} * {}ll", steps.batch, head, steps.head, row, steps.row);
}

// Element k of key or value j, where the past (KV cache) comes before the new ones.
std::string cached_element(const AttentionShape& a, const CachedTensor& tensor,
                           std::string_view given, std::string_view past) {
  const std::string fresh =
      format("(C)load({}[{} + k])", given, place(tensor.given, "g", format("(j - {})", a.past)));
  if (!a.has_past) return fresh;
  return format("(j < {0} ? (C)load({1}[((b * {2} + g) * {0} + j) * {3} + k]) : {4})", a.past, past,
                a.kv_heads, tensor.size, fresh);
}

std::string mask_text(const AttentionShape& a, DType type) {
  if (!a.has_mask) return {};
  const std::string at = format("load(mask[b * {}ll + h * {}ll + r * {}ll + j * {}ll])",
                                a.mask_steps[0], a.mask_steps[1], a.mask_steps[2], a.mask_steps[3]);
  const std::string use =
      type == DType::boolean ? format("if (!{}) v = -INFINITY;", at) : format("v += (C){};", at);
  return format("    if (j < {}) {{ {} }}\n", a.mask_columns, use);
}

// Sets `first` and `last`, as AttentionShape::keys_of does.
std::string range_text(const AttentionShape& a) {
  std::string text = "  i64 length = COLUMNS, first = 0, last;\n";
  if (a.has_lengths)
    text += "  length = lengths[b] < 0 ? 0 : lengths[b] > COLUMNS ? COLUMNS : lengths[b];\n";
  const int64_t most = a.rows + a.columns;  // a wider window sees everything
  text += format("  last = length < {0} ? length : {0};\n", a.mask_columns);
  text += a.has_lengths ? format("  const i64 own = r + length - {};\n", a.rows)
                        : format("  const i64 own = r + {};\n", a.past);
  if (a.causal) text += "  last = own + 1 < last ? own + 1 : last;\n";
  if (a.right >= 0)
    text +=
        format("  last = own + 1 + {0} < last ? own + 1 + {0} : last;\n", std::min(a.right, most));
  if (a.left >= 0)
    text += format("  first = own - {0} > 0 ? own - {0} : 0;\n", std::min(a.left, most));
  return text + "  (void)own;\n";
}

std::string source_of(const OpContext& context, const AttentionShape& a) {
  const DType type = context.inputs[0].dtype;
  const auto name = [&](size_t input) {
    return context.has_input(input) ? cuda_name(context.inputs[input].dtype) : cuda_name(type);
  };
  const std::string softcap =
      a.softcap != 0 ? format("    v = (C){0} * tanh(v / (C){0});\n", literal(a.softcap)) : "";
  const auto keep = [&](Scores what) {
    return a.scores == what ? "    store(kept[row * COLUMNS + j], v);\n" : "";
  };
  return format(
      "typedef {0} C;\n#define COLUMNS {1}\n"
      "__device__ C joined(C v, bool sum) {{\n"
      "  __shared__ C parts[4];\n"
      "  for (int s = 16; s > 0; s >>= 1) {{ const C o = __shfl_xor_sync(0xffffffffu, v, s); v = "
      "sum ? v "
      "+ o : (o > v ? o : v); }}\n"
      "  __syncthreads(); if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v; "
      "__syncthreads();\n"
      "  v = parts[0]; for (int w = 1; w < 4; ++w) v = sum ? v + parts[w] : (parts[w] > v ? "
      "parts[w] : "
      "v);\n  return v;\n}}\n"
      "extern \"C\" __global__ void kernel(const {2}* q, const {3}* key, const {4}* value, const "
      "{5}* "
      "mask, const {6}* past_key, const {7}* past_value, const i64* lengths, {2}* y, {2}* kept) "
      "{{\n"
      "  __shared__ C scores[COLUMNS];\n"
      "  const i64 row = blockIdx.x, r = row % {8}, h = row / {8} % {9}, b = row / {10}, g = h / "
      "{11};\n"
      "{28}  C top = -INFINITY, sum = 0;\n"
      "  for (i64 j = threadIdx.x; j < COLUMNS; j += blockDim.x) {{\n    C v = 0;\n"
      "    for (int k = 0; k < {12}; ++k) v += (C)load(q[{13} + k]) * {14};\n    v *= (C){15};\n"
      "{16}{17}{18}{19}{20}{21}"
      "    scores[j] = v; top = v > top ? v : top;\n  }}\n"
      "  top = joined(top, false);\n"
      "  const C base = top == (C)-INFINITY ? {22} : top;\n"
      "  for (i64 j = threadIdx.x; j < COLUMNS; j += blockDim.x) {{ const C e = exp(scores[j] - "
      "base); "
      "scores[j] = e; sum += e; }}\n"
      "  sum = joined(sum, true);\n"
      "  const C inverse = {23};\n"
      "  for (i64 j = threadIdx.x; j < COLUMNS; j += blockDim.x) {{ C v = scores[j] * inverse; "
      "scores[j] = "
      "v; {24} }}\n  __syncthreads();\n"
      "  for (i64 k = threadIdx.x; k < {25}; k += blockDim.x) {{\n    C v = 0;\n"
      "    for (i64 j = 0; j < COLUMNS; ++j) if (scores[j] != 0) v += scores[j] * {26};\n"
      "    store(y[{27} + k], v);\n  }}\n}}\n",
      compute_name(type), a.columns, cuda_name(type), name(1), name(2), name(3), name(4), name(5),
      a.rows, a.heads, a.rows * a.heads, a.group(), a.size, place(a.q, "h", "r"),
      cached_element(a, a.key, "key", "past_key"), literal(a.scale), keep(Scores::product), softcap,
      keep(Scores::capped), mask_text(a, context.has_input(3) ? context.inputs[3].dtype : type),
      "    if (j < first || j >= last) v = -INFINITY;\n", keep(Scores::masked),
      a.zero_if_shut ? "(C)0" : "top", a.zero_if_shut ? "sum > 0 ? 1 / sum : (C)0" : "1 / sum",
      a.scores == Scores::weights ? "store(kept[row * COLUMNS + j], v);" : "", a.value_size,
      cached_element(a, a.value, "value", "past_value"), place(a.y, "h", "r"), range_text(a));
}

// present[b, g, j, k]: the KV cache with the new keys or values appended.
std::string present_source(const AttentionShape& a, const CachedTensor& tensor,
                           std::string_view type) {
  return format(
      "typedef float C;\nextern \"C\" __global__ void kernel(const {0}* given, const {0}* past, "
      "{0}* y, "
      "u64 n) {{\n  for (u64 i = blockIdx.x * (u64)blockDim.x + threadIdx.x; i < n; i += gridDim.x "
      "* (u64)blockDim.x) {{\n"
      "    const i64 k = i % {1}, j = i / {1} % {2}, g = i / {3} % {4}, b = i / {5};\n"
      "    y[i] = j < {6} ? past[((b * {4} + g) * {6} + j) * {1} + k] : given[{7} + k];\n  "
      "}}\n}}\n",
      type, tensor.size, a.columns, tensor.size * a.columns, a.kv_heads,
      tensor.size * a.columns * a.kv_heads, a.past,
      place(tensor.given, "g", format("(j - {})", a.past)));
}

struct Present {
  std::shared_ptr<const JitKernel> kernel;
  size_t count = 0, input = 0, past_input = 0, output = 0;
};

Result<std::vector<Present>> presents_of(const OpContext& context, const AttentionShape& a) {
  std::vector<Present> all;
  for (const CachedTensor* tensor : {&a.key, &a.value}) {
    if (tensor->output >= context.outputs.size() || !context.outputs[tensor->output].present ||
        tensor->output == 0)
      continue;
    Present present;
    present.count = static_cast<size_t>(a.batch * a.kv_heads * a.columns * tensor->size);
    present.input = tensor->input;
    present.past_input = a.has_past ? tensor->past_input : tensor->input;
    present.output = tensor->output;
    ANYNPU_ASSIGN(present.kernel, JitKernel::make(present_source(
                                      a, *tensor, cuda_name(context.inputs[tensor->input].dtype))));
    all.push_back(std::move(present));
  }
  return all;
}

PlanResult plan_any(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  ANYNPU_ASSIGN(const auto kernel, JitKernel::make(source_of(context, a)));
  ANYNPU_ASSIGN(const auto presents, presents_of(context, a));
  const auto blocks = static_cast<size_t>(a.batch * a.heads * a.rows);
  return cuda_plan([kernel, presents, blocks, a](const ops::RunArgs& args, CudaQueue& queue) {
    const auto input = [&](size_t k) -> const void* {
      return k < args.inputs.size() ? args.inputs[k] : nullptr;
    };
    for (const Present& one : presents) {
      const void *given = input(one.input), *past = input(one.past_input);
      void* y = args.outputs[one.output];
      size_t n = one.count;
      void* arguments[] = {&given, &past, &y, &n};
      ANYNPU_TRY(one.kernel->launch_over(queue, n, arguments));
    }
    const void *q = input(0), *key = input(1), *value = input(2);
    const void* mask = a.has_mask ? input(3) : nullptr;
    const void *past_key = input(4), *past_value = input(5);
    void* y = args.outputs[0];
    const void* lengths = a.has_lengths ? input(6) : nullptr;
    void* kept = args.outputs.size() > 3 ? args.outputs[3] : nullptr;
    void* arguments[] = {&q, &key, &value, &mask, &past_key, &past_value, &lengths, &y, &kept};
    return kernel->launch(queue, blocks, kThreads, arguments);
  });
}

Status can_run_any(const OpContext& context) {
  ANYNPU_ASSIGN(const AttentionShape a, ops::attention::attention_shape_of(context));
  if (a.columns == 0 || a.columns > kMostColumns || a.batch * a.heads * a.rows == 0 ||
      a.batch * a.heads * a.rows > INT32_MAX || a.size == 0)
    return fail(Code::unsupported_shape, "{} columns, takes up to {}", a.columns, kMostColumns);
  for (const ops::Operand& input : context.inputs) {
    if (input.present && cuda_name(input.dtype).empty())
      return fail(Code::unsupported_dtype, "type {}", name_of(input.dtype));
  }
  if (context.has_input(4) && !a.has_past)
    return fail(Code::unsupported_feature, "a past that is not read");
  return {};
}

}  // namespace

void add_generic_attention(std::vector<ops::KernelDef>& kernels) {
  for (const auto& [op, domain] :
       {std::pair{"FusedAttention", "anynpu"}, std::pair{"Attention", ""}}) {
    kernels.push_back({.op = op,
                       .name = "cuda_rows",
                       .domain = domain,
                       .backend = "cuda",
                       .types = ops::DTypeSet{DType::f32, DType::f16, DType::bf16},
                       .can_run = can_run_any,
                       .create = ops::create_plain<plan_any>});
  }
}

}  // namespace anynpu::device::cuda
