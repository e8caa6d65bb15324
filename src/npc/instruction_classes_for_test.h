// SPDX-License-Identifier: Apache-2.0
// The instructions of instruction_classes_for_test.def, with what follows from their bits: which
// words they match, how operands are put in, and how an assembler writes them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "base/format.h"
#include "base/text.h"
#include "npc/decode.h"

namespace anynpu::npc {

// How a class is tested: what stands around each of its instructions in a stream.
enum class Streams : uint8_t {
  computes,
  floats,  // with their flags and rounding modes
  loads,
  stores,
  branches,
  links,
  reservations,
  atomics,
  float_state,
  counters,
  requests,
  ends,  // no stream goes on behind them
};

struct Operands {
  uint32_t d = 0, s = 0, t = 0, third = 0;
  int32_t immediate = 0;
  uint32_t rounding = 0, order = 0, csr = 0, bits = 0, before = 0, after = 0;

  uint32_t value(char letter) const {
    switch (letter) {
      case 'd':
      case 'D':
        return d;
      case 's':
      case 'S':
        return s;
      case 't':
      case 'T':
        return t;
      case 'U':
        return third;
      case 'm':
        return rounding;
      case 'q':
        return order;
      case 'c':
        return csr;
      case 'z':
        return bits;
      case 'p':
        return before;
      case 'w':
        return after;
      default:
        return static_cast<uint32_t>(immediate);
    }
  }
};

class Instruction {
 public:
  Instruction(const char* name, Op op, const char* bits, const char* operands)
      : name(name), op(op), operands_(operands) {
    for (std::string_view token : split(bits, ' ')) add(std::string(token));
    uint32_t at = 0;  // pieces came from the highest down
    for (auto p = pieces_.rbegin(); p != pieces_.rend(); ++p) p->at = at, at += p->width;
    bytes = at / 8;
    for (const Piece& p : pieces_) {
      if (p.letter == '0') mask_ |= ones(p.width) << p.at, match_ |= p.low << p.at;
    }
  }

  const char* name;
  Op op;
  uint32_t bytes = 0;

  bool has(char letter) const { return piece(letter) != nullptr; }
  // Whether a register is named by three bits.
  bool narrow(char letter) const {
    return std::strchr("dstDST", letter) && has(letter) && piece(letter)->width == 3;
  }
  bool nonzero(char letter) const {
    for (const Piece& p : pieces_) {
      if (p.letter == letter && p.constraint == '!') return true;
    }
    return false;
  }
  char immediate_letter() const { return has('i') ? 'i' : has('u') ? 'u' : 0; }
  // Immediates are multiples of `step` from `least` to `most`.
  int32_t step() const {
    uint32_t lowest = 31;
    for (const Piece& p : pieces_) {
      if (is_immediate(p)) lowest = std::min(lowest, p.low);
    }
    return 1 << lowest;
  }
  int32_t least() const { return has('i') ? static_cast<int32_t>(-(int64_t{1} << top())) : 0; }
  int32_t most() const {
    const int64_t end = int64_t{1} << (has('i') ? top() : top() + 1);
    return static_cast<int32_t>(end - step());
  }

  bool matches(uint32_t word) const {
    if ((word & mask_) != match_) return false;
    for (const Piece& p : pieces_) {
      if (p.letter == '0') continue;
      const uint32_t value = get(word, p.letter);
      if (p.constraint == '!' && value == 0) return false;
      if (p.constraint == '~' && value == 2) return false;
      if (p.letter == 'm' && (value == 5 || value == 6)) return false;
    }
    return true;
  }
  // Bits of an operand, an immediate not extended.
  uint32_t get(uint32_t word, char letter) const {
    uint32_t value = 0;
    for (const Piece& p : pieces_) {
      if (p.letter == letter) value |= (word >> p.at & ones(p.width)) << p.low;
    }
    return narrow(letter) ? value + 8 : value;
  }
  uint32_t encode(const Operands& o) const {
    uint32_t word = match_;
    for (const Piece& p : pieces_) {
      if (p.letter == '0' || p.letter == '-') continue;
      uint32_t value = o.value(p.letter);
      if (narrow(p.letter)) value -= 8;
      word |= (value >> p.low & ones(p.width)) << p.at;
    }
    return word;
  }
  // As the assembler takes it.
  std::string text(const Operands& o) const {
    static constexpr const char* orders[] = {"", ".rl", ".aq", ".aqrl"};
    std::string text = std::string(name) + (has('q') ? orders[o.order] : "") + " ";
    for (const char* c = operands_; *c; ++c) text += operand(*c, o);
    return text;
  }

