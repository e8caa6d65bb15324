// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

#include <algorithm>
#include <array>

namespace anynpu {

namespace {

struct CodeText {
  std::string_view name;
  std::string_view meaning;
};

constexpr std::array kCodes = {
#define X(name, meaning) CodeText{#name, meaning},
    ANYNPU_STATUS_CODES(X)
#undef X
};

// Messages quote names out of files that a stranger wrote. A zero byte would cut the message for
// callers that speak C, an escape would steer the terminal: they are written as \x00, \x1b.
std::string printable(std::string text) {
  const auto is_control = [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == '\x7f';
  };
  if (std::none_of(text.begin(), text.end(), is_control)) return text;
  std::string clean;
  for (const char c : text) {
    clean += is_control(c) ? format("\\x{:02x}", static_cast<unsigned>(c)) : std::string(1, c);
  }
  return clean;
}

}  // namespace

std::string_view code_name(Code code) { return kCodes[static_cast<size_t>(code)].name; }
std::string_view code_meaning(Code code) { return kCodes[static_cast<size_t>(code)].meaning; }

Status::Status(Code code, std::string message) {
  if (code != Code::ok)
    rep_ = std::make_shared<const Rep>(Rep{code, printable(std::move(message)), {}});
}

const std::string& Status::message() const {
  static const std::string empty;
  return rep_ ? rep_->message : empty;
}

std::string Status::to_string() const {
  if (!rep_) return "ok";
  return rep_->message + rep_->notes;
}

Status Status::with_note(std::string note) const {
  if (!rep_) return {};
  Status noted;
  noted.rep_ = std::make_shared<const Rep>(
      Rep{rep_->code, rep_->message, rep_->notes + "\n  " + printable(std::move(note))});
  return noted;
}

Status Status::with_code(Code code) const {
  if (!rep_) return {};
  Status renamed;
  renamed.rep_ = std::make_shared<const Rep>(Rep{code, rep_->message, rep_->notes});
  return renamed;
}

}  // namespace anynpu
