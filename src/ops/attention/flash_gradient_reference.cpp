// SPDX-License-Identifier: Apache-2.0
// The reference kernel of FlashAttentionGrad, in double: a KV head with all query rows that share
// it.
#include <cmath>
#include <vector>

#include "ops/attention/flash.h"
#include "ops/elements/wide.h"
#include "ops/parallel.h"

namespace anynpu::ops::attention {

namespace {

class GradientReference final : public KernelPlan {
 public:
  FlashShape a;
  std::vector<Operand> inputs, outputs;
  std::string label;

  Status run(const RunArgs& args) const override {
    auto* samples = reinterpret_cast<FlashSample*>(args.workspace);
    ANYNPU_TRY(read_samples(a, args, label, samples));
    for (size_t i = 0; i < args.outputs.size(); ++i) {
      if (!args.outputs[i]) continue;
      const auto count = static_cast<size_t>(element_count(outputs[i].shape));
      std::fill_n(output_of<float>(args, i), count, 0.0f);
    }
    parallel(static_cast<size_t>(a.batch * a.kv_heads), 1, [&](size_t begin, size_t end) {
      for (auto task = static_cast<int64_t>(begin); task < static_cast<int64_t>(end); ++task) {
        const int64_t b = task / a.kv_heads, g = task % a.kv_heads;
        for (int64_t h = g * a.group(); h < (g + 1) * a.group(); ++h) {
          for (int64_t row = 0; row < samples[b].rows; ++row)
            backward_row({args, samples[b], b, h, row});
        }
      }
    });
    return {};
  }

 private:
  struct QueryRow {
    const RunArgs& args;
    const FlashSample& sample;
    int64_t b, h, row;
  };

  double one(const QueryRow& r, size_t input, int64_t at) const {
    return load_one<double>(inputs[input].dtype, r.args.inputs[input], at);
  }
  int64_t key_at(const FlashCache& cache, const QueryRow& r, int64_t column) const {
    return cache.steps.at(a.packed_keys ? 0 : r.b, r.h / a.group(), r.sample.first_key + column);
  }

  void backward_row(const QueryRow& r) const {
    const int64_t batch = a.packed_rows ? 0 : r.b, row = r.sample.first_row + r.row;
    const int64_t q = a.q.at(batch, r.h, row), y = a.y.at(batch, r.h, row);
    const int64_t q_rope = a.rope_size > 0 ? a.rope_q.at(batch, r.h, row) : 0;
    const auto log = static_cast<double>(
        input_of<float>(r.args, kFlashGradLogSumExp)[a.stats.at(batch, r.h, row)]);
    double delta = 0;
    for (int64_t d = 0; d < a.value_size; ++d)
      delta += one(r, kFlashGradY, y + d) * one(r, kFlashResult, y + d);
    const KeyRange range = a.keys_of(r.sample, r.b, r.row);
    const auto& m = a.mask_steps;
    for (int64_t j = range.first; j < range.last; ++j) {
      if (a.reads_mask() &&
          one(r, kFlashMask, r.b * m[0] + r.h * m[1] + r.row * m[2] + j * m[3]) != 0)
        continue;
      const int64_t k = key_at(a.key, r, j), v = key_at(a.value, r, j);
      const int64_t k_rope = a.rope_size > 0 ? key_at(a.rope, r, j) : 0;
      double dot = 0, dp = 0;
      for (int64_t d = 0; d < a.size; ++d)
        dot += one(r, kFlashQuery, q + d) * one(r, kFlashKey, k + d);
      for (int64_t d = 0; d < a.rope_size; ++d)
        dot += one(r, kFlashQueryRope, q_rope + d) * one(r, kFlashKeyRope, k_rope + d);
      for (int64_t d = 0; d < a.value_size; ++d)
        dp += one(r, kFlashGradY, y + d) * one(r, kFlashValue, v + d);
      const auto scale = static_cast<double>(a.scale);
      const double probability = std::exp(score(r, j, dot, scale) - log), keep = dropout(r, j);
      const double ds = probability * (dp * keep - delta) * scale;
      const auto add = [&](size_t output, int64_t at, double value) {
        output_of<float>(r.args, output)[at] += static_cast<float>(value);
      };
      for (int64_t d = 0; d < a.size; ++d) {
        add(kFlashGradQ, q + d, ds * one(r, kFlashKey, k + d));
        add(kFlashGradK, k + d, ds * one(r, kFlashQuery, q + d));
      }
      for (int64_t d = 0; d < a.rope_size; ++d) {
        add(kFlashGradQueryRope, q_rope + d, ds * one(r, kFlashKeyRope, k_rope + d));
        add(kFlashGradKeyRope, k_rope + d, ds * one(r, kFlashQueryRope, q_rope + d));
      }
      for (int64_t d = 0; d < a.value_size; ++d)
        add(kFlashGradV, v + d, probability * keep * one(r, kFlashGradY, y + d));
    }
  }

  double score(const QueryRow& r, int64_t column, double dot, double scale) const {
    if (!a.has[kFlashBias]) return dot * scale;
    const auto& s = a.bias_steps;
    double x = one(r, kFlashBias, r.b * s[0] + r.h * s[1] + r.row * s[2] + column * s[3]);
    if (a.bias_kind >= BiasKind::alibi) x = a.alibi_bias(x, r.row, column);
    return a.bias_kind == BiasKind::before_scale ? (dot + x) * scale : dot * scale + x;
  }

  double dropout(const QueryRow& r, int64_t column) const {
    if (!a.has[kFlashDropoutMask]) return 1;
    const int64_t bit =
        r.sample.first_dropout_bit + (r.h * r.sample.rows + r.row) * r.sample.keys + column;
    const bool keep = input_of<uint8_t>(r.args, kFlashDropoutMask)[bit / 8] >> (bit % 8) & 1;
    return keep ? 1 / static_cast<double>(a.keep_prob) : 0;
  }
};

}  // namespace

PlanResult plan_flash_gradient_reference(const OpContext& context) {
  auto plan = std::make_unique<GradientReference>();
  ANYNPU_ASSIGN(plan->a, flash_shape_of(context));
  plan->inputs = context.inputs, plan->outputs = context.outputs;
  plan->label = context.label();
  plan->workspace_bytes = static_cast<size_t>(plan->a.batch) * sizeof(FlashSample);
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace anynpu::ops::attention
