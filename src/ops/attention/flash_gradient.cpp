// SPDX-License-Identifier: Apache-2.0
// FlashAttentionGrad on register tiles, in float32. A task takes one KV head: for each tile of keys
// all query rows that share the head, 16 at a time. Scores are recomputed, the matrix of scores is
// never stored. dK and dV are complete when their tile is done, dQ is accumulated in the output.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/align.h"
#include "ops/attention/flash_cache.h"
#include "ops/attention/flash_products.h"
#include "ops/parallel.h"
#include "ops/simd/rows.h"

namespace anynpu::ops::attention {

namespace {

constexpr int64_t kLanes = TileProducts::kLanes, kKeyTile = 64;

struct GradientWork {
  FlashShape a;
  std::vector<Operand> inputs, outputs;
  std::string label;
  const TileSet* tiles = nullptr;
  RowMap exp = nullptr;
  int64_t wide = 0;                      // elements of a head: both parts
  int64_t key_step = 0, value_step = 0;  // floats of rows of gradients
  // In floats, in the scratch of a thread.
  size_t keys_at = 0, values_at = 0, packed_keys_at = 0, queries_at = 0, grads_at = 0,
         query_rows_at = 0, grad_rows_at = 0, scores_at = 0, dscores_at = 0, lines_at = 0,
         dk_at = 0, dv_at = 0, dq_at = 0, line_at = 0, zeros_at = 0;

  size_t lay_out() {
    size_t end = 0;
    const auto place = [&](int64_t floats) {
      const size_t at = end;
      end += static_cast<size_t>(round_up(floats, kLanes));
      return at;
    };
    wide = a.size + a.rope_size;
    key_step = round_up(wide, kLanes), value_step = round_up(a.value_size, kLanes);
    zeros_at = place(32);
    keys_at = place(kKeyTile * wide);
    values_at = place(kKeyTile * a.value_size);
    packed_keys_at = place(kKeyTile * key_step);
    queries_at = place(wide * kLanes);
    grads_at = place(a.value_size * kLanes);
    query_rows_at = place(kLanes * key_step);
    grad_rows_at = place(kLanes * value_step);
    scores_at = place(kKeyTile * kLanes);
    dscores_at = place(kKeyTile * kLanes);
    lines_at = place(kKeyTile * kLanes);
    dk_at = place(kKeyTile * key_step);
    dv_at = place(kKeyTile * value_step);
    dq_at = place(std::max(kLanes * key_step, value_step));
    line_at = place(std::max({wide, a.value_size, kKeyTile}));
    return end;
  }
};

struct GradientTask {
  const GradientWork& p;
  const RunArgs& args;
  const FlashSample& sample;
  int64_t b, g;
  float* s;  // scratch

  int64_t row(int64_t i) const { return i / p.a.group(); }
  int64_t head(int64_t i) const { return g * p.a.group() + i % p.a.group(); }
  int64_t batch() const { return p.a.packed_rows ? 0 : b; }
  TileProducts products() const { return {p.tiles, s + p.zeros_at}; }
  Elements elements(size_t input) const { return {p.inputs[input].dtype, args.inputs[input]}; }

  void run() const {
    std::fill_n(s + p.zeros_at, 32, 0.0f);
    const int64_t rows = sample.rows * p.a.group();
    for (int64_t at = 0; at < sample.keys; at += kKeyTile) {
      const int64_t n = std::min(kKeyTile, sample.keys - at);
      read_key_tile(at, n);
      std::fill_n(s + p.dk_at, n * p.key_step, 0.0f);
      std::fill_n(s + p.dv_at, n * p.value_step, 0.0f);
      for (int64_t first = 0; first < rows; first += kLanes)
        backward_tile(at, n, first, std::min(kLanes, rows - first));
      store_key_tile(at, n);
    }
  }

