// SPDX-License-Identifier: Apache-2.0
// Rounding to multiples of a unit. Values are not negative, units are above zero and need not be
// powers of two; the result has the type of the value.
#pragma once

#include <concepts>
#include <type_traits>

namespace anynpu {

// ceil_div(17, 8) == 3: the number of units that hold the value.
template <std::integral T>
constexpr T ceil_div(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit;
}

// round_up(17, 8) == 24
template <std::integral T>
constexpr T round_up(T value, std::type_identity_t<T> unit) {
  return (value + unit - 1) / unit * unit;
}

// round_down(17, 8) == 16
template <std::integral T>
constexpr T round_down(T value, std::type_identity_t<T> unit) {
  return value / unit * unit;
}

template <std::integral T>
constexpr bool is_aligned(T value, std::type_identity_t<T> unit) {
  return value % unit == 0;
}

}  // namespace anynpu
