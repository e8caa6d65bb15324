// SPDX-License-Identifier: Apache-2.0
// One line on standard error for a failed call, because most programs print only the error code:
//
//   anynpu: aclrtMemcpy failed with 107000 (ACL_ERROR_RT_PARAM_INVALID): src is 0 (null); pass the
//   address of 16 bytes (app.py:12)                                            (all of it one line)
//
// The same cause (function, code and message, ignoring the numbers in it) is printed once, and at
// most kMostFailureLines lines per run; the last one says so. ANYNPU_ERRORS and acl.json change
// that. Thread-safe; works in static destructors and in forked children; never throws.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace anynpu {

enum class FailureLines : uint8_t {
  off,
  first,  // the rule above
  all,    // every failure, even normal answers
};
constexpr size_t kMostFailureLines = 20;

// "off", "first", "all"; nothing for other words.
std::optional<FailureLines> failure_lines_named(std::string_view word);
// The setting of acl.json; ANYNPU_ERRORS takes precedence. Nothing: the default, `first`.
void choose_failure_lines(std::optional<FailureLines> choice);

struct FailedCall {
  std::string_view function;
  std::string_view number;   // "107000"
  std::string_view name;     // "ACL_ERROR_RT_PARAM_INVALID"
  std::string_view message;  // in one line: ends of lines become "; "
  bool answer = false;       // a normal answer of the function, such as "nothing yet"
};
void show_failure(const FailedCall& call) noexcept;

// For language bindings (anynpu.h): writes the source line of the caller, "app.py:12", and returns
// its length; 0 when no code of that language is on the stack. Null removes it.
using CallerPlace = size_t (*)(char* text, size_t size);
void set_caller_place(CallerPlace place);

}  // namespace anynpu
