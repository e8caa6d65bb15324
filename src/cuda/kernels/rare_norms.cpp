// SPDX-License-Identifier: Apache-2.0
// LRN, LpNormalization, MeanVarianceNormalization, GroupNormalization where the kernels of rows.cpp
// refuse, BatchNormalization in training, DynamicQuantizeLinear, Det, and the optimizers.
#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;

constexpr unsigned kThreads = 128;

std::string number(int64_t value) { return format("{}", value); }

size_t outputs_of(const OpContext& context) {
  return static_cast<size_t>(element_count(context.outputs[0].shape));
}

// The sum over a block in a fixed order; every thread gets it.
constexpr const char* kBlockSum = R"(
__device__ C block_sum(C v) {
  __shared__ C parts[32];
  for (int step = 16; step > 0; step >>= 1) v += __shfl_xor_sync(0xffffffffu, v, step);
  __syncthreads();
  if ((threadIdx.x & 31) == 0) parts[threadIdx.x >> 5] = v;
  __syncthreads();
  v = 0;
  for (unsigned w = 0; w < blockDim.x >> 5; ++w) v += parts[w];
  return v;
}
)";

ops::PlanResult plan_lrn(const OpContext& context) {
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.body =
      "  const i64 c = i / SX0[1] % X0[1], before = ($size - 1) / 2, after = $size - 1 - before;\n"
      "  C sum = 0;\n  for (i64 k = c > before ? c - before : 0; k <= c + after && k < X0[1]; ++k) "
      "{\n"
      "    const C v = load(x0[i + (k - c) * SX0[1]]); sum += v * v;\n  }\n"
      "  store(y0[i], (C)load(x0[i]) / pow((C)$bias + (C)$alpha / $size * sum, (C)$beta));\n";
  return plan_items(context, kernel);
}

// ---- A block for each group of elements that is normalised together: element j of group i is at
// `base + place`. mean, then variance, then the results.

struct Group {
  int64_t groups = 0, length = 0;
  std::string base, place;  // of i, and of j
};

Group group_along(const Shape& shape, const std::vector<bool>& reduced) {
  const std::vector<int64_t> strides = strides_of(shape);
  Group g;
  g.groups = g.length = 1;
  std::string rest_base = "0", rest_place = "0";
  int64_t outer = 1, inner = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    int64_t& behind = reduced[d] ? inner : outer;
    (reduced[d] ? rest_place : rest_base) +=
        format(" + (i64)({} / {} % {}) * {}", reduced[d] ? "j" : "i", behind,
               std::max<int64_t>(shape[d], 1), strides[d]);
    behind *= std::max<int64_t>(shape[d], 1);
    (reduced[d] ? g.length : g.groups) *= shape[d];
  }
  g.base = rest_base, g.place = rest_place;
  return g;
}

constexpr const char* kNormalise = R"(
  const i64 base = @base;
  C mean = 0, square = 0;
  for (i64 j = threadIdx.x; j < @length; j += blockDim.x) mean += (C)load(x0[base + @place]);
  mean = block_sum(mean) / @length;
  for (i64 j = threadIdx.x; j < @length; j += blockDim.x) { const C v = (C)load(x0[base + @place]) - mean; square += v * v; }
  const C variance = block_sum(square) / @length; (void)variance;
  @before
  for (i64 j = threadIdx.x; j < @length; j += blockDim.x) {
    const i64 at = base + @place; const C v = load(x0[at]);
    store(y0[at], @result);
  }
)";

ops::PlanResult plan_normalise(const OpContext& context, const Group& g, std::string before,
                               const std::string& result) {
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(g.groups);
  kernel.block_threads = kThreads;
  kernel.before = kBlockSum;
  kernel.body = filled(kNormalise, {{"base", g.base},
                                    {"place", g.place},
                                    {"length", number(g.length)},
                                    {"before", std::move(before)},
                                    {"result", result}});
  return plan_items(context, kernel);
}

ops::PlanResult plan_mean_variance(const OpContext& context) {
  std::vector<bool> reduced(context.inputs[0].shape.size(), false);
  for (const int64_t raw : context.ints_attr("axes")) {
    ANYNPU_ASSIGN(const int64_t axis, ops::normal_axis(context, raw, context.inputs[0].rank()));
    reduced[static_cast<size_t>(axis)] = true;
  }
  return plan_normalise(context, group_along(context.inputs[0].shape, reduced), "",
                        "(v - mean) / (sqrt(variance) + (C)1e-9)");
}

