// SPDX-License-Identifier: Apache-2.0
// The one place that reads environment variables. Each is declared in env.def; reading an
// undeclared one does not compile. Values are read at the time of the call (callers cache what must
// not change); a value that does not fit its kind counts as unset, and check() reports it.
// Thread-safe as long as no thread changes the environment meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anynpu::env {

enum class Name {
#define X(id, name, kind, fallback, meaning) id,
#include "base/env.def"
#undef X
};

enum class Kind { integer, size, flag, choice, text, path };

struct Variable {
  Name id;
  const char* name;
  Kind kind;
  const char* fallback;  // "" for none
  const char* meaning;
};

std::span<const Variable> variables();
const Variable& variable(Name name);

// The raw value; nothing when unset. An empty value counts as set.
std::optional<std::string> get(Name name);
// The value, or the default of the table when unset or empty.
std::string text(Name name);
// Integers and sizes ("64K", "8M", "2G", powers of 1024). Without `fallback`: the table's default.
int64_t integer(Name name);
int64_t integer(Name name, int64_t fallback);
bool flag(Name name);
// True when the comma list `name` contains `word`.
bool lists(Name name, std::string_view word);

// "8G" -> 8589934592. Nothing for other text, negative numbers and overflow.
std::optional<int64_t> parse_size(std::string_view text);

// Messages about values that were ignored; empty when there are none.
std::vector<std::string> check();

// Output folders by the documented priorities; nothing is created here. Without a variable, output
// files go where each function documents it, and no log is written.
std::optional<std::string> work_path();
std::optional<std::string> log_path();
std::string cache_path();

}  // namespace anynpu::env