  void read_key_tile(int64_t at, int64_t n) const {
    const FlashShape& a = p.a;
    const CacheReader keys(a, a.key, args), values(a, a.value, args);
    const Panels shape{n, p.wide, p.tiles->panel_blocks};
    for (int64_t j = 0; j < n; ++j) {
      const int64_t token = sample.first_key + at + j;
      float* key = s + p.keys_at + j * p.wide;
      keys.read(b, g, token, key);
      if (a.rope_size > 0) CacheReader(a, a.rope, args).read(b, g, token, key + a.size);
      values.read(b, g, token, s + p.values_at + j * a.value_size);
      TileProducts::pack_row(shape, j, key, s + p.packed_keys_at);
    }
  }

  // 16 query rows over one tile of keys.
  void backward_tile(int64_t at, int64_t n, int64_t first, int64_t count) const {
    const FlashShape& a = p.a;
    KeyRange ranges[kLanes];
    bool sees = false;
    for (int64_t i = 0; i < kLanes; ++i) {
      ranges[i] = i < count ? a.keys_of(sample, b, row(first + i)) : KeyRange{};
      sees = sees || (ranges[i].first < at + n && ranges[i].last > at);
    }
    if (!sees) return;
    float delta[kLanes] = {}, log[kLanes] = {};
    read_rows(first, count, delta, log);
    float *scores = s + p.scores_at, *dscores = s + p.dscores_at;
    products().by_columns(s + p.keys_at, p.wide, p.wide, n, s + p.queries_at, scores, false);
    products().by_columns(s + p.values_at, a.value_size, a.value_size, n, s + p.grads_at, dscores,
                          false);
    recompute_probabilities(at, n, first, count, ranges, log);
    softmax_backward(at, n, first, count, delta);
    const Panels keys{n, p.wide, p.tiles->panel_blocks};
    const Panels queries{kLanes, p.wide, p.tiles->panel_blocks};
    const Panels grads{kLanes, a.value_size, p.tiles->panel_blocks};
    products().by_panels(scores, kLanes, n, grads, s + p.grad_rows_at, s + p.dv_at, p.value_step);
    products().by_panels(dscores, kLanes, n, queries, s + p.query_rows_at, s + p.dk_at, p.key_step);
    for (int64_t i = 0; i < kLanes; ++i) {
      for (int64_t j = 0; j < n; ++j)
        s[p.lines_at + static_cast<size_t>(i * kKeyTile + j)] = dscores[j * kLanes + i];
    }
    std::fill_n(s + p.dq_at, kLanes * p.key_step, 0.0f);
    products().by_panels(s + p.lines_at, kKeyTile, count, keys, s + p.packed_keys_at, s + p.dq_at,
                         p.key_step);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t r = sample.first_row + row(first + i), h = head(first + i);
      const float* from = s + p.dq_at + i * p.key_step;
      float* to = output_of<float>(args, kFlashGradQ) + a.q.at(batch(), h, r);
      for (int64_t d = 0; d < a.size; ++d) to[d] += from[d];
      if (a.rope_size == 0) continue;
      to = output_of<float>(args, kFlashGradQueryRope) + a.rope_q.at(batch(), h, r);
      for (int64_t d = 0; d < a.rope_size; ++d) to[d] += from[a.size + d];
    }
  }

  // Reads Q and dY, transposed and as panels; delta = sum(dY * Y) of each row.
  void read_rows(int64_t first, int64_t count, float* delta, float* log) const {
    const FlashShape& a = p.a;
    float* line = s + p.line_at;
    const Panels queries{kLanes, p.wide, p.tiles->panel_blocks};
    const Panels grads{kLanes, a.value_size, p.tiles->panel_blocks};
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t r = sample.first_row + row(first + i), h = head(first + i);
      std::fill_n(line, p.wide, 0.0f);
      if (i < count) {
        elements(kFlashQuery).read(a.q.at(batch(), h, r), a.size, line);
        if (a.rope_size > 0)
          elements(kFlashQueryRope).read(a.rope_q.at(batch(), h, r), a.rope_size, line + a.size);
      }
      for (int64_t d = 0; d < p.wide; ++d)
        s[p.queries_at + static_cast<size_t>(d * kLanes + i)] = line[d];
      TileProducts::pack_row(queries, i, line, s + p.query_rows_at);
      std::fill_n(line, a.value_size, 0.0f);
      if (i < count) {
        const int64_t y = a.y.at(batch(), h, r);
        elements(kFlashResult).read(y, a.value_size, s + p.dq_at);
        elements(kFlashGradY).read(y, a.value_size, line);
        for (int64_t d = 0; d < a.value_size; ++d)
          delta[i] += line[d] * s[p.dq_at + static_cast<size_t>(d)];
        log[i] = input_of<float>(args, kFlashGradLogSumExp)[a.stats.at(batch(), h, r)];
      }
      for (int64_t d = 0; d < a.value_size; ++d)
        s[p.grads_at + static_cast<size_t>(d * kLanes + i)] = line[d];
      TileProducts::pack_row(grads, i, line, s + p.grad_rows_at);
    }
  }

