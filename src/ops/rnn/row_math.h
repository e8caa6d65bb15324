// SPDX-License-Identifier: Apache-2.0
// Arithmetic over rows of floats in vectors of 4: what every processor has, and enough beside the
// products of a cell.
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

}  // namespace anynpu::ops::row_math