 private:
  // A run of bits: of an operand from its bit `low`, or ('0') fixed with the value `low`.
  struct Piece {
    char letter;
    uint32_t width, low;
    char constraint = 0;
    uint32_t at = 0;
  };

  static uint32_t ones(uint32_t width) { return width == 32 ? ~0u : (1u << width) - 1; }
  static bool is_immediate(const Piece& p) { return p.letter == 'i' || p.letter == 'u'; }

  void add(const std::string& token) {
    const char letter = token[0];
    const char last = token.back();
    const char constraint = last == '!' || last == '~' ? last : 0;
    uint32_t width = 5, low = 0;
    if (letter == '0' || letter == '1') {
      width = static_cast<uint32_t>(token.size());
      pieces_.push_back({'0', width, static_cast<uint32_t>(std::stoul(token, nullptr, 2))});
      return;
    }
    if (letter == '-') {
      width = static_cast<uint32_t>(std::stoul(token.substr(1)));
    } else if (letter == 'i' || letter == 'u') {
      const auto high = static_cast<uint32_t>(std::stoul(token.substr(1)));
      const size_t colon = token.find(':');
      low = colon == std::string::npos ? high
                                       : static_cast<uint32_t>(std::stoul(token.substr(colon + 1)));
      width = high - low + 1;
    } else if (letter == 'm' || token.find('\'') != std::string::npos) {
      width = 3;
    } else if (letter == 'q') {
      width = 2;
    } else if (letter == 'p' || letter == 'w') {
      width = 4;
    } else if (letter == 'c') {
      width = 12;
    }
    pieces_.push_back({letter, width, low, constraint});
  }

  const Piece* piece(char letter) const {
    for (const Piece& p : pieces_) {
      if (p.letter == letter) return &p;
    }
    return nullptr;
  }
  uint32_t top() const {  // the highest bit of the immediate
    uint32_t highest = 0;
    for (const Piece& p : pieces_) {
      if (is_immediate(p)) highest = std::max(highest, p.low + p.width - 1);
    }
    return highest;
  }

  std::string operand(char c, const Operands& o) const {
    static constexpr const char* modes[] = {"rne", "rtz", "rdn", "rup", "rmm", "", "", "dyn"};
    if (c == 'I') return format("{}", static_cast<uint32_t>(o.immediate) >> 12);
    if (!has(c)) return std::string(1, c);
    switch (c) {
      case 'd':
      case 's':
      case 't':
        return format("x{}", o.value(c));
      case 'D':
      case 'S':
      case 'T':
      case 'U':
        return format("f{}", o.value(c));
      case 'm':
        return modes[o.rounding];
      case 'p':
      case 'w': {
        std::string set;
        for (int bit = 3; bit >= 0; --bit) {
          if (o.value(c) >> bit & 1) set += "wroi"[bit];
        }
        return set;
      }
      case 'i':
        return format("{}", o.immediate);
      default:
        return format("{}", o.value(c));
    }
  }

  const char* operands_;
  uint32_t mask_ = 0, match_ = 0;
  std::vector<Piece> pieces_;
};

struct InstructionClass {
  const char* name;
  Streams streams;
  std::vector<Instruction> instructions;
};

inline const std::vector<InstructionClass>& instruction_classes() {
  static const std::vector<InstructionClass> classes = [] {
    std::vector<InstructionClass> made;
#define C(name, streams) made.push_back({name, Streams::streams, {}});
#define I(name, op, bits, operands) \
  made.back().instructions.emplace_back(name, Op::op, bits, operands);
#include "npc/instruction_classes_for_test.def"
#undef I
#undef C
    return made;
  }();
  return classes;
}

// The first instruction of the table that a word is; null: none. 16 bits for compressed ones.
inline const Instruction* instruction_of(uint32_t word) {
  const uint32_t bytes = (word & 3) == 3 ? 4 : 2;
  for (const InstructionClass& c : instruction_classes()) {
    for (const Instruction& i : c.instructions) {
      if (i.bytes == bytes && i.matches(bytes == 2 ? word & 0xffff : word)) return &i;
    }
  }
  return nullptr;
}

inline const Instruction& instruction(const char* name) {
  for (const InstructionClass& c : instruction_classes()) {
    for (const Instruction& i : c.instructions) {
      if (std::strcmp(i.name, name) == 0) return i;
    }
  }
  std::abort();
}

}  // namespace anynpu::npc