ops::PlanResult plan_group_norm(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  const int64_t groups = context.int_attr("num_groups"), of_group = x[1] / groups;
  const int64_t plane = element_count(Shape(x.begin() + 2, x.end()));
  Group g;
  g.groups = x[0] * groups, g.length = of_group * plane;
  g.base = format("i * {}", g.length), g.place = "j";
  const std::string which =
      context.schema->since < 21 ? format("i % {}", groups) : format("at / {} % {}", plane, x[1]);
  return plan_normalise(
      context, g, "const C inverse = rsqrt(variance + (C)$epsilon);",
      format("(v - mean) * inverse * (C)load(x1[{0}]) + (C)load(x2[{0}])", which));
}

// The running statistics are outputs 1 and 2.
ops::PlanResult plan_batch_norm(const OpContext& context) {
  const Shape& x = context.inputs[0].shape;
  std::vector<bool> reduced(x.size(), true);
  reduced[1] = false;
  const std::string running = format(
      "const C inverse = rsqrt(variance + (C)$epsilon);\n  if (threadIdx.x == 0) {{\n"
      "    if (HAS_Y1) store(y1[i], (C)load(x3[i]) * (C)$momentum + mean * (1 - (C)$momentum));\n"
      "    if (HAS_Y2) store(y2[i], (C)load(x4[i]) * (C)$momentum + variance * (1 - "
      "(C)$momentum));\n  }}");
  std::string before = running;
  if (context.outputs.size() < 3) before = "const C inverse = rsqrt(variance + (C)$epsilon);";
  return plan_normalise(context, group_along(x, reduced), before,
                        "(v - mean) * inverse * (C)load(x1[i]) + (C)load(x2[i])");
}

Status can_run_batch_norm(const OpContext& context) {
  if (context.int_attr("training_mode") == 0 || context.outputs.size() > 3)
    return fail(Code::unsupported_feature, "no training");
  return can_run_items(context);
}

ops::PlanResult plan_lp(const OpContext& context) {
  const Shape& shape = context.inputs[0].shape;
  ANYNPU_ASSIGN(const int64_t axis,
                ops::normal_axis(context, context.int_attr("axis"), context.inputs[0].rank()));
  std::vector<bool> reduced(shape.size(), false);
  reduced[static_cast<size_t>(axis)] = true;
  const Group g = group_along(shape, reduced);
  const bool l1 = context.int_attr("p") == 1;
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(g.groups);
  kernel.block_threads = kThreads;
  kernel.before = kBlockSum;
  kernel.body = format(
      "  const i64 base = {0};\n  C sum = 0;\n"
      "  for (i64 j = threadIdx.x; j < {1}; j += blockDim.x) {{ const C v = load(x0[base + {2}]); "
      "sum "
      "+= {3}; }}\n  sum = block_sum(sum);\n  const C norm = {4};\n"
      "  for (i64 j = threadIdx.x; j < {1}; j += blockDim.x) store(y0[base + {2}], norm == 0 ? "
      "(C)0 "
      ": (C)load(x0[base + {2}]) / norm);\n",
      g.base, g.length, g.place, l1 ? "(v < 0 ? -v : v)" : "v * v", l1 ? "sum" : "sqrt(sum)");
  return plan_items(context, kernel);
}

// ---- DynamicQuantizeLinear: one block finds the range and quantises.

constexpr const char* kDynamic = R"(
  __shared__ float lows[256], highs[256];
  float low = 0, high = 0;
  for (i64 j = threadIdx.x; j < NX0; j += blockDim.x) { low = fminf(low, x0[j]); high = fmaxf(high, x0[j]); }
  lows[threadIdx.x] = low; highs[threadIdx.x] = high;
  __syncthreads();
  for (unsigned t = 0; t < blockDim.x; ++t) { low = fminf(low, lows[t]); high = fmaxf(high, highs[t]); }
  const float scale = (high - low) / 255.0f; float zero = rintf(-low / scale);
  zero = zero > 0 ? fminf(zero, 255.0f) : 0;
  for (i64 j = threadIdx.x; j < NX0; j += blockDim.x) {
    const float q = scale == 0 ? zero : rintf(x0[j] / scale) + zero;
    y0[j] = q != q ? 0 : (u8)fminf(fmaxf(q, 0.0f), 255.0f);
  }
  if (threadIdx.x == 0) { @scale @zero }
)";

ops::PlanResult plan_dynamic(const OpContext& context) {
  const auto made = [&](size_t k) {
    return k < context.outputs.size() && context.outputs[k].present;
  };
  ItemKernel kernel;
  kernel.items = 1;
  kernel.block_threads = 256;
  kernel.body = filled(kDynamic, {{"scale", made(1) ? "y1[0] = scale;" : ""},
                                  {"zero", made(2) ? "y2[0] = (u8)zero;" : ""}});
  return plan_items(context, kernel);
}

// ---- Det: LU with the largest pivots, a matrix for each thread.

