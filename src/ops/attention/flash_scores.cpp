// SPDX-License-Identifier: Apache-2.0
// FlashAttention: online softmax of a tile of scores, between the products with K and V. The tile
// is [key][16 query rows], so that loops vectorise over rows.
#include <algorithm>
#include <cmath>

#include "ops/attention/flash_task.h"

namespace anynpu::ops::attention {

namespace {

constexpr int64_t kLanes = FlashWork::kLanes;

// Updates the running maximum m. `base` is to be subtracted from the scores; earlier sums and
// results are to be multiplied by `rescale`.
void update_max(const float* s, int64_t n, float* m, float* base, float* rescale) {
  float top[kLanes];
  std::copy_n(m, kLanes, top);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) top[i] = std::max(top[i], s[j * kLanes + i]);
  }
  for (int64_t i = 0; i < kLanes; ++i) {
    base[i] = top[i] == -INFINITY ? 0 : top[i];
    rescale[i] = top[i] == m[i] ? 1 : std::exp(m[i] - base[i]);
    m[i] = top[i];
  }
}

}  // namespace

void FlashTask::online_softmax(int64_t panel, int64_t at, int64_t n, const KeyRange* ranges) const {
  const FlashShape& a = p.a;
  float* s = scores(panel);
  if (a.bias_kind == BiasKind::before_scale) add_bias(panel, at, n, s);
  for (int64_t j = 0; j < n * kLanes; ++j) s[j] *= a.scale;
  if (a.bias_kind != BiasKind::before_scale) add_bias(panel, at, n, s);
  if (a.reads_mask()) mask(panel, at, n, s);
  for (int64_t i = 0; i < kLanes; ++i) {
    const KeyRange range{ranges[i].first - at, ranges[i].last - at};
    if (range.first <= 0 && range.last >= n) continue;
    for (int64_t j = 0; j < n; ++j) {
      if (j < range.first || j >= range.last) s[j * kLanes + i] = -INFINITY;
    }
  }
  float base[kLanes], rescale[kLanes];
  float *m = row_max() + panel * kLanes, *l = row_sum() + panel * kLanes;
  update_max(s, n, m, base, rescale);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) s[j * kLanes + i] -= base[i];
  }
  p.exp(s, s, n * kLanes);
  float added[kLanes] = {};
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) added[i] += s[j * kLanes + i];
  }
  for (int64_t i = 0; i < kLanes; ++i) l[i] = l[i] * rescale[i] + added[i];
  for (int64_t i = 0; i < kLanes; ++i) {
    float* line = weights(panel * kLanes + i);
    for (int64_t j = 0; j < n; ++j) line[j] = s[j * kLanes + i];
    float* result = results(panel * kLanes + i);
    if (rescale[i] != 1) {
      for (int64_t d = 0; d < p.value_step; ++d) result[d] *= rescale[i];
    }
  }
  if (a.has[kFlashDropoutMask]) dropout(panel, at, n);
}

void FlashTask::add_bias(int64_t panel, int64_t at, int64_t n, float* s) const {
  const FlashShape& a = p.a;
  if (!a.has[kFlashBias]) return;
  const auto& steps = a.bias_steps;
  const bool alibi = a.bias_kind >= BiasKind::alibi;
  const Elements bias{p.inputs[kFlashBias].dtype, args.inputs[kFlashBias]};
  float* line = scratch + p.line_at;
  for (int64_t i = 0; i < kLanes && panel * kLanes + i < count; ++i) {
    const int64_t r = row(panel * kLanes + i), h = head(panel * kLanes + i);
    const int64_t from = b * steps[0] + h * steps[1] + r * steps[2] + at * steps[3];
    bias.read(from, steps[3] == 0 ? 1 : n, line);
    for (int64_t j = 0; j < n; ++j) {
      const float x = line[steps[3] == 0 ? 0 : j];
      s[j * kLanes + i] +=
          alibi ? static_cast<float>(a.alibi_bias(static_cast<double>(x), r, at + j)) : x;
    }
  }
}

void FlashTask::mask(int64_t panel, int64_t at, int64_t n, float* s) const {
  const auto& steps = p.a.mask_steps;
  const auto* all = input_of<uint8_t>(args, kFlashMask);
  for (int64_t i = 0; i < kLanes && panel * kLanes + i < count; ++i) {
    const int64_t r = row(panel * kLanes + i), h = head(panel * kLanes + i);
    const uint8_t* from = all + b * steps[0] + h * steps[1] + r * steps[2] + at * steps[3];
    for (int64_t j = 0; j < n; ++j) {
      if (from[j * steps[3]] != 0) s[j * kLanes + i] = -INFINITY;
    }
  }
}

// Dropout of the probabilities; the sums include all of them.
void FlashTask::dropout(int64_t panel, int64_t at, int64_t n) const {
  const auto* bits = input_of<uint8_t>(args, kFlashDropoutMask);
  const float grown = 1 / p.a.keep_prob;
  for (int64_t i = 0; i < kLanes && panel * kLanes + i < count; ++i) {
    const int64_t r = row(panel * kLanes + i), h = head(panel * kLanes + i);
    const int64_t bit = sample.first_dropout_bit + (h * sample.rows + r) * sample.keys + at;
    float* line = weights(panel * kLanes + i);
    for (int64_t j = 0; j < n; ++j)
      line[j] *= bits[(bit + j) / 8] >> ((bit + j) % 8) & 1 ? grown : 0;
  }
}

}  // namespace anynpu::ops::attention
