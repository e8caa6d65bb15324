// SPDX-License-Identifier: Apache-2.0
// FlashAttention: what happens to a piece of scores between the two products. They lie as
// [key][16 rows], so that loops go along lanes.
#include <algorithm>
#include <cmath>

#include "ops/attention/flash_task.h"

namespace anynpu::ops::attention {

namespace {

constexpr int64_t kLanes = FlashWork::kLanes;

// m becomes the largest score so far; `base` is subtracted from scores, and what there was is
// to be multiplied by `shrink`.
void raise(const float* s, int64_t n, float* m, float* base, float* shrink) {
  float top[kLanes];
  std::copy_n(m, kLanes, top);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) top[i] = std::max(top[i], s[j * kLanes + i]);
  }
  for (int64_t i = 0; i < kLanes; ++i) {
    base[i] = top[i] == -INFINITY ? 0 : top[i];
    shrink[i] = top[i] == m[i] ? 1 : std::exp(m[i] - base[i]);
    m[i] = top[i];
  }
}

}  // namespace

void FlashTask::weigh(int64_t panel, int64_t at, int64_t n, const KeyRange* ranges) const {
  const FlashShape& a = p.a;
  float* s = scores(panel);
  if (a.shift_kind == ShiftKind::before_scale) shift(panel, at, n, s);
  for (int64_t j = 0; j < n * kLanes; ++j) s[j] *= a.scale;
  if (a.shift_kind != ShiftKind::before_scale) shift(panel, at, n, s);
  if (a.reads_mask()) mask(panel, at, n, s);
  for (int64_t i = 0; i < kLanes; ++i) {
    const KeyRange range{ranges[i].first - at, ranges[i].last - at};
    if (range.first <= 0 && range.last >= n) continue;
    for (int64_t j = 0; j < n; ++j) {
      if (j < range.first || j >= range.last) s[j * kLanes + i] = -INFINITY;
    }
  }
  float base[kLanes], shrink[kLanes];
  float *m = most() + panel * kLanes, *l = sum() + panel * kLanes;
  raise(s, n, m, base, shrink);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) s[j * kLanes + i] -= base[i];
  }
  p.exp(s, s, n * kLanes);
  float added[kLanes] = {};
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < kLanes; ++i) added[i] += s[j * kLanes + i];
  }
  for (int64_t i = 0; i < kLanes; ++i) l[i] = l[i] * shrink[i] + added[i];
  for (int64_t i = 0; i < kLanes; ++i) {
    float* line = weights(panel * kLanes + i);
    for (int64_t j = 0; j < n; ++j) line[j] = s[j * kLanes + i];
    float* result = results(panel * kLanes + i);
    if (shrink[i] != 1) {
      for (int64_t d = 0; d < p.value_step; ++d) result[d] *= shrink[i];
    }
  }
  if (a.has[kFlashKeep]) drop(panel, at, n);
}

void FlashTask::shift(int64_t panel, int64_t at, int64_t n, float* s) const {
  const FlashShape& a = p.a;
  if (!a.has[kFlashShift]) return;
  const auto& steps = a.shift_steps;
  const bool slopes = a.shift_kind >= ShiftKind::slope;
  const Elements shifts{p.inputs[kFlashShift].dtype, args.inputs[kFlashShift]};
  float* line = scratch + p.line_at;
  for (int64_t i = 0; i < kLanes && panel * kLanes + i < count; ++i) {
    const int64_t r = row(panel * kLanes + i), h = head(panel * kLanes + i);
    const int64_t from = b * steps[0] + h * steps[1] + r * steps[2] + at * steps[3];
    shifts.read(from, steps[3] == 0 ? 1 : n, line);
    for (int64_t j = 0; j < n; ++j) {
      const float x = line[steps[3] == 0 ? 0 : j];
      s[j * kLanes + i] +=
          slopes ? static_cast<float>(a.slope_shift(static_cast<double>(x), r, at + j)) : x;
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

// Dropout of the weights; the sums have them all.
void FlashTask::drop(int64_t panel, int64_t at, int64_t n) const {
  const auto* bits = input_of<uint8_t>(args, kFlashKeep);
  const float grown = 1 / p.a.keep;
  for (int64_t i = 0; i < kLanes && panel * kLanes + i < count; ++i) {
    const int64_t r = row(panel * kLanes + i), h = head(panel * kLanes + i);
    const int64_t bit = sample.keep + (h * sample.rows + r) * sample.keys + at;
    float* line = weights(panel * kLanes + i);
    for (int64_t j = 0; j < n; ++j)
      line[j] *= bits[(bit + j) / 8] >> ((bit + j) % 8) & 1 ? grown : 0;
  }
}

}  // namespace anynpu::ops::attention
