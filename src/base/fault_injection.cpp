// SPDX-License-Identifier: Apache-2.0
#include "base/fault_injection.h"

#include <charconv>
#include <map>
#include <mutex>

#include "base/env.h"
#include "base/format.h"
#include "base/log.h"

namespace anynpu {

namespace {

template <typename T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

// "NAME@N": splits N off. Nothing when N is no number.
bool split_count(std::string_view& text, std::optional<uint64_t>& count) {
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos) return true;
  count = whole_number<uint64_t>(text.substr(at + 1));
  text = text.substr(0, at);
  return count.has_value();
}

bool parse_entry(std::string_view entry, FaultList& list) {
  std::optional<uint64_t> count;
  if (!split_count(entry, count)) return false;
  if (entry.starts_with("op:")) {
    list.operators.push_back({std::string(entry.substr(3)), count});
    return entry.size() > 3;
  }
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  const auto code = whole_number<int32_t>(entry.substr(equals + 1));
  if (!code || *code == 0) return false;
  list.calls.push_back({std::string(entry.substr(0, equals)), *code, count});
  return true;
}

}  // namespace

FaultList parse_faults(std::string_view text) {
  FaultList list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view entry = text.substr(0, comma);
    if (!entry.empty() && !parse_entry(entry, list)) list.problems.emplace_back(entry);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return list;
}

const FaultList& faults() {
  static const FaultList* list = [] {
    auto* read = new FaultList(parse_faults(env::text(env::Name::fault)));
    for (const std::string& problem : read->problems) {
      ANYNPU_LOG(warning,
                 "ANYNPU_FAULT: '{}' is neither op:NAME[@RUN] nor FUNCTION=CODE[@CALL]; ignored",
                 problem);
    }
    return read;
  }();
  return *list;
}

std::optional<int32_t> call_fault(std::string_view function) {
  static std::mutex mutex;
  static auto* counts = new std::map<std::string, uint64_t, std::less<>>;
  std::optional<uint64_t> number;  // of this call, counted where somebody asks for one
  for (const CallFault& fault : faults().calls) {
    if (fault.function != function) continue;
    if (fault.call && !number) {
      const std::lock_guard lock(mutex);
      number = ++(*counts)[fault.function];
    }
    if (!fault.call || fault.call == number) return fault.code;
  }
  return std::nullopt;
}

}  // namespace anynpu
