// SPDX-License-Identifier: Apache-2.0
// format("{} of {}", a, b): the part of std::format that messages need. Each {} takes the next
// argument; {x} prints an integer in hex with 0x; {{ and }} are literal braces. A missing argument
// prints as {?}: a message is never worth a crash.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace anynpu {

class FormatArg {
 public:
  FormatArg(bool v) : kind_(Kind::boolean) { i_ = v; }  // NOLINT: implicit by design, as the rest
  FormatArg(char v) : kind_(Kind::character) { i_ = v; }
  template <typename T>
  requires(std::is_integral_v<T>&& std::is_signed_v<T>) FormatArg(T v) : kind_(Kind::sint) {
    i_ = v;
  }
  template <typename T>
  requires(std::is_integral_v<T>&& std::is_unsigned_v<T>) FormatArg(T v) : kind_(Kind::uint) {
    u_ = v;
  }
  template <typename T>
  requires std::is_enum_v<T> FormatArg(T v)
      : FormatArg(static_cast<std::underlying_type_t<T>>(v)) {}
  FormatArg(double v) : kind_(Kind::real) { d_ = v; }
  FormatArg(float v) : kind_(Kind::real) { d_ = v; }
  FormatArg(const void* v) : kind_(Kind::pointer) { u_ = reinterpret_cast<uintptr_t>(v); }
  FormatArg(const char* v) : kind_(Kind::text) { s_ = v ? v : "(null)"; }
  FormatArg(std::string_view v) : kind_(Kind::text) { s_ = v; }
  FormatArg(const std::string& v) : kind_(Kind::text) { s_ = v; }
  // Lists of integers print as [1, 3, 224].
  FormatArg(const std::vector<int64_t>& v) : kind_(Kind::list) { list_ = &v; }

  void append_to(std::string& out, bool hex) const;

 private:
  enum class Kind : unsigned char { boolean, character, sint, uint, real, pointer, text, list };
  Kind kind_;
  union {
    int64_t i_;
    uint64_t u_;
    double d_;
    const std::vector<int64_t>* list_;
  };
  std::string_view s_;
};

std::string format_args(std::string_view text, const FormatArg* args, size_t count);

template <typename... Args>
std::string format(std::string_view text, const Args&... args) {
  if constexpr (sizeof...(Args) == 0) {
    return format_args(text, nullptr, 0);
  } else {
    const std::array<FormatArg, sizeof...(Args)> list{FormatArg(args)...};
    return format_args(text, list.data(), list.size());
  }
}

}  // namespace anynpu