  // Scores to probabilities, exp(score - log-sum-exp).
  void recompute_probabilities(int64_t at, int64_t n, int64_t first, int64_t count,
                               const KeyRange* ranges, const float* log) const {
    const FlashShape& a = p.a;
    float* scores = s + p.scores_at;
    const bool before = a.bias_kind == BiasKind::before_scale;
    if (before) add_bias(at, n, first, count);
    for (int64_t j = 0; j < n * kLanes; ++j) scores[j] *= a.scale;
    if (!before) add_bias(at, n, first, count);
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < kLanes; ++i) scores[j * kLanes + i] -= log[i];
    }
    const auto* mask = a.reads_mask() ? input_of<uint8_t>(args, kFlashMask) : nullptr;
    for (int64_t i = 0; i < kLanes; ++i) {
      const auto& m = a.mask_steps;
      const int64_t from = b * m[0] + head(first + i) * m[1] + row(first + i) * m[2];
      for (int64_t j = 0; j < n; ++j) {
        const bool out = at + j < ranges[i].first || at + j >= ranges[i].last ||
                         (mask && mask[from + (at + j) * m[3]] != 0);
        if (out) scores[j * kLanes + i] = -INFINITY;
      }
    }
    p.exp(scores, scores, n * kLanes);
  }

  void add_bias(int64_t at, int64_t n, int64_t first, int64_t count) const {
    const FlashShape& a = p.a;
    if (!a.has[kFlashBias]) return;
    const auto& steps = a.bias_steps;
    float *line = s + p.line_at, *scores = s + p.scores_at;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t r = row(first + i);
      const int64_t from = b * steps[0] + head(first + i) * steps[1] + r * steps[2] + at * steps[3];
      elements(kFlashBias).read(from, steps[3] == 0 ? 1 : n, line);
      for (int64_t j = 0; j < n; ++j) {
        const float x = line[steps[3] == 0 ? 0 : j];
        scores[j * kLanes + i] +=
            a.bias_kind >= BiasKind::alibi
                ? static_cast<float>(a.alibi_bias(static_cast<double>(x), r, at + j))
                : x;
      }
    }
  }

  // Gradients of probabilities to those of scores; then dropout of the probabilities, for dV.
  void softmax_backward(int64_t at, int64_t n, int64_t first, int64_t count,
                        const float* delta) const {
    const FlashShape& a = p.a;
    float *scores = s + p.scores_at, *dscores = s + p.dscores_at;
    for (int64_t i = 0; i < count && a.has[kFlashDropoutMask]; ++i) {
      const int64_t bit = sample.first_dropout_bit +
                          (head(first + i) * sample.rows + row(first + i)) * sample.keys + at;
      const auto* bits = input_of<uint8_t>(args, kFlashDropoutMask);
      for (int64_t j = 0; j < n; ++j) {
        const bool kept = bits[(bit + j) / 8] >> ((bit + j) % 8) & 1;
        dscores[j * kLanes + i] *= kept ? 1 / a.keep_prob : 0;
      }
    }
    for (int64_t j = 0; j < n; ++j) {
      for (int64_t i = 0; i < kLanes; ++i) {
        const int64_t k = j * kLanes + i;
        dscores[k] = scores[k] * (dscores[k] - delta[i]) * a.scale;
      }
    }
    for (int64_t i = 0; i < count && a.has[kFlashDropoutMask]; ++i) {
      const int64_t bit = sample.first_dropout_bit +
                          (head(first + i) * sample.rows + row(first + i)) * sample.keys + at;
      const auto* bits = input_of<uint8_t>(args, kFlashDropoutMask);
      for (int64_t j = 0; j < n; ++j)
        scores[j * kLanes + i] *= bits[(bit + j) / 8] >> ((bit + j) % 8) & 1 ? 1 / a.keep_prob : 0;
    }
  }

  void store_key_tile(int64_t at, int64_t n) const {
    const FlashShape& a = p.a;
    const int64_t unit = a.packed_keys ? 0 : b;
    for (int64_t j = 0; j < n; ++j) {
      const int64_t token = sample.first_key + at + j;
      const float* dk = s + p.dk_at + j * p.key_step;
      std::copy_n(dk, a.size, output_of<float>(args, kFlashGradK) + a.key.steps.at(unit, g, token));
      std::copy_n(s + p.dv_at + j * p.value_step, a.value_size,
                  output_of<float>(args, kFlashGradV) + a.value.steps.at(unit, g, token));
      if (a.rope_size > 0)
        std::copy_n(dk + a.size, a.rope_size,
                    output_of<float>(args, kFlashGradKeyRope) + a.rope.steps.at(unit, g, token));
    }
  }
};

