// SPDX-License-Identifier: Apache-2.0
// Splitting and joining strings, and looking words up in lists. Letters are ASCII; Unicode is in
// ops/text/unicode.h.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

namespace anynpu {

// The parts between separators: "a,,b" gives "a", "" and "b"; an empty text is one empty part. The
// parts point into the text.
std::vector<std::string_view> split(std::string_view text, char separator);

// Copies of the parts, each trimmed, empty ones left out: "a, ,b" gives "a" and "b".
std::vector<std::string> split_words(std::string_view text, char separator);

// Without spaces, tabs and line ends at both ends.
std::string_view trim(std::string_view text);

std::string lower(std::string_view text);
std::string upper(std::string_view text);

// join({"a", "b"}) is "a, b".
template <typename Parts>
std::string join(const Parts& parts, std::string_view between = ", ") {
  std::string out;
  bool first = true;
  for (const auto& part : parts) {
    if (!first) out += between;
    first = false;
    out += part;
  }
  return out;
}

template <typename List, typename Value>
constexpr bool contains(const List& list, const Value& value) {
  return std::find(std::begin(list), std::end(list), value) != std::end(list);
}

}  // namespace anynpu
