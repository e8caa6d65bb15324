// SPDX-License-Identifier: Apache-2.0
// Cutting the values of options and the lines of their files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace anynpu::compile {

// Without blanks at both ends.
inline std::string_view trim(std::string_view text) {
  constexpr std::string_view blank = " \t\r";
  const size_t first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// The trimmed parts between separators; empty ones are left out.
inline std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    if (const auto part = trim(text.substr(0, end)); !part.empty()) parts.emplace_back(part);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return parts;
}

}  // namespace anynpu::compile
