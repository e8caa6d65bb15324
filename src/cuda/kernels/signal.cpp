// SPDX-License-Identifier: Apache-2.0
// DFT and STFT by their definition, windows, MelWeightMatrix and TfIdfVectorizer.
#include <algorithm>

#include "cuda/kernels/item_kernel.h"
#include "cuda/kernels/jit_kernel.h"
#include "cuda/kernels/kernels.h"
#include "ops/data_movement/axes.h"

namespace anynpu::device::cuda {

namespace {

using ops::OpContext;

std::string number(int64_t value) { return format("{}", value); }
std::string flag(bool value) { return value ? "true" : "false"; }

// ---- DFT: one bin for each thread. k * j modulo the length keeps the angle exact.

constexpr const char* kBin = R"(
  double re = 0, im = 0;
  for (i64 j = 0; j < @length; ++j) {
    @point
    double s, c;
    sincospi(@sign 2.0 * (double)((k * j) % @length) / (double)@length, &s, &c);
    re += a * c - b * s; im += a * s + b * c;
  }
  @scale
  store(y0[i * @parts], re); @imaginary
)";

constexpr const char* kDftPoint = R"(
    const bool mirrored = @to_real && j > @length / 2;
    const i64 from = mirrored ? @length - j : j;
    double a = 0, b = 0;
    if (from < @extent) {
      const i64 at = ((row * @extent + from) * @inner + i % @inner) * @in_parts;
      a = load(x0[at]); if (@in_parts == 2) b = load(x0[at + @in_parts - 1]);
      if (mirrored) b = -b;
    }
)";

constexpr const char* kStftPoint = R"(
    const i64 at = (row * X0[1] + frame * @step + j) * @in_parts;
    const double w = @window;
    const double a = w * load(x0[at]), b = @in_parts == 2 ? w * load(x0[at + @in_parts - 1]) : 0.0;
)";

int64_t scalar_input(const OpContext& context, size_t k, int64_t otherwise) {
  if (!context.has_input(k)) return otherwise;
  const ops::IntegerList list = ops::integers_of(context.inputs[k]);
  return list.known && list.values.size() == 1 ? list.values[0] : otherwise;
}

ops::PlanResult plan_dft(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  const int64_t usual = context.schema->since >= 20 ? -2 : context.int_attr("axis");
  ANYNPU_ASSIGN(const int64_t axis, ops::normal_axis(context, scalar_input(context, 2, usual),
                                                     context.inputs[0].rank()));
  const auto at = static_cast<size_t>(axis);
  const bool inverse = context.int_attr("inverse") != 0;
  const bool to_real = inverse && context.int_attr("onesided") != 0;
  const int64_t length = scalar_input(context, 1, to_real ? 2 * (x[at] - 1) : x[at]);
  int64_t inner = 1;
  for (size_t d = at + 1; d + 1 < x.size(); ++d) inner *= x[d];
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(out) / out.back());
  const std::string point = filled(kDftPoint, {{"to_real", flag(to_real)},
                                               {"length", number(length)},
                                               {"extent", number(x[at])},
                                               {"inner", number(inner)},
                                               {"in_parts", number(x.back())}});
  kernel.body = format("  const i64 k = i / {0} % {1}, row = i / ({0} * {1});\n", inner, out[at]) +
                filled(kBin, {{"length", number(length)},
                              {"point", point},
                              {"sign", inverse ? "" : "-"},
                              {"scale", inverse ? format("re /= {0}; im /= {0};", length) : ""},
                              {"parts", number(out.back())},
                              {"imaginary", out.back() == 2 ? "store(y0[i * 2 + 1], im);" : ""}});
  return plan_items(context, kernel);
}

ops::PlanResult plan_stft(const OpContext& context) {
  const Shape &x = context.inputs[0].shape, &out = context.outputs[0].shape;
  const int64_t window = context.has_input(2) ? element_count(context.inputs[2].shape) : 0;
  const int64_t length = scalar_input(context, 3, window);
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(out) / 2);
  const std::string point =
      filled(kStftPoint, {{"step", number(scalar_input(context, 1, 1))},
                          {"in_parts", number(x.size() == 3 ? x[2] : 1)},
                          {"window", window > 0 ? "(double)load(x2[j])" : "1.0"}});
  kernel.body = format("  const i64 k = i % {0}, frame = i / {0} % {1}, row = i / ({0} * {1});\n",
                       out[2], out[1]) +
                filled(kBin, {{"length", number(length)},
                              {"point", point},
                              {"sign", "-"},
                              {"scale", ""},
                              {"parts", "2"},
                              {"imaginary", "store(y0[i * 2 + 1], im);"}});
  return plan_items(context, kernel);
}

Status can_run_transform(const OpContext& context) {
  const uint64_t parameters = context.schema->name == "DFT" ? 0b110 : 0b1010;
  if (!has_constants(context, parameters))
    return fail(Code::unsupported_feature, "its parameters are known only at run time");
  return can_run_items(context);
}

// ---- Windows: a - b cos(t) + c cos(2 t). The output states the size.

constexpr struct {
  std::string_view op;
  double a, b, c;
} kWindows[] = {{"HannWindow", 0.5, 0.5, 0},
                {"HammingWindow", 25.0 / 46, 21.0 / 46, 0},
                {"BlackmanWindow", 0.42, 0.5, 0.08}};

ops::PlanResult plan_window(const OpContext& context) {
  const auto& row = *std::find_if(std::begin(kWindows), std::end(kWindows),
                                  [&](const auto& one) { return one.op == context.schema->name; });
  const int64_t size = context.outputs[0].shape[0];
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(size);
  kernel.body = format(
      "  const double period = $periodic ? {0} : {0} - 1, t = period == 0 ? 0 : 2.0 * i / period;\n"
      "  store(y0[i], {1} - {2} * cospi(t) + {3} * cospi(2 * t));\n",
      size, literal(row.a), literal(row.b), literal(row.c));
  return plan_items(context, kernel);
}

