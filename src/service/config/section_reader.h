// SPDX-License-Identifier: Apache-2.0
// Reading members of a section of acl.json: each function gives the value, the default when the key
// is absent, or a failure that names section, key, what it is and what was expected.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace anynpu::service {

struct SectionReader {
  const json::Value& object;
  std::string_view name;  // of the section, for messages

  // Any text.
  Result<std::string> text(std::string_view key, std::string_view fallback) const;
  // One of `allowed`.
  Result<std::string> word(std::string_view key, std::string_view fallback,
                           std::span<const std::string_view> allowed) const;
  // "on" or "off"; absent means off.
  Result<bool> on_off(std::string_view key) const;
  // A comma list of words of `allowed` (of any words when `allowed` is empty).
  Result<std::vector<std::string>> words(std::string_view key,
                                         std::span<const std::string_view> allowed) const;
  // A list of texts.
  Result<std::vector<std::string>> texts(std::string_view key) const;
  // A number, or a text that holds one, in [low, high].
  Result<int64_t> number(std::string_view key, int64_t fallback, int64_t low, int64_t high) const;
  // Ok when every key is in `known`; else an error about the first unknown one.
  Status only(std::span<const std::string_view> known) const;
};

// "12" -> 12; nothing for signs, spaces and overflow.
std::optional<int64_t> parse_decimal(std::string_view text);

}  // namespace anynpu::service
