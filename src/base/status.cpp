// SPDX-License-Identifier: Apache-2.0
#include "base/status.h"

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

}  // namespace

std::string_view code_name(Code code) { return kCodes[static_cast<size_t>(code)].name; }
std::string_view code_meaning(Code code) { return kCodes[static_cast<size_t>(code)].meaning; }

Status::Status(Code code, std::string message) {
  if (code != Code::ok) rep_ = std::make_shared<const Rep>(Rep{code, std::move(message), {}});
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
      Rep{rep_->code, rep_->message, rep_->notes + "\n  " + std::move(note)});
  return noted;
}

}  // namespace anynpu
