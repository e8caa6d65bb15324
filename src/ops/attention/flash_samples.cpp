// SPDX-License-Identifier: Apache-2.0
// FlashAttention: sequence lengths and page table of a run, and which keys a query row sees.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/attention/flash.h"

namespace anynpu::ops::attention {

KeyRange FlashShape::keys_of(const FlashSample& sample, int64_t b, int64_t row) const {
  const int64_t from_last = row + sample.keys - sample.rows;
  const auto band_of = [&] {
    return KeyRange{std::max<int64_t>(from_last - before, 0),
                    std::min(from_last + after + 1, sample.keys)};
  };
  const auto up_to = [&](int64_t last) {
    return KeyRange{0, std::clamp<int64_t>(last + 1, 0, sample.keys)};
  };
  switch (mode) {
    case KeyMode::left_causal:
      return up_to(row);
    case KeyMode::right_causal:
      return up_to(from_last);
    case KeyMode::band:
      return band_of();
    case KeyMode::prefix:
      return up_to(std::max(from_last, prefixes[static_cast<size_t>(b)] - 1));
    case KeyMode::right_causal_band:
      return b == batch - 1 ? band_of() : up_to(from_last);
    case KeyMode::band_left_causal:
      return b == 0 ? band_of() : up_to(row);
    default:
      return {0, sample.keys};
  }
}

double FlashShape::alibi_bias(double slope, int64_t row, int64_t column) const {
  const auto distance = static_cast<double>(std::abs(row + row_start - column - key_start));
  return -slope * (bias_kind == BiasKind::sqrt_alibi ? std::sqrt(distance) : distance);
}

namespace {

// Where the tokens of a sample lie along their axis.
struct Span {
  int64_t first = 0, count = 0;
};

Result<Span> span_of(const std::string& label, const char* what, const int64_t* lengths,
                     bool packed, const int64_t* padding, int64_t b, int64_t most) {
  Span span{0, most};
  if (lengths) {
    span.first = packed && b > 0 ? lengths[b - 1] : 0;
    span.count = lengths[b] - span.first;
    if (span.count < 0 || span.first < 0 || span.first + span.count > most) {
      return fail(Code::invalid_argument, "{}: sample {} has the {} [{}, {}); there are {}", label,
                  b, what, span.first, span.first + span.count, most);
    }
  }
  if (!padding || packed) return span;
  span.first = most - padding[0] - span.count;
  if (span.first >= 0 && padding[0] >= 0) return span;
  return fail(Code::invalid_argument,
              "{}: sample {} has {} {} before a padding of {}; there are {}", label, b, span.count,
              what, padding[0], most);
}

}  // namespace

Status read_samples(const FlashShape& a, const RunArgs& args, const std::string& label,
                    FlashSample* samples) {
  const auto list = [&](size_t input) {
    return a.has[input] ? input_of<int64_t>(args, input) : nullptr;
  };
  int64_t dropout_bit = 0;
  for (int64_t b = 0; b < a.batch; ++b) {
    ANYNPU_ASSIGN(const Span rows, span_of(label, "rows", list(kFlashRowLengths), a.packed_rows,
                                           list(kFlashRowPadding), b, a.rows));
    ANYNPU_ASSIGN(const Span keys,
                  span_of(label, "keys", list(kFlashKeyLengths), a.packed_keys,
                          a.paged ? nullptr : list(kFlashKeyPadding), b, a.most_keys));
    samples[b] = {rows.first, rows.count, keys.first, keys.count, dropout_bit};
    dropout_bit += a.heads * rows.count * keys.count;
    if (a.has[kFlashDropoutMask] && dropout_bit > a.dropout_bits) {
      return fail(Code::invalid_argument,
                  "{}: the mask of dropout has {} bits; expected {} for the "
                  "scores up to sample {}",
                  label, a.dropout_bits, dropout_bit, b);
    }
    for (int64_t n = 0; a.paged && n * a.key.length < keys.count; ++n) {
      const int64_t block = list(kFlashBlockTable)[b * a.table_columns + n];
      if (block >= 0 && block < a.key.units) continue;
      return fail(Code::invalid_argument,
                  "{}: block {} of sample {} is number {}; there are {} blocks", label, n, b, block,
                  a.key.units);
    }
  }
  return {};
}

void clear_outputs(const FlashShape& a, std::span<const Operand> outputs, const RunArgs& args) {
  if (!a.has[kFlashRowLengths]) return;
  for (size_t i = 0; i < args.outputs.size(); ++i) {
    if (!args.outputs[i]) continue;
    const auto count = static_cast<size_t>(element_count(outputs[i].shape));
    std::memset(args.outputs[i], 0, bytes_of(outputs[i].dtype, count));
    if (i == kFlashLogSumExp) std::fill_n(output_of<float>(args, i), count, INFINITY);
  }
}

}  // namespace anynpu::ops::attention
