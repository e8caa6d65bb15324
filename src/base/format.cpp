// SPDX-License-Identifier: Apache-2.0
#include "base/format.h"

#include <charconv>
#include <cstdio>

namespace anynpu {

namespace {

template <typename T>
void append_number(std::string& out, T value, int base = 10) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, value, base);
  out.append(buffer, end);
}

}  // namespace

void FormatArg::append_to(std::string& out, bool hex) const {
  switch (kind_) {
    case Kind::boolean:
      out += i_ ? "true" : "false";
      break;
    case Kind::character:
      out += static_cast<char>(i_);
      break;
    case Kind::sint:
      if (!hex) {
        append_number(out, i_);
        break;
      }
      [[fallthrough]];
    case Kind::pointer:
    case Kind::uint:
      if (hex || kind_ == Kind::pointer) {
        out += "0x";
        append_number(out, u_, 16);
      } else {
        append_number(out, u_);
      }
      break;
    case Kind::real: {
      char buffer[40];
      int length = std::snprintf(buffer, sizeof buffer, "%.6g", d_);
      out.append(buffer, static_cast<size_t>(length));
      break;
    }
    case Kind::text:
      out += s_;
      break;
    case Kind::list: {
      out += '[';
      bool first = true;
      for (int64_t v : *list_) {
        if (!first) out += ", ";
        first = false;
        append_number(out, v);
      }
      out += ']';
      break;
    }
  }
}

std::string format_args(std::string_view text, const FormatArg* args, size_t count) {
  std::string out;
  out.reserve(text.size() + 16 * count);
  size_t next = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    const char after = i + 1 < text.size() ? text[i + 1] : '\0';
    if ((c == '{' && after == '{') || (c == '}' && after == '}')) {
      out += c;
      ++i;
    } else if (c == '{' && (after == '}' || (after == 'x' && text.substr(i, 3) == "{x}"))) {
      const bool hex = after == 'x';
      if (next < count) {
        args[next++].append_to(out, hex);
      } else {
        out += "{?}";
      }
      i += hex ? 2 : 1;
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace anynpu
