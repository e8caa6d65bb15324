// SPDX-License-Identifier: Apache-2.0
// The order for sorting and searching: NaN is larger than all others and equal to itself, as in
// numpy. A plain < is not an order if values may be NaN.
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

// The maximum or minimum of two numbers, the first if they are equal; NaN wins.
template <typename W>
W larger(W a, W b) {
  return b > a || is_nan(b) ? b : a;
}
template <typename W>
W smaller(W a, W b) {
  return b < a || is_nan(b) ? b : a;
}

}  // namespace anynpu::ops
