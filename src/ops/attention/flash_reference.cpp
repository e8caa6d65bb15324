// SPDX-License-Identifier: Apache-2.0
// The reference kernel of FlashAttention, in double: query row by query row, with two passes over
// the scores: their maximum, then exponentials and sums.
#include <cmath>
#include <vector>

#include "ops/attention/flash.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"

namespace anynpu::ops::attention {

namespace {

class FlashReference final : public KernelPlan {
 public:
  FlashShape a;
  std::vector<Operand> inputs, outputs;
  std::string label;
  size_t samples_bytes = 0;  // first in the workspace; then doubles of each head

  int64_t doubles() const { return 2 * (a.size + a.rope_size) + 2 * a.value_size; }

  Status run(const RunArgs& args) const override {
    auto* samples = reinterpret_cast<FlashSample*>(args.workspace);
    ANYNPU_TRY(read_samples(a, args, label, samples));
    clear_outputs(a, outputs, args);
    parallel(static_cast<size_t>(a.batch * a.heads), 1, [&](size_t begin, size_t end) {
      for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
        auto* scratch =
            reinterpret_cast<double*>(args.workspace + samples_bytes) + task * doubles();
        const FlashSample& sample = samples[task / a.heads];
        for (int64_t row = 0; row < sample.rows; ++row)
          attend({args, sample, task / a.heads, task % a.heads, row, scratch});
      }
    });
    return {};
  }

 private:
  struct QueryRow {
    const RunArgs& args;
    const FlashSample& sample;
    int64_t b, h, row;
    double* scratch;
  };

  double one(const QueryRow& r, size_t input, int64_t at) const {
    return load_one<double>(inputs[input].dtype, r.args.inputs[input], at);
  }

  // Element `d` of a token in a KV cache.
  double element(const QueryRow& r, const FlashCache& cache, int64_t token, int64_t d) const {
    const int64_t g = r.h / a.group();
    int64_t unit = a.packed_keys ? 0 : r.b, at = r.sample.first_key + token;
    if (a.paged) {
      unit = input_of<int64_t>(r.args, kFlashBlockTable)[r.b * a.table_columns + at / cache.length];
      at %= cache.length;
    }
    int64_t place = cache.steps.at(unit, g, at);
    place += cache.chunk ? d / cache.chunk * cache.chunk_step + d % cache.chunk : d;
    double x = one(r, cache.input, place);
    if (a.scales_by_sample) unit = r.b, at = token;
    const auto factor = [&](size_t input, const std::array<int64_t, 4>& s) {
      return one(r, input, unit * s[0] + g * s[1] + at * s[2] + d * s[3]);
    };
    if (cache.offset_input) x += factor(cache.offset_input, cache.offset_steps);
    if (cache.scale_input) x *= factor(cache.scale_input, cache.scale_steps);
    return x;
  }

  double bias(const QueryRow& r, int64_t column) const {
    if (!a.has[kFlashBias]) return 0;
    const auto& s = a.bias_steps;
    const double x = one(r, kFlashBias, r.b * s[0] + r.h * s[1] + r.row * s[2] + column * s[3]);
    if (a.bias_kind == BiasKind::alibi || a.bias_kind == BiasKind::sqrt_alibi)
      return a.alibi_bias(x, r.row, column);
    return x;
  }

  double score(const QueryRow& r, int64_t column) const {
    const KeyRange range = a.keys_of(r.sample, r.b, r.row);
    if (column < range.first || column >= range.last) return -INFINITY;
    const auto& s = a.mask_steps;
    if (a.reads_mask() &&
        one(r, kFlashMask, r.b * s[0] + r.h * s[1] + r.row * s[2] + column * s[3]) != 0)
      return -INFINITY;
    double dot = 0;
    for (int64_t d = 0; d < a.size; ++d) dot += r.scratch[d] * element(r, a.key, column, d);
    for (int64_t d = 0; d < a.rope_size; ++d)
      dot += r.scratch[a.size + d] * element(r, a.rope, column, d);
    const auto scale = static_cast<double>(a.scale);
    if (a.bias_kind == BiasKind::before_scale) return (dot + bias(r, column)) * scale;
    return dot * scale + bias(r, column);
  }

  // What dropout makes of a weight.
  double dropout(const QueryRow& r, int64_t column, double weight) const {
    if (!a.has[kFlashDropoutMask]) return weight;
    const int64_t bit =
        r.sample.first_dropout_bit + (r.h * r.sample.rows + r.row) * r.sample.keys + column;
    const bool keep = input_of<uint8_t>(r.args, kFlashDropoutMask)[bit / 8] >> (bit % 8) & 1;
    return keep ? weight / static_cast<double>(a.keep_prob) : 0;
  }

  void attend(const QueryRow& r) const {
    const int64_t row = r.sample.first_row + r.row, b = a.packed_rows ? 0 : r.b;
    for (int64_t d = 0; d < a.size; ++d)
      r.scratch[d] = one(r, kFlashQuery, a.q.at(b, r.h, row) + d);
    for (int64_t d = 0; d < a.rope_size; ++d)
      r.scratch[a.size + d] = one(r, kFlashQueryRope, a.rope_q.at(b, r.h, row) + d);
    double* y = r.scratch + a.size + a.rope_size;
    const double sink = a.has[kFlashSink] ? one(r, kFlashSink, r.h) : -INFINITY;
    double most = sink, sum = 0;
    for (int64_t j = 0; j < r.sample.keys; ++j) most = std::max(most, score(r, j));
    if (sink != -INFINITY) sum = std::exp(sink - most);
    std::fill_n(y, a.value_size, 0.0);
    for (int64_t j = 0; j < r.sample.keys && most != -INFINITY; ++j) {
      const double power = std::exp(score(r, j) - most), weight = dropout(r, j, power);
      sum += power;
      for (int64_t d = 0; d < a.value_size && weight != 0; ++d)
        y[d] += weight * element(r, a.value, j, d);
    }
    for (int64_t d = 0; d < a.value_size && sum != 0; ++d) y[d] /= sum;
    store_block<double>(outputs[0].dtype)(r.args.outputs[0], a.y.at(b, r.h, row), y, a.value_size);
    const auto stat = [&](size_t output, double value) {
      if (output < r.args.outputs.size() && r.args.outputs[output])
        output_of<float>(r.args, output)[a.stats.at(b, r.h, row)] = static_cast<float>(value);
    };
    const bool shut = sum == 0;
    stat(kFlashLogSumExp, shut ? INFINITY : most + std::log(sum));
    stat(kFlashMax, shut ? -3.0e38 : most);
    stat(kFlashSum, sum);
  }
};

}  // namespace

PlanResult plan_flash_reference(const OpContext& context) {
  auto plan = std::make_unique<FlashReference>();
  ANYNPU_ASSIGN(plan->a, flash_shape_of(context));
  plan->inputs = context.inputs, plan->outputs = context.outputs;
  plan->label = context.label();
  const auto batch = static_cast<size_t>(plan->a.batch);
  plan->samples_bytes = batch * sizeof(FlashSample);
  plan->workspace_bytes =
      plan->samples_bytes +
      batch * static_cast<size_t>(plan->a.heads * plan->doubles()) * sizeof(double);
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace anynpu::ops::attention
