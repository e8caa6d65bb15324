// SPDX-License-Identifier: Apache-2.0
#include "pixel/stretch.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/clones.h"

namespace anynpu::pixel {
namespace {

constexpr int32_t kWeightOne = 1 << kWeightBits;
constexpr int32_t kHalf = 1 << (2 * kWeightBits - 1);  // of what two weights make of 1

double source_position(uint32_t at, double scale, Interpolation how) {
  return how == Interpolation::bilinear_tensorflow ? at * scale : (at + 0.5) * scale - 0.5;
}

void cubic_weights(double t, double* w) {
  constexpr double a = -0.75;
  w[0] = ((a * (t + 1) - 5 * a) * (t + 1) + 8 * a) * (t + 1) - 4 * a;
  w[1] = ((a + 2) * t - (a + 3)) * t * t + 1;
  w[2] = ((a + 2) * (1 - t) - (a + 3)) * (1 - t) * (1 - t) + 1;
  w[3] = 1 - w[0] - w[1] - w[2];
}

// Two taps that fell together at an edge become neighbours again, one of them without weight: then
// the second always follows the first.
void keep_apart(int32_t* index, int32_t* weight) {
  if (index[0] != index[1]) return;
  const bool first = index[0] == 0;
  index[0] -= first ? 0 : 1;
  index[1] += first ? 1 : 0;
  weight[first ? 0 : 1] = kWeightOne;
  weight[first ? 1 : 0] = 0;
}

template <int taps, int channels>
void stretch_row(const uint8_t* from, const Axis& axis, uint32_t width, int32_t* to) {
  const int32_t* index = axis.index.data();
  const int32_t* weight = axis.weight.data();
  for (uint32_t x = 0; x < width; ++x, index += taps, weight += taps, to += channels) {
    for (int c = 0; c < channels; ++c) {
      int32_t sum = 0;
      for (int k = 0; k < taps; ++k) sum += weight[k] * from[index[k] * channels + c];
      to[c] = sum;
    }
  }
}

#if defined(__x86_64__)
#define ANYNPU_AVX2 __attribute__((target("avx2"), always_inline)) inline

template <typename T>
T read_as(const uint8_t* p) {
  T value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

// The bytes of both taps of 16 / (2 * channels) positions. Plain loads, each put into its place:
// on many processors a gather is slower.
template <int channels>
ANYNPU_AVX2 __m128i taps_of(const uint8_t* from, const int32_t* first) {
  const auto at = [&](int k) { return from + ptrdiff_t{first[k]} * channels; };
  if constexpr (channels == 1) {
    __m128i a = _mm_cvtsi32_si128(read_as<uint16_t>(at(0)));
    __m128i b = _mm_cvtsi32_si128(read_as<uint16_t>(at(4)));
    a = _mm_insert_epi16(a, read_as<uint16_t>(at(1)), 1);
    b = _mm_insert_epi16(b, read_as<uint16_t>(at(5)), 1);
    a = _mm_insert_epi16(a, read_as<uint16_t>(at(2)), 2);
    b = _mm_insert_epi16(b, read_as<uint16_t>(at(6)), 2);
    a = _mm_insert_epi16(a, read_as<uint16_t>(at(3)), 3);
    b = _mm_insert_epi16(b, read_as<uint16_t>(at(7)), 3);
    return _mm_unpacklo_epi64(a, b);
  } else if constexpr (channels == 2) {
    __m128i a = _mm_cvtsi32_si128(read_as<int32_t>(at(0)));
    __m128i b = _mm_cvtsi32_si128(read_as<int32_t>(at(2)));
    a = _mm_insert_epi32(a, read_as<int32_t>(at(1)), 1);
    b = _mm_insert_epi32(b, read_as<int32_t>(at(3)), 1);
    return _mm_unpacklo_epi64(a, b);
  } else {
    return _mm_insert_epi64(_mm_cvtsi64_si128(read_as<int64_t>(at(0))), read_as<int64_t>(at(1)), 1);
  }
}

template <int channels>
constexpr uint32_t kStep = channels == 1   ? 8
                           : channels == 2 ? 4
                                           : 2;  // positions at once

// Both taps of each value lie side by side, one multiply-add mixes them: eight sums, with three
// channels three of each four.
template <int channels>
ANYNPU_AVX2 __m256i sums_of(const uint8_t* from, const int32_t* first, const int32_t* pair) {
  __m128i bytes = taps_of<channels>(from, first);
  __m256i weights;
  if constexpr (channels == 1) {
    weights = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pair));
  } else {
    const __m128i side_by_side =
        channels == 2   ? _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15)
        : channels == 3 ? _mm_setr_epi8(0, 3, 1, 4, 2, 5, -1, -1, 8, 11, 9, 12, 10, 13, -1, -1)
                        : _mm_setr_epi8(0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15);
    const __m256i spread = channels == 2 ? _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3)
                                         : _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1);
    bytes = _mm_shuffle_epi8(bytes, side_by_side);
    const __m128i few = channels == 2 ? _mm_loadu_si128(reinterpret_cast<const __m128i*>(pair))
                                      : _mm_loadl_epi64(reinterpret_cast<const __m128i*>(pair));
    weights = _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(few), spread);
  }
  return _mm256_madd_epi16(_mm256_cvtepu8_epi16(bytes), weights);
}

