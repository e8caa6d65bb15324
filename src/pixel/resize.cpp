// SPDX-License-Identifier: Apache-2.0
#include "pixel/resize.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"

namespace anynpu::pixel {
namespace {

constexpr int kWeightBits = 11;  // of a coefficient
constexpr int kWeightOne = 1 << kWeightBits;
// Below this many output samples a second thread costs more than it brings.
constexpr size_t kSplitSamples = 1 << 16;

// For each output position the source positions it is made of and their weights, which add to
// kWeightOne.
struct Axis {
  std::vector<int32_t> index;   // taps per position
  std::vector<int32_t> weight;  // taps per position
  int taps = 1;
};

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

Axis make_axis(uint32_t from, uint32_t to, Interpolation how) {
  Axis axis;
  const double scale = static_cast<double>(from) / to;
  const auto last = static_cast<int32_t>(from) - 1;
  axis.taps = how == Interpolation::high_order ? 4 : 2;
  axis.index.reserve(size_t{to} * axis.taps);
  axis.weight.reserve(size_t{to} * axis.taps);
  for (uint32_t i = 0; i < to; ++i) {
    const double position = source_position(i, scale, how);
    const auto base = static_cast<int32_t>(std::floor(position));
    const double fraction = position - base;
    double weights[4] = {1 - fraction, fraction, 0, 0};
    if (axis.taps == 4) cubic_weights(fraction, weights);
    const int32_t first = axis.taps == 4 ? base - 1 : base;
    int32_t sum = 0;
    for (int k = 0; k < axis.taps; ++k) {
      const auto weight = static_cast<int32_t>(std::floor(weights[k] * kWeightOne + 0.5));
      axis.index.push_back(std::clamp(first + k, 0, last));
      axis.weight.push_back(weight);
      sum += weight;
    }
    axis.weight[axis.weight.size() - axis.taps + axis.taps / 2] += kWeightOne - sum;
    if (axis.taps == 2 && from > 1) keep_apart(&axis.index.back() - 1, &axis.weight.back() - 1);
  }
  return axis;
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
// Eight positions at once: a gather brings both taps, a multiply-add mixes them.
template <int channels>
__attribute__((target("avx2"))) void stretch_row_avx2(const uint8_t* from, const Axis& axis,
                                                      uint32_t width, int32_t* to) {
  static_assert(channels <= 2);
  const int32_t* index = axis.index.data();
  const int32_t* weight = axis.weight.data();
  // A gather reads four bytes; the last positions of a row would read beyond it.
  const int32_t safe = axis.index.back() + 1 - 4 / channels;
  const __m256i even = _mm256_setr_epi32(0, 2, 4, 6, 0, 2, 4, 6);
  const __m256i low = _mm256_set1_epi32(0x00ff00ff);
  uint32_t x = 0;
  for (; x + 8 <= width && index[2 * (x + 7)] < safe; x += 8) {
    const auto load = [&](const int32_t* p) __attribute__((target("avx2"))) {
      const __m256i a = _mm256_permutevar8x32_epi32(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)), even);
      const __m256i b = _mm256_permutevar8x32_epi32(
          _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 8)), even);
      return _mm256_blend_epi32(a, b, 0xf0);
    };
    const __m256i first = load(weight + 2 * x);
    const __m256i second = _mm256_sub_epi32(_mm256_set1_epi32(kWeightOne), first);
    const __m256i weights = _mm256_or_si256(first, _mm256_slli_epi32(second, 16));
    const __m256i taps =
        _mm256_i32gather_epi32(reinterpret_cast<const int*>(from), load(index + 2 * x), channels);
    if constexpr (channels == 1) {
      const __m256i next = _mm256_slli_epi32(_mm256_and_si256(taps, _mm256_set1_epi32(0xff00)), 8);
      const __m256i pair = _mm256_or_si256(_mm256_and_si256(taps, _mm256_set1_epi32(0xff)), next);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + x), _mm256_madd_epi16(pair, weights));
    } else {
      const __m256i u = _mm256_madd_epi16(_mm256_and_si256(taps, low), weights);
      const __m256i v =
          _mm256_madd_epi16(_mm256_and_si256(_mm256_srli_epi32(taps, 8), low), weights);
      const __m256i a = _mm256_unpacklo_epi32(u, v);
      const __m256i b = _mm256_unpackhi_epi32(u, v);
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * x),
                          _mm256_permute2x128_si256(a, b, 0x20));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 2 * x + 8),
                          _mm256_permute2x128_si256(a, b, 0x31));
    }
  }
  for (; x < width; ++x) {
    for (int c = 0; c < channels; ++c)
      to[x * channels + c] = weight[2 * x] * from[index[2 * x] * channels + c] +
                             weight[2 * x + 1] * from[index[2 * x + 1] * channels + c];
  }
}

__attribute__((target("avx2"), optimize("O3"))) void mix_two_avx2(const int32_t* a,
                                                                  const int32_t* b, int32_t wa,
                                                                  int32_t wb, size_t n,
                                                                  uint8_t* to) {
  constexpr int32_t half = 1 << (2 * kWeightBits - 1);
  for (size_t i = 0; i < n; ++i)
    to[i] = static_cast<uint8_t>((a[i] * wa + b[i] * wb + half) >> (2 * kWeightBits));
}

bool has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2");
  return has;
}
#else
bool has_avx2() { return false; }
#endif

using StretchRow = void (*)(const uint8_t*, const Axis&, uint32_t, int32_t*);

