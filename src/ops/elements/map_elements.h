// SPDX-License-Identifier: Apache-2.0
// map_elements(count, f): f(0) ... f(count - 1), in groups of fixed length that the compiler turns
// into vector instructions. f must not depend on order; input and output may be the same memory.
#pragma once

#include <cstddef>

namespace anynpu::ops {

template <typename F>
inline void map_elements(size_t count, F f) {
  constexpr size_t kGroup = 16;
  size_t i = 0;
  for (; i + kGroup <= count; i += kGroup) {
#pragma GCC ivdep
    for (size_t j = 0; j < kGroup; ++j) f(i + j);
  }
  for (; i < count; ++i) f(i);
}

}  // namespace anynpu::ops
