// SPDX-License-Identifier: Apache-2.0
#include "service/config/section_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace anynpu::service {

namespace {

Status wrong_kind(const SectionReader& section, std::string_view key, const json::Value& value,
                  std::string_view expected) {
  return fail(Code::invalid_config, "{}: '{}' is {} ({}); expected {}", section.name, key,
              value.dump().substr(0, 80), value.kind(), expected);
}

}  // namespace

std::optional<int64_t> parse_decimal(std::string_view text) {
  int64_t value = 0;
  if (text.empty() || text[0] == '-') return std::nullopt;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

Result<std::string> SectionReader::text(std::string_view key, std::string_view fallback) const {
  const json::Value* value = object.find(key);
  if (!value) return std::string(fallback);
  if (const std::string* s = value->string()) return *s;
  return wrong_kind(*this, key, *value, "a text in quotes");
}

Result<std::string> SectionReader::word(std::string_view key, std::string_view fallback,
                                        std::span<const std::string_view> allowed) const {
  ANYNPU_ASSIGN(std::string value, text(key, fallback));
  if (value == fallback || contains(allowed, value)) return value;
  return fail(Code::invalid_config, "{}: '{}' is '{}'; expected one of: {}", name, key, value,
              join(allowed));
}

Result<bool> SectionReader::on_off(std::string_view key) const {
  static constexpr std::string_view kSwitch[] = {"on", "off"};
  ANYNPU_ASSIGN(std::string value, word(key, "off", kSwitch));
  return value == "on";
}

Result<std::vector<std::string>> SectionReader::words(
    std::string_view key, std::span<const std::string_view> allowed) const {
  if (!object.find(key)) return std::vector<std::string>();
  ANYNPU_ASSIGN(std::string value, text(key, ""));
  const auto list = split(value, ',');
  for (std::string_view item : list) {
    if (item.empty() || (!allowed.empty() && !contains(allowed, item))) {
      return fail(Code::invalid_config, "{}: '{}' is '{}'; expected a comma list of: {}", name, key,
                  value, allowed.empty() ? "words" : join(allowed));
    }
  }
  return std::vector<std::string>(list.begin(), list.end());
}

Result<std::vector<std::string>> SectionReader::texts(std::string_view key) const {
  std::vector<std::string> list;
  const json::Value* value = object.find(key);
  if (!value) return list;
  if (!value->array()) return wrong_kind(*this, key, *value, "a list of texts");
  for (const json::Value& item : *value->array()) {
    if (!item.string()) return wrong_kind(*this, key, item, "a list of texts");
    list.push_back(*item.string());
  }
  return list;
}

Result<int64_t> SectionReader::number(std::string_view key, int64_t fallback, int64_t low,
                                      int64_t high) const {
  const json::Value* value = object.find(key);
  if (!value) return fallback;
  std::optional<int64_t> number;
  if (const std::string* s = value->string()) {
    number = parse_decimal(*s);
  } else if (auto integer = value->integer(); integer.ok()) {
    number = integer.value();
  }
  if (number && *number >= low && *number <= high) return *number;
  return fail(Code::invalid_config, "{}: '{}' is {}; expected a whole number from {} to {}", name,
              key, value->dump().substr(0, 80), low, high);
}

Status SectionReader::only(std::span<const std::string_view> known) const {
  for (const json::Member& member : *object.object()) {
    if (contains(known, member.first)) continue;
    return fail(Code::invalid_config, "{}: '{}' is not a known key; expected: {}", name,
                member.first, join(known));
  }
  return {};
}

}  // namespace anynpu::service