// ---- MelWeightMatrix: item = row of a spectrum bin, column of a filter.

constexpr const char* kMelBefore = R"(
__device__ double to_mel(double hertz) { return 2595 * log10(1 + hertz / 700); }
__device__ i64 edge(i64 k, i64 bins, i64 length, i64 rate, double low, double high) {
  const double mel = low + k * ((high - low) / (bins + 2)), hertz = 700 * (pow(10.0, mel / 2595) - 1);
  return (i64)floor((length + 1) * hertz / rate);
}
)";
constexpr const char* kMel = R"(
  const i64 bins = Y0[1], column = i % bins, j = i / bins, length = x1[0], rate = x2[0];
  const double low = to_mel(load(x3[0])), high = to_mel(load(x4[0]));
  const i64 from = edge(column, bins, length, rate, low, high), top = edge(column + 1, bins, length, rate, low, high),
            to = edge(column + 2, bins, length, rate, low, high);
  double v = 0;
  if (top == from && j == top) v = 1;
  if (top != from && j >= from && j <= top) v = (double)(j - from) / (double)(top - from);
  if (to != top && j >= top && j < to) v = (double)(to - j) / (double)(to - top);
  store(y0[i], v);
)";

ops::PlanResult plan_mel(const OpContext& context) {
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.before = kMelBefore;
  kernel.body = kMel;
  return plan_items(context, kernel);
}

// ---- TfIdfVectorizer: item = row and column; the n-grams of the column are looked for in the row.

constexpr const char* kTfIdf = R"(
  const i64 column = i % @columns, row = i / @columns;
  float count = 0;
  for (int g = 0; g < @grams; ++g) {
    if (gram_column[g] != column || gram_size[g] < $min_gram_length || gram_size[g] > $max_gram_length) continue;
    const int n = gram_size[g];
    if (n > @length) continue;
    i64 most = n == 1 ? 0 : @length / (n - 1); if (most > $max_skip_count) most = $max_skip_count;
    if (n == 1) most = 0;
    for (i64 skip = 0; skip <= most; ++skip)
      for (i64 at = 0; at + (n - 1) * (skip + 1) < @length; ++at) {
        bool same = true;
        for (int k = 0; k < n && same; ++k)
          same = (i64)x0[row * @length + at + k * (skip + 1)] == attr_pool_int64s[gram_begin[g] + k];
        if (same) count += 1;
      }
  }
  y0[i] = @result;
)";

ops::PlanResult plan_tf_idf(const OpContext& context) {
  const auto counts = context.ints_attr("ngram_counts"),
             indexes = context.ints_attr("ngram_indexes");
  const auto items = context.ints_attr("pool_int64s");
  const int64_t columns = context.outputs[0].shape.back();
  std::string begins, sizes, places, weights;
  size_t grams = 0;
  for (size_t n = 1; n <= counts.size(); ++n) {
    const int64_t to = n < counts.size() ? counts[n] : static_cast<int64_t>(items.size());
    for (int64_t at = counts[n - 1]; at < to && grams < indexes.size();
         at += static_cast<int64_t>(n)) {
      begins += format("{},", at);
      sizes += format("{},", n);
      places += format("{},", indexes[grams++]);
    }
  }
  std::vector<float> weight(static_cast<size_t>(columns), 1.0f);
  if (const auto found = context.node->attrs.find("weights"); found != context.node->attrs.end()) {
    if (const auto* list = std::get_if<std::vector<float>>(&found->second)) {
      for (size_t k = 0; k < std::min(list->size(), indexes.size()); ++k)
        weight[static_cast<size_t>(indexes[k])] = (*list)[k];
    }
  }
  for (const float one : weight) weights += literal(static_cast<double>(one)) + ",";
  const std::string mode = context.string_attr("mode");
  ItemKernel kernel;
  kernel.items = static_cast<size_t>(element_count(context.outputs[0].shape));
  kernel.before = format(
      "__device__ const int gram_begin[] = {{{}-1}}, gram_size[] = {{{}-1}}, gram_column[] = "
      "{{{}-1}};\n__device__ const float weights[] = {{{}0}};\n// $pool_int64s\n",
      begins, sizes, places, weights);
  kernel.body = filled(kTfIdf, {{"columns", number(std::max<int64_t>(columns, 1))},
                                {"grams", number(static_cast<int64_t>(grams))},
                                {"length", number(context.inputs[0].shape.back())},
                                {"result", mode == "TF"    ? "count"
                                           : mode == "IDF" ? "count > 0 ? weights[column] : 0"
                                                           : "count * weights[column]"}});
  return plan_items(context, kernel);
}

}  // namespace

void add_signal(std::vector<ops::KernelDef>& kernels) {
  const ops::DTypeSet whole{DType::i32, DType::i64};
  kernels.push_back(
      item_kernel("DFT", ops::kFloats, ops::create_plain<plan_dft>, {}, can_run_transform));
  kernels.push_back(
      item_kernel("STFT", ops::kFloats, ops::create_plain<plan_stft>, {}, can_run_transform));
  for (const auto& window : kWindows)
    kernels.push_back(item_kernel(window.op, whole, ops::create_plain<plan_window>));
  kernels.push_back(item_kernel("MelWeightMatrix", whole, ops::create_plain<plan_mel>));
  kernels.push_back(item_kernel("TfIdfVectorizer", whole, ops::create_plain<plan_tf_idf>));
}

}  // namespace anynpu::device::cuda
