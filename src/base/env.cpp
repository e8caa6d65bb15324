// SPDX-License-Identifier: Apache-2.0
#include "base/env.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/format.h"
#include "base/text.h"

namespace anynpu::env {

namespace {

constexpr Variable kVariables[] = {
#define X(id, name, kind, fallback, meaning) \
  Variable{Name::id, name, Kind::kind, fallback, meaning},
#include "base/env.def"
#undef X
};

std::optional<int64_t> parse_integer(std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<int64_t> parse(Kind kind, std::string_view text) {
  if (kind == Kind::size) return parse_size(text);
  auto value = parse_integer(text);
  if (kind == Kind::flag && value && *value != 0 && *value != 1) return std::nullopt;
  return value;
}

// The words of a choice.
std::vector<std::string_view> words_of(Name name) {
  if (name == Name::errors) return {"off", "first", "all"};
  return {"host", "device"};
}

std::string expected(const Variable& variable) {
  switch (variable.kind) {
    case Kind::integer:
      return "an integer";
    case Kind::size:
      return "a size such as 512M or 8G";
    case Kind::flag:
      return "0 or 1";
    case Kind::choice:
      return join(words_of(variable.id), " or ");
    default:
      return "text";
  }
}

}  // namespace

std::span<const Variable> variables() { return kVariables; }
const Variable& variable(Name name) { return kVariables[static_cast<size_t>(name)]; }

std::optional<std::string> get(Name name) {
  const char* value = std::getenv(variable(name).name);
  if (!value) return std::nullopt;
  return std::string(value);
}

std::string text(Name name) {
  auto value = get(name);
  return value && !value->empty() ? *value : variable(name).fallback;
}

int64_t integer(Name name, int64_t fallback) {
  const char* value = std::getenv(variable(name).name);
  if (!value || !*value) return fallback;
  return parse(variable(name).kind, value).value_or(fallback);
}

int64_t integer(Name name) {
  return integer(name, parse(variable(name).kind, variable(name).fallback).value_or(0));
}

bool flag(Name name) { return integer(name) != 0; }

bool lists(Name name, std::string_view word) {
  const std::string value = text(name);
  return contains(split(value, ','), word);
}

std::optional<int64_t> parse_size(std::string_view text) {
  int shift = 0;
  if (!text.empty()) {
    switch (text.back()) {
      case 'K':
      case 'k':
        shift = 10;
        break;
      case 'M':
      case 'm':
        shift = 20;
        break;
      case 'G':
      case 'g':
        shift = 30;
        break;
      default:
        break;
    }
    if (shift) text.remove_suffix(1);
  }
  auto value = parse_integer(text);
  if (!value || *value < 0 || *value > (std::numeric_limits<int64_t>::max() >> shift)) {
    return std::nullopt;
  }
  return *value << shift;
}

std::vector<std::string> check() {
  std::vector<std::string> problems;
  for (const Variable& v : kVariables) {
    if (v.kind == Kind::text || v.kind == Kind::path) continue;
    auto value = get(v.id);
    if (!value || value->empty()) continue;
    const bool good = v.kind == Kind::choice ? contains(words_of(v.id), *value)
                                             : parse(v.kind, *value).has_value();
    if (good) continue;
    problems.push_back(format("{} is '{}', expected {}; it is ignored and {} is used", v.name,
                              *value, expected(v),
                              *v.fallback ? v.fallback : "the built-in default"));
  }
  return problems;
}

std::optional<std::string> work_path() {
  std::string path = text(Name::work_path);
  if (path.empty()) return std::nullopt;
  return path;
}

std::optional<std::string> log_path() {
  std::string path = text(Name::log_path);
  if (!path.empty()) return path;
  if (auto work = work_path()) return *work + "/log";
  return std::nullopt;
}

std::string cache_path() {
  if (std::string path = text(Name::cache_path); !path.empty()) return path;
  if (std::string path = text(Name::xdg_cache_home); !path.empty()) return path + "/anynpu";
  if (std::string path = text(Name::home); !path.empty()) return path + "/.cache/anynpu";
  return ".anynpu_cache";
}

}  // namespace anynpu::env
