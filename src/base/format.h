// SPDX-License-Identifier: Apache-2.0
// format("{} of {}", a, b): text from values. The format string is {fmt}'s and is checked at
// compile time: a missing argument or a wrong specification is a compile error. How each type is
// printed:
//   enums: their number; pointers: hex with 0x; null texts: (null)
//   floats: six significant digits, as %.6g, whatever the locale
//   lists of integers: [1, 3, 224]
// Integers and texts take {fmt}'s specifications: {:#x} is hex with 0x, {:05} pads with zeros.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace anynpu {

namespace detail {

std::string float_text(double value);
std::string list_text(const std::vector<int64_t>& values);
std::string format_values(std::string_view text, fmt::format_args values);

// The value that {fmt} sees for an argument.
template <typename T>
auto printable(const T& value) {
  using Plain = std::decay_t<T>;
  if constexpr (std::is_enum_v<T>) {
    return static_cast<std::underlying_type_t<T>>(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return float_text(value);
  } else if constexpr (std::is_same_v<Plain, char*> || std::is_same_v<Plain, const char*>) {
    const char* text = value;
    return std::string_view(text ? text : "(null)");
  } else if constexpr (std::is_pointer_v<Plain> || std::is_null_pointer_v<T>) {
    return static_cast<const void*>(value);
  } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
    return std::string_view(value);
  } else if constexpr (std::is_same_v<T, std::vector<int64_t>>) {
    return list_text(value);
  } else {
    static_assert(std::is_integral_v<T>, "format: a type without a text; pass one of format.h");
    return value;
  }
}

}  // namespace detail

// The parameter type of a function that forwards a format string; fail() in status.h is an example.
template <typename... Args>
using FormatString =
    fmt::format_string<decltype(detail::printable(std::declval<const Args&>()))...>;

// format("{} of {}", a, b) is a std::string. An object, so that argument-dependent lookup does not
// find functions of this name in other namespaces (std::format, fmt::format).
struct FormatText {
  template <typename... Args>
  std::string operator()(FormatString<Args...> text, const Args&... args) const {
    const fmt::string_view view = text;
    return detail::format_values({view.data(), view.size()},
                                 fmt::make_format_args(detail::printable(args)...));
  }
};
inline constexpr FormatText format{};

}  // namespace anynpu
