// SPDX-License-Identifier: Apache-2.0
// printf and snprintf of kernels: the host formats, reading the arguments from device memory as the
// ilp32 ABI lays them out (4-byte words; 8-byte values at multiples of 8).
#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "base/align.h"
#include "base/format.h"
#include "npc/core.h"
#include "npc/guest_text.h"
#include "npc/services.h"

namespace anynpu::npc {

namespace {

constexpr int kMostWidth = 4096;

class Arguments {
 public:
  Arguments(Core& core, uint32_t at) : core_(core), at_(at) {}
  uint32_t word() {
    uint32_t value = 0;
    if (const std::byte* from = core_.at(at_, 4, kRead)) {
      std::memcpy(&value, from, 4);
    } else {
      core_.trap_access(at_, 4, false);
    }
    at_ += 4;
    return value;
  }
  uint64_t wide() {
    at_ = round_up(at_, 8);
    const uint64_t low = word();
    return low | (uint64_t{word()} << 32);
  }

 private:
  Core& core_;
  uint32_t at_;
};

// One conversion of a format: flags, width, precision and length as the kernel wrote them.
struct Conversion {
  std::string flags;
  int width = -1;
  int precision = -1;
  bool wide = false;  // ll, j: 64 bits
  int narrow = 0;     // h: 1, hh: 2
  char kind = 0;
};

int read_number(std::string_view text, size_t& i, Arguments& arguments) {
  if (i < text.size() && text[i] == '*') {
    ++i;
    return std::clamp(static_cast<int>(arguments.word()), -kMostWidth, kMostWidth);
  }
  int value = 0;
  for (; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i) {
    value = std::min(value * 10 + (text[i] - '0'), kMostWidth);
  }
  return value;
}

Conversion read_conversion(std::string_view text, size_t& i, Arguments& arguments) {
  Conversion c;
  for (; i < text.size() && std::strchr("-+ #0", text[i]); ++i) {
    if (c.flags.find(text[i]) == std::string::npos) c.flags += text[i];
  }
  c.width = read_number(text, i, arguments);
  if (c.width < 0) {
    c.flags += '-';
    c.width = -c.width;
  }
  if (i < text.size() && text[i] == '.') c.precision = read_number(text, ++i, arguments);
  for (; i < text.size() && std::strchr("hlLjzt", text[i]); ++i) {
    if (text[i] == 'h') ++c.narrow;
    if (text[i] == 'j' || text[i] == 'L' || (text[i] == 'l' && i > 0 && text[i - 1] == 'l')) {
      c.wide = true;
    }
  }
  if (i < text.size()) c.kind = text[i++];
  return c;
}

template <typename T>
void append(std::string& out, const Conversion& c, const char* length, T value) {
  std::string spec = "%" + c.flags + "*";
  if (c.precision >= 0) spec += "." + std::to_string(c.precision);
  spec += length;
  spec += c.kind;
  char small[256];
  const int needed = std::snprintf(small, sizeof small, spec.c_str(), c.width, value);
  if (needed < static_cast<int>(sizeof small)) {
    out.append(small, std::max(needed, 0));
    return;
  }
  std::string large(static_cast<size_t>(needed) + 1, '\0');
  std::snprintf(large.data(), large.size(), spec.c_str(), c.width, value);
  out.append(large, 0, static_cast<size_t>(needed));
}

void append_integer(std::string& out, const Conversion& c, Arguments& arguments) {
  const bool is_signed = c.kind == 'd' || c.kind == 'i';
  const uint64_t raw = c.wide ? arguments.wide() : arguments.word();
  long long value = c.wide      ? static_cast<long long>(raw)
                    : is_signed ? static_cast<int32_t>(raw)
                                : static_cast<long long>(raw);
  if (c.narrow == 1) value = is_signed ? static_cast<int16_t>(raw) : static_cast<uint16_t>(raw);
  if (c.narrow >= 2) value = is_signed ? static_cast<int8_t>(raw) : static_cast<uint8_t>(raw);
  append(out, c, "ll", value);
}

std::string format_guest(Core& core, uint32_t format_at, uint32_t arguments_at) {
  const std::string text = guest_text(core, format_at);
  Arguments arguments(core, arguments_at);
  std::string out;
  for (size_t i = 0; i < text.size() && core.trap.kind == TrapKind::none;) {
    if (text[i] != '%') {
      out += text[i++];
      continue;
    }
    const size_t start = i++;
    Conversion c = read_conversion(text, i, arguments);
    switch (c.kind) {
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        append_integer(out, c, arguments);
        break;
      case 'c':
        append(out, c, "", static_cast<int>(arguments.word()));
        break;
      case 'p':
        c.kind = 'x';
        c.flags = "#";
        append(out, c, "", arguments.word());
        break;
      case 's':
        append(out, c, "", guest_text(core, arguments.word()).c_str());
        break;
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A':
        append(out, c, "", std::bit_cast<double>(arguments.wide()));
        break;
      case '%':
        out += '%';
        break;
      default:
        out.append(text, start, i - start);  // %n and what is no conversion stay as they are
    }
  }
  return out;
}

}  // namespace

bool serve_print(Core& core, PrintSink& sink) {
  const std::string text = format_guest(core, core.x[10], core.x[11]);
  if (core.trap.kind != TrapKind::none) return false;
  sink.write(core.id, text);
  core.x[10] = static_cast<uint32_t>(text.size());
  return true;
}

bool serve_print_to(Core& core) {
  const uint32_t to = core.x[10], bytes = core.x[11];
  const std::string text = format_guest(core, core.x[12], core.x[13]);
  if (core.trap.kind != TrapKind::none) return false;
  if (bytes > 0) {
    const uint32_t kept = std::min<uint32_t>(static_cast<uint32_t>(text.size()), bytes - 1);
    std::byte* at = core.at(to, kept + 1, kWrite);
    if (!at) {
      core.trap_access(to, kept + 1, true);
      return false;
    }
    std::memcpy(at, text.data(), kept);
    at[kept] = std::byte{0};
  }
  core.x[10] = static_cast<uint32_t>(text.size());
  return true;
}

}  // namespace anynpu::npc
