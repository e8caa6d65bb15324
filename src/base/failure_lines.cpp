// SPDX-License-Identifier: Apache-2.0
#include "base/failure_lines.h"

#include <atomic>
#include <cctype>
#include <mutex>
#include <string>
#include <unordered_set>

#include "anynpu.h"
#include "base/env.h"
#include "base/fork_guard.h"
#include "base/format.h"
#include "base/quiet_write.h"

namespace anynpu {

namespace {

std::atomic<CallerPlace> caller_place{nullptr};
std::atomic<int> chosen{-1};  // by acl.json; -1: nothing
std::atomic<size_t> lines{0};

FailureLines mode() {
  static const auto wanted = failure_lines_named(env::get(env::Name::errors).value_or(""));
  if (wanted) return *wanted;
  const int choice = chosen.load(std::memory_order_relaxed);
  return choice < 0 ? FailureLines::first : static_cast<FailureLines>(choice);
}

// The key of a failure: the numbers in the message differ from call to call.
std::string cause_of(const FailedCall& call) {
  std::string cause = format("{} {} ", call.function, call.number);
  bool in_number = false;
  for (const char c : call.message) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    const bool hex = in_number && std::isxdigit(static_cast<unsigned char>(c)) != 0;
    in_number = digit || hex || (in_number && c == 'x');
    if (!in_number) cause += c;
  }
  return cause;
}

struct Causes {
  std::mutex mutex;
  std::unordered_set<std::string> seen;
};

// Whether this cause is new. A forked child does not wait for a lock that is never released.
bool is_new(const FailedCall& call) {
  static auto* causes = new Causes;
  if (in_forked_child()) return true;
  std::lock_guard lock(causes->mutex);
  if (causes->seen.size() > 16 * kMostFailureLines) return false;
  return causes->seen.insert(cause_of(call)).second;
}

std::string line_of(const FailedCall& call) {
  std::string line =
      format("anynpu: {} failed with {} ({}): ", call.function, call.number, call.name);
  bool indented = false;  // notes of a failure are lines of their own
  for (const char c : call.message) {
    if (c == '\n') line += "; ";
    indented = c == '\n' || (indented && c == ' ');
    if (!indented) line += c;
  }
  char place[1024];
  const CallerPlace ask = caller_place.load(std::memory_order_acquire);
  const size_t length = ask ? ask(place, sizeof place) : 0;
  if (length > 0) line += format(" ({})", std::string_view(place, length));
  return line + "\n";
}

void show(const FailedCall& call) {
  const FailureLines how = mode();
  if (how == FailureLines::off) return;
  if (how == FailureLines::all) return write_error_text(line_of(call));
  if (call.answer || lines.load(std::memory_order_relaxed) >= kMostFailureLines) return;
  if (!is_new(call)) return;
  const size_t before = lines.fetch_add(1, std::memory_order_relaxed);
  if (before >= kMostFailureLines) return;
  write_error_text(line_of(call));
  if (before + 1 == kMostFailureLines) {
    write_error_text(format("anynpu: {} failures were shown; ANYNPU_ERRORS=all shows the others\n",
                            kMostFailureLines));
  }
}

}  // namespace

std::optional<FailureLines> failure_lines_named(std::string_view word) {
  if (word == "off") return FailureLines::off;
  if (word == "first") return FailureLines::first;
  if (word == "all") return FailureLines::all;
  return std::nullopt;
}

void choose_failure_lines(std::optional<FailureLines> choice) {
  chosen.store(choice ? static_cast<int>(*choice) : -1, std::memory_order_relaxed);
}

void show_failure(const FailedCall& call) noexcept {
  try {
    show(call);
  } catch (...) {
    // No memory for a line: nothing is printed.
  }
}

void set_caller_place(CallerPlace place) { caller_place.store(place, std::memory_order_release); }

}  // namespace anynpu

extern "C" void anynpu_set_caller_place(size_t (*place)(char* text, size_t size)) {
  anynpu::set_caller_place(place);
}
