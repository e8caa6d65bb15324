// SPDX-License-Identifier: Apache-2.0
// The order of numbers that sorting and searching use: NaN is larger than all others and equal to
// itself, as numpy has it. A plain < is no order where NaN may be among the values.
#pragma once

#include <cmath>
#include <type_traits>

namespace anynpu::ops {

template <typename W>
bool is_nan(W x) {
  if constexpr (std::is_floating_point_v<W>) return std::isnan(x);
  return false;
}

template <typename W>
bool comes_before(W a, W b) {
  return a < b || (is_nan(b) && !is_nan(a));
}

// Of two numbers, the first where they are equal; NaN wins.
template <typename W>
W larger(W a, W b) {
  return b > a || is_nan(b) ? b : a;
}
template <typename W>
W smaller(W a, W b) {
  return b < a || is_nan(b) ? b : a;
}

}  // namespace anynpu::ops
