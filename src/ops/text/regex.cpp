// SPDX-License-Identifier: Apache-2.0
#include "ops/text/regex.h"

#include <algorithm>

#include "ops/text/regex_parse.h"

namespace anynpu::ops::text {

namespace {

constexpr size_t kMostInstructions = 1 << 16;
constexpr uint32_t kNoCharacter = 0xffffffff;  // before the first and behind the last

// Turns the tree into steps, each of which knows what follows: so it is built from the end.
class Emitter {
 public:
  std::vector<Regex::Instruction> steps{Regex::Instruction{}};  // step 0 is the match
  std::vector<Regex::Set> sets;

  // The first step of `tree`, which is followed by `next`.
  Result<uint32_t> emit(const RegexTree& tree, uint32_t next) {
    switch (tree.kind) {
      case RegexTree::Kind::set:
        sets.push_back(tree.set);
        return add(
            {Regex::Instruction::Kind::set, {}, next, static_cast<uint32_t>(sets.size() - 1)});
      case RegexTree::Kind::anchor:
        return add({Regex::Instruction::Kind::anchor, tree.anchor, next, 0});
      case RegexTree::Kind::sequence:
        for (size_t i = tree.parts.size(); i > 0; --i) {
          ANYNPU_ASSIGN(next, emit(tree.parts[i - 1], next));
        }
        return next;
      case RegexTree::Kind::choice:
        return emit_choice(tree, next);
      case RegexTree::Kind::repeat:
        return emit_repeat(tree, next);
    }
    return next;
  }

 private:
  Result<uint32_t> add(Regex::Instruction step) {
    if (steps.size() >= kMostInstructions) {
      return fail(Code::invalid_argument,
                  "the pattern has more than {} steps when its repeats are written out; expected "
                  "fewer repeats within repeats",
                  kMostInstructions);
    }
    steps.push_back(step);
    return static_cast<uint32_t>(steps.size() - 1);
  }

  Result<uint32_t> emit_choice(const RegexTree& tree, uint32_t next) {
    uint32_t first = 0;
    for (size_t i = tree.parts.size(); i > 0; --i) {
      ANYNPU_ASSIGN(const uint32_t way, emit(tree.parts[i - 1], next));
      if (i == tree.parts.size()) {
        first = way;
      } else {
        ANYNPU_ASSIGN(first, add({Regex::Instruction::Kind::split, {}, way, first}));
      }
    }
    return first;
  }

  Result<uint32_t> emit_repeat(const RegexTree& tree, uint32_t next) {
    const RegexTree& part = tree.parts[0];
    uint32_t first = next;
    if (tree.most < 0) {
      ANYNPU_ASSIGN(first, add({Regex::Instruction::Kind::split, {}, 0, next}));
      ANYNPU_ASSIGN(const uint32_t body, emit(part, first));
      steps[first].next = body;
    }
    for (int i = tree.least; i < tree.most; ++i) {
      ANYNPU_ASSIGN(const uint32_t body, emit(part, first));
      ANYNPU_ASSIGN(first, add({Regex::Instruction::Kind::split, {}, body, next}));
    }
    for (int i = 0; i < tree.least; ++i) {
      ANYNPU_ASSIGN(first, emit(part, first));
    }
    return first;
  }
};

bool is_word(uint32_t c) {
  return c < 0x80 &&
         ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= 'a' && c <= 'z'));
}

bool stands_at(Regex::Anchor anchor, uint32_t before, uint32_t after) {
  switch (anchor) {
    case Regex::Anchor::text_begin:
      return before == kNoCharacter;
    case Regex::Anchor::text_end:
      return after == kNoCharacter;
    case Regex::Anchor::line_begin:
      return before == kNoCharacter || before == '\n';
    case Regex::Anchor::line_end:
      return after == kNoCharacter || after == '\n';
    case Regex::Anchor::word_edge:
      return is_word(before) != is_word(after);
    case Regex::Anchor::no_word_edge:
      return is_word(before) == is_word(after);
  }
  return false;
}

}  // namespace

// The steps that wait for a character, each once.
struct Regex::Follow {
  explicit Follow(const Regex& regex) : steps(regex.steps_), seen(steps.size(), 0) {}

  // Adds `first` and all that follows from it between two characters.
  void add(uint32_t first, uint32_t before, uint32_t after) {
    todo.push_back(first);
    while (!todo.empty()) {
      const uint32_t at = todo.back();
      todo.pop_back();
      if (seen[at] == round) continue;
      seen[at] = round;
      ++work;
      const Instruction& step = steps[at];
      if (step.kind == Instruction::Kind::split) {
        todo.push_back(step.other);
        todo.push_back(step.next);
      } else if (step.kind == Instruction::Kind::anchor) {
        if (stands_at(step.anchor, before, after)) todo.push_back(step.next);
      } else if (step.kind == Instruction::Kind::set) {
        waiting.push_back(at);
      } else {
        matched = true;
      }
    }
  }

  // Nothing waits; a new place in the text.
  void restart() {
    waiting.clear();
    matched = false;
    ++round;
  }

  const std::vector<Instruction>& steps;
  std::vector<uint32_t> seen, waiting, todo;
  uint32_t round = 1;
  uint64_t work = 0;
  bool matched = false;
};

Result<Regex> Regex::compile(std::string_view pattern) {
  ANYNPU_ASSIGN(const RegexTree tree, parse_regex(pattern));
  Emitter emitter;
  ANYNPU_ASSIGN(const uint32_t first, emitter.emit(tree, 0), "in the pattern '{}'", pattern);
  Regex regex;
  regex.first_ = first;
  regex.steps_ = std::move(emitter.steps);
  regex.sets_ = std::move(emitter.sets);
  ANYNPU_ASSIGN(regex.cases_, Cases::of(""));
  return regex;
}

bool Regex::has(const Set& set, uint32_t character) const {
  if (character > kLastCodePoint) return false;  // no character: not even '.'
  const auto among = [&](uint32_t c) {
    return std::any_of(set.ranges.begin(), set.ranges.end(),
                       [c](const auto& range) { return c >= range.first && c <= range.second; });
  };
  const bool found =
      among(character) ||
      (set.any_case && (among(cases_.lower(character)) || among(cases_.upper(character))));
  return found != set.negated;
}

Result<bool> Regex::matches(std::string_view text, uint64_t& steps) const {
  Follow now(*this), then(*this);
  const auto peek = [&](size_t at) {
    return at < text.size() ? next_character(text, at) : kNoCharacter;
  };
  now.add(first_, kNoCharacter, peek(0));
  for (size_t at = 0; at < text.size();) {
    if (now.waiting.empty()) return false;
    const uint32_t character = next_character(text, at);
    const uint32_t after = peek(at);
    then.restart();
    for (uint32_t waiting : now.waiting) {
      if (has(sets_[steps_[waiting].other], character))
        then.add(steps_[waiting].next, character, after);
    }
    const uint64_t work = now.waiting.size() + then.work + 1;
    then.work = 0;
    if (work > steps) {
      return fail(Code::unsupported_feature,
                  "the pattern takes more steps than are granted; expected a shorter pattern or "
                  "fewer characters");
    }
    steps -= work;
    std::swap(now.waiting, then.waiting);
    now.matched = then.matched;
  }
  return now.matched;
}

}  // namespace anynpu::ops::text