// How many positions may be read eight values at once: three channels read and write two bytes more
// than they use, which they must not where the row ends.
template <int channels>
uint32_t fast_positions(const Axis& axis, uint32_t width) {
  if constexpr (channels == 3) {
    const int32_t end = axis.first.back();
    width -= 1;
    while (width > 0 && axis.first[width - 1] >= end) --width;
  }
  return width / kStep<channels> * kStep<channels>;
}

template <int channels>
int32_t one_sum(const uint8_t* from, const Axis& axis, uint32_t x, int c) {
  const uint8_t* taps = from + ptrdiff_t{axis.first[x]} * channels + c;
  return (axis.pair[x] & 0xffff) * taps[0] + (axis.pair[x] >> 16) * taps[channels];
}

template <int channels>
__attribute__((target("avx2"))) void stretch_row_avx2(const uint8_t* from, const Axis& axis,
                                                      uint32_t width, int32_t* to) {
  const uint32_t fast = fast_positions<channels>(axis, width);
  uint32_t x = 0;
  for (; x < fast; x += kStep<channels>, to += kStep<channels> * channels) {
    const __m256i sums = sums_of<channels>(from, &axis.first[x], &axis.pair[x]);
    if constexpr (channels == 3) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(sums));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 3), _mm256_extracti128_si256(sums, 1));
    } else {
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), sums);
    }
  }
  for (; x < width; ++x)
    for (int c = 0; c < channels; ++c) *to++ = one_sum<channels>(from, axis, x, c);
}

template <int channels>
__attribute__((target("avx2"))) void scale_row_avx2(const uint8_t* a, const uint8_t* b,
                                                    const Axis& axis, const int32_t* weights,
                                                    uint32_t width, uint8_t* to) {
  const __m256i wa = _mm256_set1_epi32(weights[0]);
  const __m256i wb = _mm256_set1_epi32(weights[1]);
  const __m256i half = _mm256_set1_epi32(kHalf);
  const uint32_t fast = fast_positions<channels>(axis, width);
  uint32_t x = 0;
  for (; x < fast; x += kStep<channels>, to += kStep<channels> * channels) {
    const int32_t* first = &axis.first[x];
    const int32_t* pair = &axis.pair[x];
    const __m256i upper = _mm256_mullo_epi32(sums_of<channels>(a, first, pair), wa);
    const __m256i lower = _mm256_mullo_epi32(sums_of<channels>(b, first, pair), wb);
    const __m256i sums =
        _mm256_srli_epi32(_mm256_add_epi32(_mm256_add_epi32(upper, lower), half), 2 * kWeightBits);
    const __m128i words =
        _mm_packus_epi32(_mm256_castsi256_si128(sums), _mm256_extracti128_si256(sums, 1));
    __m128i bytes = _mm_packus_epi16(words, words);
    if constexpr (channels == 3)
      bytes =
          _mm_shuffle_epi8(bytes, _mm_setr_epi8(0, 1, 2, 4, 5, 6, 8, 8, 8, 8, 8, 8, 8, 8, 8, 8));
    _mm_storel_epi64(reinterpret_cast<__m128i*>(to), bytes);
  }
  for (; x < width; ++x) {
    for (int c = 0; c < channels; ++c) {
      const int32_t sum = one_sum<channels>(a, axis, x, c) * weights[0] +
                          one_sum<channels>(b, axis, x, c) * weights[1];
      *to++ = static_cast<uint8_t>((sum + kHalf) >> (2 * kWeightBits));
    }
  }
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#endif

// Two taps: the weights are positive and the sum stays below 2^31.
ANYNPU_CLONES("avx2")
void mix_two(const int32_t* a, const int32_t* b, int32_t wa, int32_t wb, size_t n, uint8_t* to) {
  for (size_t i = 0; i < n; ++i)
    to[i] = static_cast<uint8_t>((a[i] * wa + b[i] * wb + kHalf) >> (2 * kWeightBits));
}

void mix_four(const int32_t* const* rows, const int32_t* w, size_t n, uint8_t* to) {
  for (size_t i = 0; i < n; ++i) {
    int64_t sum = kHalf;
    for (int k = 0; k < 4; ++k) sum += int64_t{rows[k][i]} * w[k];
    to[i] = static_cast<uint8_t>(std::clamp<int64_t>(sum >> (2 * kWeightBits), 0, 255));
  }
}

}  // namespace

