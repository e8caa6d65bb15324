// SPDX-License-Identifier: Apache-2.0
#include "ops/text/unicode.h"

#include <clocale>
#include <cwctype>

namespace anynpu::ops::text {

namespace {

// Bytes of the character that `first` begins; 0 when it begins none.
size_t length_from(unsigned char first) {
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first < 0xe0) return 2;
  if (first >= 0xe0 && first < 0xf0) return 3;
  return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

template <typename Map>
std::string mapped(std::string_view text, const Map& map) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) append_character(out, map(next_character(text, at)));
  return out;
}

}  // namespace

uint32_t next_character(std::string_view text, size_t& at) {
  constexpr uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const auto first = static_cast<unsigned char>(text[at]);
  const size_t length = length_from(first);
  const uint32_t stray = kStrayByte + first;
  if (length == 0 || length > text.size() - at) return ++at, stray;
  uint32_t code = length == 1 ? first : first & (0x7fu >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<unsigned char>(text[at + i]);
    if ((byte & 0xc0) != 0x80) return ++at, stray;
    code = code << 6 | (byte & 0x3f);
  }
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  if (code < kLeast[length] || code > kLastCodePoint || surrogate) return ++at, stray;
  at += length;
  return code;
}

void append_character(std::string& text, uint32_t character) {
  if (character >= kStrayByte) {
    text += static_cast<char>(character - kStrayByte);
  } else if (character < 0x80) {
    text += static_cast<char>(character);
  } else {
    const int rest = character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
    constexpr unsigned char kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    text += static_cast<char>(kFirst[rest] | character >> (6 * rest));
    for (int i = rest - 1; i >= 0; --i)
      text += static_cast<char>(0x80 | (character >> (6 * i) & 0x3f));
  }
}

bool is_white_space(uint32_t c) {
  return (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x20) || c == 0x85 || c == 0xa0 ||
         c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
         c == 0x205f || c == 0x3000;
}

Result<Cases> Cases::of(const std::string& locale) {
  const bool plain = locale.empty() || locale == "en_US";
  locale_t made = nullptr;
  for (const std::string& name : {plain ? std::string("C.UTF-8") : locale + ".UTF-8", locale}) {
    if (!made && !name.empty()) made = newlocale(LC_CTYPE_MASK, name.c_str(), nullptr);
  }
  if (!made) {
    return fail(Code::unsupported_feature,
                "this system has no locale '{}'; install it (`locale -a` lists those that are "
                "there), or leave the attribute 'locale' out",
                plain ? "C.UTF-8" : locale);
  }
  Cases cases;
  cases.locale_ =
      std::shared_ptr<void>(made, [](void* l) { freelocale(static_cast<locale_t>(l)); });
  return cases;
}

uint32_t Cases::lower(uint32_t character) const {
  if (character > kLastCodePoint) return character;
  return static_cast<uint32_t>(towlower_l(character, static_cast<locale_t>(locale_.get())));
}

uint32_t Cases::upper(uint32_t character) const {
  if (character > kLastCodePoint) return character;
  return static_cast<uint32_t>(towupper_l(character, static_cast<locale_t>(locale_.get())));
}

std::string Cases::lower(std::string_view text) const {
  return mapped(text, [&](uint32_t c) { return lower(c); });
}

std::string Cases::upper(std::string_view text) const {
  return mapped(text, [&](uint32_t c) { return upper(c); });
}

}  // namespace anynpu::ops::text
