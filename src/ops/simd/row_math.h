// SPDX-License-Identifier: Apache-2.0
// Portable arithmetic over rows of floats in vectors of 4, which every processor has; enough where
// memory bandwidth is the limit.
#pragma once

#include <cstdint>
#include <cstring>

namespace anynpu::ops::row_math {

typedef float Block __attribute__((vector_size(16)));

template <typename V>
V at(const float* x) {
  V value;
  std::memcpy(&value, x, sizeof value);
  return value;
}
template <typename V>
void put(float* y, V value) {
  std::memcpy(y, &value, sizeof value);
}
// body<V>(i) for all elements i of a row: V covers 4 of them, or one at the end.
template <typename Body>
void each(int64_t count, const Body& body) {
  int64_t i = 0;
  for (; i + 4 <= count; i += 4) body.template operator()<Block>(i);
  for (; i < count; ++i) body.template operator()<float>(i);
}

inline void add(int64_t count, const float* x, float* y) {
  each(count, [&]<typename V>(int64_t i) { put<V>(y + i, at<V>(y + i) + at<V>(x + i)); });
}
inline void relu(const float* x, float* y, int64_t count) {
  each(count,
       [&]<typename V>(int64_t i) { put<V>(y + i, at<V>(x + i) > 0.0f ? at<V>(x + i) : V{}); });
}

// The dot product, in sixteen accumulators that are flushed before they get long.
inline float dot(const float* a, const float* b, int64_t count) {
  constexpr int64_t kPiece = 4096;
  double all = 0;
  for (int64_t from = 0; from < count; from += kPiece) {
    const int64_t end = from + kPiece < count ? from + kPiece : count;
    Block sums[4] = {};
    int64_t i = from;
    for (; i + 16 <= end; i += 16) {
      for (int64_t p = 0; p < 4; ++p) {
        sums[p] += at<Block>(a + i + 4 * p) * at<Block>(b + i + 4 * p);
      }
    }
    const Block four = (sums[0] + sums[1]) + (sums[2] + sums[3]);
    float rest = (four[0] + four[1]) + (four[2] + four[3]);
    for (; i < end; ++i) rest += a[i] * b[i];
    all += static_cast<double>(rest);
  }
  return static_cast<float>(all);
}

}  // namespace anynpu::ops::row_math