Axis make_axis(uint32_t from, uint32_t to, Interpolation how) {
  Axis axis;
  const double scale = static_cast<double>(from) / to;
  const auto last = static_cast<int32_t>(from) - 1;
  axis.taps = how == Interpolation::high_order ? 4 : 2;
  axis.index.resize(size_t{to} * axis.taps);
  axis.weight.resize(size_t{to} * axis.taps);
  if (axis.taps == 2) {
    axis.first.resize(to);
    axis.pair.resize(to);
  }
  for (uint32_t i = 0; i < to; ++i) {
    const double position = source_position(i, scale, how);
    const int32_t base = static_cast<int32_t>(position + 1) - 1;  // positions lie above -1
    const double fraction = position - base;
    double weights[4] = {1 - fraction, fraction, 0, 0};
    if (axis.taps == 4) cubic_weights(fraction, weights);
    const int32_t begin = axis.taps == 4 ? base - 1 : base;
    int32_t* index = &axis.index[size_t{i} * axis.taps];
    int32_t* weight = &axis.weight[size_t{i} * axis.taps];
    int32_t sum = 0;
    for (int k = 0; k < axis.taps; ++k) {
      index[k] = std::clamp(begin + k, 0, last);
      weight[k] = static_cast<int32_t>(std::lrint(weights[k] * kWeightOne));
      sum += weight[k];
    }
    weight[axis.taps / 2] += kWeightOne - sum;
    if (axis.taps == 4) continue;
    if (from > 1) keep_apart(index, weight);
    axis.first[i] = index[0];
    axis.pair[i] = weight[0] | weight[1] << 16;
  }
  return axis;
}

StretchRow choose_stretch(const Axis& axis, uint32_t source_width, uint32_t channels) {
  static constexpr StretchRow two[] = {stretch_row<2, 1>, stretch_row<2, 2>, stretch_row<2, 3>,
                                       stretch_row<2, 4>};
  static constexpr StretchRow four[] = {stretch_row<4, 1>, stretch_row<4, 2>, stretch_row<4, 3>,
                                        stretch_row<4, 4>};
#if defined(__x86_64__)
  static constexpr StretchRow fast[] = {stretch_row_avx2<1>, stretch_row_avx2<2>,
                                        stretch_row_avx2<3>, stretch_row_avx2<4>};
  if (axis.taps == 2 && source_width > 1 && has_avx2()) return fast[channels - 1];
#else
  (void)source_width;
#endif
  return (axis.taps == 2 ? two : four)[channels - 1];
}

ScaleRow choose_scale(const Axis& axis, uint32_t source_width, uint32_t channels) {
#if defined(__x86_64__)
  static constexpr ScaleRow fast[] = {scale_row_avx2<1>, scale_row_avx2<2>, scale_row_avx2<3>,
                                      scale_row_avx2<4>};
  if (axis.taps == 2 && source_width > 1 && has_avx2()) return fast[channels - 1];
#else
  (void)axis, (void)source_width, (void)channels;
#endif
  return nullptr;
}

void mix_rows(const int32_t* const* rows, const int32_t* weights, int taps, size_t n, uint8_t* to) {
  if (taps == 2) return mix_two(rows[0], rows[1], weights[0], weights[1], n, to);
  mix_four(rows, weights, n, to);
}

}  // namespace anynpu::pixel
