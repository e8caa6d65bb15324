// SPDX-License-Identifier: Apache-2.0
// Reads rows of a KV cache as float32: looks up the page, unpacks and dequantises.
#pragma once

#include <algorithm>

#include "ops/attention/elements.h"
#include "ops/attention/flash.h"
#include "ops/elements/wide.h"

namespace anynpu::ops::attention {

class CacheReader {
 public:
  CacheReader(const FlashShape& a, const FlashCache& cache, const RunArgs& args)
      : cache_(cache), elements_{cache.type, args.inputs[cache.input]} {
    if (a.paged) table_ = input_of<int64_t>(args, kFlashBlockTable);
    table_columns_ = a.table_columns;
    packed_ = a.packed_keys;
    by_sample_ = a.scales_by_sample;
    if (cache.scale_input) scale_ = input_of<float>(args, cache.scale_input);
    if (cache.offset_input) offset_ = input_of<float>(args, cache.offset_input);
    const bool wide =
        cache.type == DType::f32 || cache.type == DType::f16 || cache.type == DType::bf16;
    if (!wide && cache.type != DType::i8) load_ = load_block<double>(cache.type);
  }

  // Address of `count` rows from `token` on, `step` floats apart; null if they need conversion or
  // cross a page: then use read().
  const float* direct(int64_t b, int64_t head, int64_t token, int64_t count, int64_t& step) const {
    if (!elements_.are_floats() || cache_.chunk || scale_ || offset_) return nullptr;
    if (table_ && token / cache_.length != (token + count - 1) / cache_.length) return nullptr;
    step = cache_.steps.row;
    return elements_.floats(slot(b, token).at(cache_.steps, head));
  }

  // Prefetches row `token`: rows of a head are too far apart for the hardware prefetcher.
  void prefetch(int64_t b, int64_t head, int64_t token) const {
    constexpr size_t kLine = 64;
    const std::byte* from = elements_.at(slot(b, token).at(cache_.steps, head));
    const size_t bytes = bytes_of(cache_.type, static_cast<size_t>(cache_.size));
    for (size_t i = 0; i < bytes && !cache_.chunk; i += kLine) __builtin_prefetch(from + i);
  }

  // Row `token`: cache_.size floats.
  void read(int64_t b, int64_t head, int64_t token, float* to) const {
    const TokenSlot at = slot(b, token), factor = by_sample_ ? TokenSlot{b, token} : at;
    const int64_t first = at.at(cache_.steps, head);
    if (!cache_.chunk) {
      load(first, cache_.size, to);
    } else {
      for (int64_t i = 0; i * cache_.chunk < cache_.size; ++i)
        load(first + i * cache_.chunk_step, cache_.chunk, to + i * cache_.chunk);
    }
    if (offset_) {
      const int64_t from = factor.of(cache_.offset_steps, head), step = cache_.offset_steps[3];
      for (int64_t d = 0; d < cache_.size; ++d) to[d] += offset_[from + d * step];
    }
    if (scale_) {
      const int64_t from = factor.of(cache_.scale_steps, head), step = cache_.scale_steps[3];
      for (int64_t d = 0; d < cache_.size; ++d) to[d] *= scale_[from + d * step];
    }
  }

 private:
  // Where a token is: its page or sample, and the index in it.
  struct TokenSlot {
    int64_t unit, token;
    int64_t at(const HeadSteps& steps, int64_t head) const { return steps.at(unit, head, token); }
    int64_t of(const std::array<int64_t, 4>& steps, int64_t head) const {
      return unit * steps[0] + head * steps[1] + token * steps[2];
    }
  };

  TokenSlot slot(int64_t b, int64_t token) const {
    if (!table_) return {packed_ ? 0 : b, token};
    return {table_[b * table_columns_ + token / cache_.length], token % cache_.length};
  }

  void load(int64_t first, int64_t count, float* to) const {
    if (cache_.type == DType::i8) {
      const auto* from = reinterpret_cast<const int8_t*>(elements_.at(first));
      for (int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(from[i]);
      return;
    }
    if (!load_) return elements_.read(first, count, to);
    double block[kBlockLength];
    for (int64_t i = 0; i < count; i += kBlockLength) {
      const int64_t n = std::min(kBlockLength, count - i);
      load_(elements_.data, first + i, 1, block, n);
      for (int64_t j = 0; j < n; ++j) to[i + j] = static_cast<float>(block[j]);
    }
  }

  const FlashCache& cache_;
  Elements elements_;
  const int64_t* table_ = nullptr;
  int64_t table_columns_ = 0;
  bool packed_ = false, by_sample_ = false;
  const float *scale_ = nullptr, *offset_ = nullptr;
  LoadBlock<double> load_ = nullptr;
};

}  // namespace anynpu::ops::attention
