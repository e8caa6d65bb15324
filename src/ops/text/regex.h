// SPDX-License-Identifier: Apache-2.0
// Regular expressions in the syntax of RE2, full match only. The pattern is compiled to an NFA
// whose states are followed in parallel: time is bounded by pattern times text, for every pattern.
// Not supported: Unicode classes (\pL) and single bytes (\C).
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ops/text/unicode.h"

namespace anynpu::ops::text {

class Regex {
 public:
  // The error message says what is wrong in the pattern, and where.
  static Result<Regex> compile(std::string_view pattern);

  // `steps` is the remaining work budget; fails when it is used up.
  Result<bool> matches(std::string_view text, uint64_t& steps) const;

  // One character out of ranges, or none of them.
  struct Set {
    std::vector<std::pair<uint32_t, uint32_t>> ranges;
    bool negated = false;
    bool any_case = false;
  };
  enum class Anchor : uint8_t {
    text_begin,
    text_end,
    line_begin,
    line_end,
    word_edge,
    no_word_edge
  };
  struct Instruction {
    enum class Kind : uint8_t { set, split, anchor, match } kind = Kind::match;
    Anchor anchor = Anchor::text_begin;
    uint32_t next = 0;
    uint32_t other = 0;  // of a split: the second way; of a set: its index
  };

 private:
  struct Follow;
  bool has(const Set& set, uint32_t character) const;

  uint32_t first_ = 0;
  std::vector<Instruction> steps_;
  std::vector<Set> sets_;
  Cases cases_;
};

}  // namespace anynpu::ops::text
