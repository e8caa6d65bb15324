// SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8 strings. Invalid bytes count as characters of their own and are
// preserved.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace anynpu::ops::text {

constexpr uint32_t kLastCodePoint = 0x10ffff;
// A byte b that belongs to no character reads as kStrayByte + b: nothing else has such a number.
constexpr uint32_t kStrayByte = 0x110000;

// The character at `at`, which moves behind it; `at` lies within the text.
uint32_t next_character(std::string_view text, size_t& at);
void append_character(std::string& text, uint32_t character);

bool is_white_space(uint32_t character);

// Upper and lower case, one character for one, as a locale of this system has it.
class Cases {
 public:
  // "" and "en_US" need no locale installed. Fails for those that the system lacks.
  static Result<Cases> of(const std::string& locale);

  uint32_t lower(uint32_t character) const;
  uint32_t upper(uint32_t character) const;
  std::string lower(std::string_view text) const;
  std::string upper(std::string_view text) const;

 private:
  std::shared_ptr<void> locale_;
};

}  // namespace anynpu::ops::text