StretchRow choose_stretch(int taps, uint32_t channels) {
  static constexpr StretchRow two[] = {stretch_row<2, 1>, stretch_row<2, 2>, stretch_row<2, 3>,
                                       stretch_row<2, 4>};
  static constexpr StretchRow four[] = {stretch_row<4, 1>, stretch_row<4, 2>, stretch_row<4, 3>,
                                        stretch_row<4, 4>};
#if defined(__x86_64__)
  if (taps == 2 && channels <= 2 && has_avx2())
    return channels == 1 ? stretch_row_avx2<1> : stretch_row_avx2<2>;
#endif
  return (taps == 2 ? two : four)[channels - 1];
}

// Two taps: the weights are positive and the sum stays below 2^31.
void mix_two(const int32_t* a, const int32_t* b, int32_t wa, int32_t wb, size_t n, uint8_t* to) {
  constexpr int32_t half = 1 << (2 * kWeightBits - 1);
  for (size_t i = 0; i < n; ++i)
    to[i] = static_cast<uint8_t>((a[i] * wa + b[i] * wb + half) >> (2 * kWeightBits));
}

void mix_four(const int32_t* const* rows, const int32_t* w, size_t n, uint8_t* to) {
  for (size_t i = 0; i < n; ++i) {
    int64_t sum = int64_t{1} << (2 * kWeightBits - 1);
    for (int k = 0; k < 4; ++k) sum += int64_t{rows[k][i]} * w[k];
    to[i] = static_cast<uint8_t>(std::clamp<int64_t>(sum >> (2 * kWeightBits), 0, 255));
  }
}

// Output rows [begin, end). Stretched source rows are kept, so that each is made once.
void smooth_rows(const Plane& from, const Plane& to, const Axis& across, const Axis& down,
                 size_t begin, size_t end) {
  const size_t samples = size_t{to.width} * to.channels;
  const int taps = down.taps;
  const StretchRow stretch = choose_stretch(taps, to.channels);
  auto* mix = mix_two;
#if defined(__x86_64__)
  if (has_avx2()) mix = mix_two_avx2;
#endif
  std::vector<int32_t> kept(samples * taps);
  std::vector<int32_t> holds(taps, -1);  // which source row a place holds
  for (size_t y = begin; y < end; ++y) {
    const int32_t* index = &down.index[y * taps];
    const int32_t* rows[4] = {};
    for (int k = 0; k < taps; ++k) {
      const int place = index[k] % taps;
      if (holds[place] != index[k]) {
        stretch(from.row(static_cast<uint32_t>(index[k])), across, to.width,
                &kept[place * samples]);
        holds[place] = index[k];
      }
      rows[k] = &kept[place * samples];
    }
    uint8_t* out = to.row(static_cast<uint32_t>(y));
    const int32_t* w = &down.weight[y * taps];
    if (taps == 2)
      mix(rows[0], rows[1], w[0], w[1], samples, out);
    else
      mix_four(rows, w, samples, out);
  }
}

template <int channels>
void pick_row(const uint8_t* from, const uint32_t* index, uint32_t width, uint8_t* to) {
  for (uint32_t x = 0; x < width; ++x) {
    const uint8_t* sample = from + size_t{index[x]} * channels;
    for (int c = 0; c < channels; ++c) to[x * channels + c] = sample[c];
  }
}

// The source position of each output position, in OpenCV's arithmetic.
std::vector<uint32_t> nearest_axis(uint32_t from, uint32_t to) {
  std::vector<uint32_t> axis(to);
  const double scale = 1.0 / (static_cast<double>(to) / from);
  for (uint32_t i = 0; i < to; ++i)
    axis[i] = std::min(static_cast<uint32_t>(std::floor(i * scale)), from - 1);
  return axis;
}

void nearest_rows(const Plane& from, const Plane& to, const std::vector<uint32_t>& across,
                  const std::vector<uint32_t>& down, size_t begin, size_t end) {
  static constexpr decltype(&pick_row<1>) pick[] = {pick_row<1>, pick_row<2>, pick_row<3>,
                                                    pick_row<4>};
  for (size_t y = begin; y < end; ++y) {
    pick[to.channels - 1](from.row(down[y]), across.data(), to.width,
                          to.row(static_cast<uint32_t>(y)));
  }
}

template <typename Rows>
void over_rows(const Plane& to, const Rows& rows) {
  const size_t row = size_t{to.width} * to.channels;
  if (row * to.height < kSplitSamples) return rows(0, to.height);
  ThreadPool::instance().parallel_for(to.height, kSplitSamples / (row + 1) + 1, rows);
}

}  // namespace

void resize_plane(const Plane& from, const Plane& to, Interpolation how) {
  if (from.width == to.width && from.height == to.height) {
    for (uint32_t y = 0; y < to.height; ++y)
      std::memcpy(to.row(y), from.row(y), size_t{to.width} * to.channels);
    return;
  }
  const bool smooth = how == Interpolation::bilinear || how == Interpolation::high_order ||
                      how == Interpolation::bilinear_tensorflow;
  if (!smooth) {
    const auto across = nearest_axis(from.width, to.width);
    const auto down = nearest_axis(from.height, to.height);
    return over_rows(
        to, [&](size_t begin, size_t end) { nearest_rows(from, to, across, down, begin, end); });
  }
  const Axis across = make_axis(from.width, to.width, how);
  const Axis down = make_axis(from.height, to.height, how);
  over_rows(to, [&](size_t begin, size_t end) { smooth_rows(from, to, across, down, begin, end); });
}

}  // namespace anynpu::pixel
