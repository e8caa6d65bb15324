// SPDX-License-Identifier: Apache-2.0
// The tree of a pattern, before it becomes instructions.
#pragma once

#include <string_view>
#include <vector>

#include "ops/text/regex.h"

namespace anynpu::ops::text {

struct RegexTree {
  // sequence and choice of `parts`; repeat of the one part, `least` to `most` (-1: no end) times.
  enum class Kind : uint8_t { set, anchor, sequence, choice, repeat } kind = Kind::sequence;
  Regex::Set set;
  Regex::Anchor anchor = Regex::Anchor::text_begin;
  int least = 0, most = 0;
  std::vector<RegexTree> parts;
};

Result<RegexTree> parse_regex(std::string_view pattern);

}  // namespace anynpu::ops::text