constexpr const char* kDet = R"(
  const int n = @n; double* const a = (double*)work + i * n * n; double det = 1;
  for (int k = 0; k < n * n; ++k) a[k] = load(x0[i * n * n + k]);
  for (int c = 0; c < n; ++c) {
    int pivot = c;
    for (int r = c + 1; r < n; ++r) if (fabs(a[r * n + c]) > fabs(a[pivot * n + c])) pivot = r;
    if (pivot != c) {
      det = -det;
      for (int k = 0; k < n; ++k) { const double t = a[c * n + k]; a[c * n + k] = a[pivot * n + k]; a[pivot * n + k] = t; }
    }
    det *= a[c * n + c];
    if (a[c * n + c] == 0) break;
    for (int r = c + 1; r < n; ++r) {
      const double f = a[r * n + c] / a[c * n + c];
      for (int k = c; k < n; ++k) a[r * n + k] -= f * a[c * n + k];
    }
  }
  store(y0[i], det);
)";

ops::PlanResult plan_det(const OpContext& context) {
  const int64_t n = context.inputs[0].shape.back();
  ItemKernel kernel;
  kernel.items = outputs_of(context);
  kernel.workspace_bytes =
      static_cast<size_t>(element_count(context.inputs[0].shape)) * sizeof(double);
  kernel.body = filled(kDet, {{"n", number(n)}});
  return plan_items(context, kernel);
}

// ---- One step of an optimizer: x and its states v, w, gradient g.

constexpr struct {
  std::string_view op;
  size_t states;
  const char* text;
} kOptimizers[] = {
    {"Momentum", 1,
     "v = $alpha * v + (step > 0 ? $beta : 1.0) * g; x -= rate * (@nesterov ? g + $alpha * v : "
     "v);"},
    {"Adagrad", 1,
     "v += g * g; x -= rate / (1 + step * $decay_factor) * g / (sqrt(v) + $epsilon);"},
    {"Adam", 2,
     "v = $alpha * v + (1 - $alpha) * g; w = $beta * w + (1 - $beta) * g * g;"
     " const double r = step > 0 ? rate * sqrt(1 - pow($beta, step)) / (1 - pow($alpha, step)) : "
     "rate;"
     " x = (1 - $norm_coefficient_post) * (x - r * v / (sqrt(w) + $epsilon));"}};

ops::PlanResult plan_optimizer(const OpContext& context) {
  const auto* row = kOptimizers;
  while (row->op != context.schema->name) ++row;
  const size_t n = (context.inputs.size() - 2) / (row->states + 2);
  const std::string step = filled(
      row->text, {{"nesterov", context.string_attr("mode") == "nesterov" ? "true" : "false"}});
  std::string text = "  const double rate = load(x0[0]), step = (double)x1[0]; (void)step;\n";
  ItemKernel kernel;
  for (size_t t = 0; t < n; ++t) {
    kernel.items =
        std::max(kernel.items, static_cast<size_t>(element_count(context.inputs[2 + t].shape)));
    text += format(
        "  if ((i64)i < NX{0}) {{\n    double x = load(x{0}[i]), g = load(x{1}[i]), v = "
        "load(x{2}[i]), w "
        "= {3}; (void)w;\n    g += $norm_coefficient * x;\n    {4}\n    if (y{5}) store(y{5}[i], "
        "x);\n"
        "    if (y{6}) store(y{6}[i], v);\n",
        2 + t, 2 + t + n, 2 + t + 2 * n,
        row->states > 1 ? format("load(x{}[i])", 2 + t + 3 * n) : std::string("0"), step, t, t + n);
    if (row->states > 1) text += format("    if (y{0}) store(y{0}[i], w);\n", t + 2 * n);
    text += "  }\n";
  }
  kernel.body = text;
  return plan_items(context, kernel);
}

}  // namespace

void add_rare_norms(std::vector<ops::KernelDef>& kernels) {
  const ops::DTypeSet floats = ops::kFloats;
  kernels.push_back(item_kernel("LRN", floats, ops::create_plain<plan_lrn>));
  kernels.push_back(item_kernel("LpNormalization", floats, ops::create_plain<plan_lp>));
  kernels.push_back(
      item_kernel("MeanVarianceNormalization", floats, ops::create_plain<plan_mean_variance>));
  kernels.push_back(item_kernel("GroupNormalization", floats, ops::create_plain<plan_group_norm>));
  kernels.push_back(item_kernel("BatchNormalization", floats, ops::create_plain<plan_batch_norm>,
                                {}, can_run_batch_norm));
  kernels.push_back(
      item_kernel("DynamicQuantizeLinear", {DType::f32}, ops::create_plain<plan_dynamic>));
  kernels.push_back(item_kernel("Det", floats, ops::create_plain<plan_det>));
  for (const auto& row : kOptimizers)
    kernels.push_back(item_kernel(row.op, {DType::f32, DType::f64},
                                  ops::create_plain<plan_optimizer>, "ai.onnx.preview.training"));
}

}  // namespace anynpu::device::cuda
