// SPDX-License-Identifier: Apache-2.0
#include "base/fault_injection.h"

#include <charconv>
#include <map>
#include <mutex>

#include "base/env.h"
#include "base/fork_guard.h"
#include "base/format.h"
#include "base/log.h"
#include "base/text.h"

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

bool is_code(std::string_view text, FaultSource source) {
  if (source == FaultSource::hpe) return !text.empty();
  return whole_number<int32_t>(text).value_or(0) != 0;
}

bool parse_entry(std::string_view entry, FaultSource source, FaultList& list) {
  std::optional<uint64_t> count;
  if (!split_count(entry, count)) return false;
  if (entry.starts_with("op:")) {
    list.operators.push_back({std::string(entry.substr(3)), count});
    return entry.size() > 3;
  }
  const size_t equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0) return false;
  const std::string_view code = entry.substr(equals + 1);
  if (!is_code(code, source)) return false;
  list.calls.push_back({std::string(entry.substr(0, equals)), std::string(code), count});
  return true;
}

env::Name variable_of(FaultSource source) {
  return source == FaultSource::acl ? env::Name::fault : env::Name::hpe_fault;
}

const FaultList* read_faults(FaultSource source) {
  const env::Name name = variable_of(source);
  auto* read = new FaultList(parse_faults(env::text(name), source));
  for (const std::string& problem : read->problems) {
    ANYNPU_LOG(warning, "{}: '{}' is neither op:NAME[@RUN] nor FUNCTION=CODE[@CALL]; ignored",
               env::variable(name).name, problem);
  }
  return read;
}

// Asked once, when the library is loaded: calls that nobody gates test nothing more.
const bool gated = [] {
  for (FaultSource source : {FaultSource::acl, FaultSource::hpe}) {
    if (!env::text(variable_of(source)).empty()) gate_calls_for_faults();
  }
  return calls_are_gated();
}();

}  // namespace

FaultList parse_faults(std::string_view text, FaultSource source) {
  FaultList list;
  for (std::string_view entry : split(text, ',')) {
    if (!entry.empty() && !parse_entry(entry, source, list)) list.problems.emplace_back(entry);
  }
  return list;
}

const FaultList& faults(FaultSource source) {
  static const FaultList* acl = read_faults(FaultSource::acl);
  static const FaultList* hpe = read_faults(FaultSource::hpe);
  return source == FaultSource::acl ? *acl : *hpe;
}

std::optional<std::string> call_fault(FaultSource source, std::string_view function) {
  static std::mutex mutex;
  static auto* counts = new std::map<std::string, uint64_t, std::less<>>;
  std::optional<uint64_t> number;  // of this call, counted where somebody asks for one
  for (const CallFault& fault : faults(source).calls) {
    if (fault.function != function) continue;
    if (fault.call && !number) {
      const std::lock_guard lock(mutex);
      number = ++(*counts)[fault.function];
    }
    if (!fault.call || fault.call == number) return fault.code;
  }
  return std::nullopt;
}

Status explain_fault(FaultSource source, std::string_view function) {
  const env::Name name = variable_of(source);
  return fail(Code::internal, "{} fails because {} is '{}'; unset it", function,
              env::variable(name).name, env::text(name));
}

}  // namespace anynpu
