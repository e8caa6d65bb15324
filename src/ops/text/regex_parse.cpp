// SPDX-License-Identifier: Apache-2.0
#include "ops/text/regex_parse.h"

#include <array>

namespace anynpu::ops::text {

namespace {

using Kind = RegexTree::Kind;
using Anchor = Regex::Anchor;
using Set = Regex::Set;
using Ranges = std::vector<std::pair<uint32_t, uint32_t>>;

constexpr int kMostNestedGroups = 200;
constexpr int kMostRepeats = 1000;  // RE2's own limit
constexpr uint32_t kEnd = 0xffffffff;

struct NamedRanges {
  std::string_view name;
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
};

const std::vector<NamedRanges>& named_classes() {
  static const auto* classes =
      new std::vector<NamedRanges>{{"d", {{'0', '9'}}},
                                   {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
                                   {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
                                   {"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                                   {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                                   {"ascii", {{0, 0x7f}}},
                                   {"blank", {{'\t', '\t'}, {' ', ' '}}},
                                   {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
                                   {"digit", {{'0', '9'}}},
                                   {"graph", {{'!', '~'}}},
                                   {"lower", {{'a', 'z'}}},
                                   {"print", {{' ', '~'}}},
                                   {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                                   {"space", {{'\t', '\r'}, {' ', ' '}}},
                                   {"upper", {{'A', 'Z'}}},
                                   {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
                                   {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};
  return *classes;
}

const Ranges* find_class(std::string_view name) {
  for (const NamedRanges& entry : named_classes()) {
    if (entry.name == name) return &entry.ranges;
  }
  return nullptr;
}

// `ranges`, or all characters except those; they are sorted.
void add_class(const Ranges& ranges, bool negated, Set& set) {
  if (!negated) {
    set.ranges.insert(set.ranges.end(), ranges.begin(), ranges.end());
    return;
  }
  uint32_t from = 0;
  for (const auto& [first, last] : ranges) {
    if (first > from) set.ranges.emplace_back(from, first - 1);
    from = last + 1;
  }
  set.ranges.emplace_back(from, kLastCodePoint);
}

RegexTree of_set(Set set) {
  RegexTree tree;
  tree.kind = Kind::set;
  tree.set = std::move(set);
  return tree;
}

RegexTree anchor_tree(Anchor anchor) {
  RegexTree tree;
  tree.kind = Kind::anchor;
  tree.anchor = anchor;
  return tree;
}

class Parser {
 public:
  explicit Parser(std::string_view pattern) : pattern_(pattern) {}

  Result<RegexTree> run() {
    ANYNPU_ASSIGN(RegexTree tree, choice());
    if (peek() == ')') return wrong("')' closes no group");
    return tree;
  }

 private:
  struct Flags {
    bool any_case = false, lines = false, dot_is_all = false;
  };

  uint32_t peek() const {
    size_t at = at_;
    return at < pattern_.size() ? next_character(pattern_, at) : kEnd;
  }
  uint32_t take() { return at_ < pattern_.size() ? next_character(pattern_, at_) : kEnd; }
  bool take_if(std::string_view text) {
    if (!pattern_.substr(at_).starts_with(text)) return false;
    at_ += text.size();
    return true;
  }
  Status wrong(std::string_view why) const {
    return fail(Code::invalid_argument,
                "the pattern '{}' is wrong at byte {}: {}; expected the syntax of RE2", pattern_,
                at_, why);
  }

  Result<RegexTree> choice() {
    if (++depth_ > kMostNestedGroups) return wrong("groups lie too deep in each other");
    RegexTree tree;
    tree.kind = Kind::choice;
    do {
      ANYNPU_ASSIGN(RegexTree part, sequence());
      tree.parts.push_back(std::move(part));
    } while (take_if("|"));
    --depth_;
    return tree.parts.size() == 1 ? std::move(tree.parts[0]) : std::move(tree);
  }

  Result<RegexTree> sequence() {
    RegexTree tree;
    while (at_ < pattern_.size() && peek() != '|' && peek() != ')') {
      if (take_if("\\Q")) {
        ANYNPU_TRY(quoted(tree));
        continue;
      }
      ANYNPU_ASSIGN(RegexTree item, one());
      ANYNPU_ASSIGN(item, repeats(std::move(item)));
      tree.parts.push_back(std::move(item));
    }
    return tree;
  }

  // Plain text up to \E; a repeat behind it counts for the last character.
  Status quoted(RegexTree& tree) {
    const size_t before = tree.parts.size();
    while (at_ < pattern_.size() && !take_if("\\E")) tree.parts.push_back(literal(take()));
    if (tree.parts.size() == before) return {};
    ANYNPU_ASSIGN(tree.parts.back(), repeats(std::move(tree.parts.back())));
    return {};
  }

  RegexTree literal(uint32_t c) const {
    return of_set(Set{.ranges = {{c, c}}, .any_case = flags_.any_case});
  }

  Result<RegexTree> one() {
    const uint32_t c = take();
    switch (c) {
      case '(':
        return group();
      case '[':
        return bracket();
      case '.':
        return of_set(
            Set{.ranges = {{flags_.dot_is_all ? kEnd : '\n', flags_.dot_is_all ? kEnd : '\n'}},
                .negated = true});
      case '^':
        return anchor_tree(flags_.lines ? Anchor::line_begin : Anchor::text_begin);
      case '$':
        return anchor_tree(flags_.lines ? Anchor::line_end : Anchor::text_end);
      case '*':
      case '+':
      case '?':
        return wrong("there is nothing to repeat");
      case '\\':
        return escape();
      default:
        return literal(c);
    }
  }

  Result<RegexTree> group() {
    const Flags before = flags_;
    if (take_if("?P<") || take_if("?<")) {
      if (peek() == '=' || peek() == '!') return wrong("text before or behind cannot be looked at");
      while (peek() != '>' && peek() != kEnd) take();
      if (!take_if(">")) return wrong("the name of a group has no end");
    } else if (take_if("?")) {
      ANYNPU_ASSIGN(const bool opens, flags());
      if (!opens) return RegexTree{};  // for the rest of the group around it
    }
    ANYNPU_ASSIGN(RegexTree inner, choice());
    if (!take_if(")")) return wrong("a group has no ')'");
    flags_ = before;
    return inner;
  }

  // The flags after "(?"; true when a group follows.
  Result<bool> flags() {
    bool to = true;
    while (true) {
      const uint32_t c = take();
      if (c == ':') return true;
      if (c == ')') return false;
      if (c == '-')
        to = false;
      else if (c == 'i')
        flags_.any_case = to;
      else if (c == 'm')
        flags_.lines = to;
      else if (c == 's')
        flags_.dot_is_all = to;
      else if (c != 'U')  // which repeats are greedy: the same for whole texts
        return wrong("a group begins with '(?' and no flag i, m, s, U");
    }
  }

  Result<RegexTree> repeats(RegexTree item) {
    bool repeated = false;
    while (true) {
      int least = 0, most = -1;
      const uint32_t c = peek();
      if (c == '*' || c == '+' || c == '?') {
        take();
        least = c == '+' ? 1 : 0;
        most = c == '?' ? 1 : -1;
      } else if (c != '{' || !counts(least, most)) {
        return item;
      }
      if (repeated) return wrong("two repeats follow each other");
      if (least > kMostRepeats || most > kMostRepeats || (most >= 0 && most < least))
        return wrong("a repeat has counts that are too large or in the wrong order");
      take_if("?");
      repeated = true;
      RegexTree tree;
      tree.kind = Kind::repeat;
      tree.least = least;
      tree.most = most;
      tree.parts.push_back(std::move(item));
      item = std::move(tree);
    }
  }

  // {n}, {n,} or {n,m}. Anything else is plain text, and nothing is taken.
  bool counts(int& least, int& most) {
    const size_t begin = at_;
    take();
    const auto number = [&](int& value) {
      const size_t from = at_;
      for (value = 0; peek() >= '0' && peek() <= '9';)
        value = std::min(value * 10 + static_cast<int>(take() - '0'), kMostRepeats + 1);
      return at_ > from;
    };
    bool good = number(least);
    most = least;
    if (good && take_if(",") && !number(most)) most = -1;
    good = good && take_if("}");
    if (!good) at_ = begin;
    return good;
  }

  Result<RegexTree> escape() {
    const size_t begin = at_ - 1;
    switch (peek()) {
      case 'A':
        return take(), anchor_tree(Anchor::text_begin);
      case 'z':
        return take(), anchor_tree(Anchor::text_end);
      case 'b':
        return take(), anchor_tree(Anchor::word_edge);
      case 'B':
        return take(), anchor_tree(Anchor::no_word_edge);
      default:
        break;
    }
    at_ = begin;
    Set set{.ranges = {}, .any_case = flags_.any_case};
    ANYNPU_TRY(member(set).status());
    return of_set(std::move(set));
  }

  Result<RegexTree> bracket() {
    Set set{.ranges = {}, .negated = take_if("^"), .any_case = flags_.any_case};
    bool first = true;
    while (first || peek() != ']') {
      first = false;
      if (peek() == kEnd) return wrong("a class has no ']'");
      ANYNPU_ASSIGN(const uint32_t from, member(set));
      const std::string_view rest = pattern_.substr(at_);
      if (from == kEnd || rest.size() < 2 || rest[0] != '-' || rest[1] == ']') continue;
      take();
      Set last;
      ANYNPU_ASSIGN(const uint32_t to, member(last));
      if (to == kEnd || to < from) return wrong("a range of a class has no end, or one before it");
      set.ranges.back().second = to;
    }
    take();
    return of_set(std::move(set));
  }

  // Adds one character or one class to `set`; the character, or kEnd for a class.
  Result<uint32_t> member(Set& set) {
    uint32_t c = take();
    if (c == '[' && peek() == ':') {
      const size_t end = pattern_.find(":]", at_);
      if (end == std::string_view::npos) return wrong("a named class has no ':]'");
      std::string_view name = pattern_.substr(at_ + 1, end - at_ - 1);
      const bool negated = name.starts_with('^');
      if (negated) name.remove_prefix(1);
      const Ranges* found = name.size() > 1 ? find_class(name) : nullptr;
      if (!found) return wrong("there is no class of that name");
      add_class(*found, negated, set);
      at_ = end + 2;
      return kEnd;
    }
    if (c == '\\') {
      ANYNPU_ASSIGN(c, escaped(set));
      if (c == kEnd) return c;
    }
    set.ranges.emplace_back(c, c);
    return c;
  }

  Result<uint32_t> escaped(Set& set) {
    constexpr std::string_view kNames = "afnrtv", kValues = "\a\f\n\r\t\v";
    const uint32_t c = take();
    if (c == kEnd) return wrong("a '\\' stands at the end");
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c >= '1' && c <= '9') return wrong("groups cannot be referred to");
    if (c == '0') return digits(8, 2, 0);
    if (c == 'x') {
      if (!take_if("{")) return digits(16, 2, kEnd);
      ANYNPU_ASSIGN(const uint32_t code, digits(16, 6, kEnd));
      if (!take_if("}") || code > kLastCodePoint) return wrong("\\x{...} is no character");
      return code;
    }
    if (!letter) return c;
    if (const size_t known = kNames.find(static_cast<char>(c)); known != kNames.npos)
      return static_cast<uint32_t>(kValues[known]);
    const char small = static_cast<char>(c | 0x20);
    const Ranges* found = find_class({&small, 1});
    if (!found) return wrong("there is no such escape here");
    add_class(*found, c < 'a', set);
    return kEnd;
  }

  // Up to `most` digits; `none` when there is no digit, a failure for kEnd.
  Result<uint32_t> digits(uint32_t base, int most, uint32_t none) {
    uint32_t value = 0;
    int count = 0;
    for (; count < most; ++count) {
      const uint32_t c = peek();
      uint32_t digit = base;
      if (c >= '0' && c <= '9')
        digit = c - '0';
      else if (c < 0x80 && (c | 0x20) >= 'a' && (c | 0x20) <= 'f')
        digit = (c | 0x20) - 'a' + 10;
      if (digit >= base) break;
      value = value * base + digit;
      take();
    }
    if (count == 0 && none == kEnd) return wrong("\\x needs hexadecimal digits");
    return count == 0 ? none : value;
  }

  std::string_view pattern_;
  size_t at_ = 0;
  int depth_ = 0;
  Flags flags_;
};

}  // namespace

Result<RegexTree> parse_regex(std::string_view pattern) { return Parser(pattern).run(); }

}  // namespace anynpu::ops::text