class GradientPlan final : public KernelPlan {
 public:
  GradientWork work;

  Status run(const RunArgs& args) const override {
    const FlashShape& a = work.a;
    auto* samples = reinterpret_cast<FlashSample*>(args.workspace);
    ANYNPU_TRY(read_samples(a, args, work.label, samples));
    for (size_t i = 0; i < args.outputs.size(); ++i) {
      if (!args.outputs[i]) continue;
      std::fill_n(output_of<float>(args, i),
                  static_cast<size_t>(element_count(work.outputs[i].shape)), 0.0f);
    }
    parallel_slots(
        thread_scratch_count, static_cast<size_t>(a.batch * a.kv_heads),
        [&](size_t task, size_t slot) {
          const auto i = static_cast<int64_t>(task);
          GradientTask{
              work,           args,           samples[i / a.kv_heads],
              i / a.kv_heads, i % a.kv_heads, reinterpret_cast<float*>(thread_scratch(args, slot))}
              .run();
        });
    return {};
  }
};

template <Isa isa>
PlanResult plan_flash_gradient(const OpContext& context) {
  auto plan = std::make_unique<GradientPlan>();
  GradientWork& work = plan->work;
  ANYNPU_ASSIGN(work.a, flash_shape_of(context));
  work.inputs = context.inputs, work.outputs = context.outputs;
  work.label = context.label();
  work.tiles = &tile_set(isa);
  work.exp = row_set(isa).find(RowFunction::exp);
  const size_t floats = work.lay_out();
  plan->workspace_bytes = static_cast<size_t>(work.a.batch) * sizeof(FlashSample);
  const auto tasks = static_cast<size_t>(work.a.batch * work.a.kv_heads);
  plan->add_thread_scratch(std::clamp<size_t>(tasks, 1, context.target.threads),
                           floats * sizeof(float));
  return std::unique_ptr<KernelPlan>(std::move(plan));
}

}  // namespace

template <Isa isa>
Result<std::unique_ptr<Kernel>> create_flash_gradient(const OpContext& context) {
  return create_plain<plan_flash_gradient<isa>>(context);
}

template Result<std::unique_ptr<Kernel>> create_flash_gradient<Isa::avx512>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_flash_gradient<Isa::avx2>(const OpContext&);
template Result<std::unique_ptr<Kernel>> create_flash_gradient<Isa::baseline>(const OpContext&);

}  // namespace anynpu::ops::attention
