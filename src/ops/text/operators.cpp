// SPDX-License-Identifier: Apache-2.0
// StringConcat, StringSplit, StringNormalizer and RegexFullMatch.
#include <algorithm>
#include <cstring>
#include <set>
#include <span>

#include "ops/broadcast.h"
#include "ops/text/regex.h"
#include "ops/text/text.h"
#include "ops/text/unicode.h"

namespace anynpu::ops::text {

namespace {

constexpr uint64_t kMostRegexSteps = uint64_t{1} << 30;

using Parts = std::vector<std::string_view>;

// Between white space, which counts as one however long it is, and not at all at the ends.
Parts split_at_spaces(std::string_view text, int64_t most) {
  Parts parts;
  const auto skip_while = [&](size_t at, bool space) {
    while (at < text.size()) {
      size_t next = at;
      if (is_white_space(next_character(text, next)) != space) break;
      at = next;
    }
    return at;
  };
  for (size_t at = skip_while(0, true); at < text.size();) {
    const bool last = static_cast<int64_t>(parts.size()) == most;
    const size_t end = last ? text.size() : skip_while(at, false);
    parts.push_back(text.substr(at, end - at));
    at = skip_while(end, true);
  }
  return parts;
}

Parts split_at(std::string_view text, std::string_view delimiter, int64_t most) {
  Parts parts;
  size_t at = 0;
  while (static_cast<int64_t>(parts.size()) != most) {
    const size_t found = text.find(delimiter, at);
    if (found == text.npos) break;
    parts.push_back(text.substr(at, found - at));
    at = found + delimiter.size();
  }
  parts.push_back(text.substr(at));
  return parts;
}

std::vector<std::string> strings_attr(const OpContext& context, const char* key) {
  const auto found = context.node->attrs.find(key);
  if (found == context.node->attrs.end()) return {};
  const auto* list = std::get_if<std::vector<std::string>>(&found->second);
  return list ? *list : std::vector<std::string>{};
}

template <typename T>
Folded of_numbers(DType dtype, Shape shape, const std::vector<T>& elements) {
  const auto bytes = std::as_bytes(std::span(elements));
  return {dtype, std::move(shape), {bytes.begin(), bytes.end()}};
}

}  // namespace

FoldedList concat_texts(const OpContext& context) {
  const Operand &a = context.inputs[0], &b = context.inputs[1];
  ANYNPU_ASSIGN(const Parts left, texts_of(a));
  ANYNPU_ASSIGN(const Parts right, texts_of(b));
  ANYNPU_ASSIGN(const Shape shape, broadcast(a.shape, b.shape), "{}", context.label());
  const BroadcastLoop loop = broadcast_loop(a.shape, b.shape, shape);
  std::vector<std::string> texts;
  uint64_t characters = 0;
  for (int64_t outer = 0; outer < loop.outer && element_count(shape) > 0; ++outer) {
    int64_t from_a = 0, from_b = 0;
    loop.offsets(outer, from_a, from_b);
    for (int64_t i = 0; i < loop.inner; ++i) {
      const std::string_view head = left[static_cast<size_t>(from_a + i * loop.inner_a)];
      const std::string_view tail = right[static_cast<size_t>(from_b + i * loop.inner_b)];
      characters += head.size() + tail.size();
      ANYNPU_TRY(check_size(context, texts.size() + 1, characters));
      texts.emplace_back(head).append(tail);
    }
  }
  return std::vector<Folded>{folded(shape, texts)};
}

FoldedList split_texts(const OpContext& context) {
  ANYNPU_ASSIGN(const Parts texts, texts_of(context.inputs[0]));
  const std::string delimiter = context.string_attr("delimiter");
  const int64_t most = context.has_attr("maxsplit") ? context.int_attr("maxsplit") : -1;
  std::vector<Parts> rows;
  std::vector<int64_t> counts;
  size_t widest = 0;
  for (std::string_view text : texts) {
    rows.push_back(delimiter.empty() ? split_at_spaces(text, most)
                                     : split_at(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(rows.back().size()));
    widest = std::max(widest, rows.back().size());
  }
  ANYNPU_TRY(check_size(context, uint64_t{widest} * rows.size(), 0));
  std::vector<std::string> all;
  for (const Parts& row : rows) {
    all.insert(all.end(), row.begin(), row.end());
    all.resize(all.size() + widest - row.size());
  }
  Shape shape = context.inputs[0].shape;
  std::vector<Folded> outputs(2);
  outputs[1] = of_numbers(DType::i64, shape, counts);
  shape.push_back(static_cast<int64_t>(widest));
  outputs[0] = folded(std::move(shape), all);
  outputs.resize(context.outputs.size());
  return outputs;
}

FoldedList normalize_texts(const OpContext& context) {
  const Operand& x = context.inputs[0];
  const std::string action = context.string_attr("case_change_action");
  const bool vector = x.rank() == 1, row = x.rank() == 2 && x.shape[0] == 1;
  if ((!vector && !row) || (action != "NONE" && action != "LOWER" && action != "UPPER")) {
    return fail(Code::invalid_argument,
                "{}: input {} with case_change_action '{}', expected C or 1, C and NONE, LOWER or "
                "UPPER",
                context.label(), to_string(x.shape), action);
  }
  ANYNPU_ASSIGN(const Parts texts, texts_of(x));
  ANYNPU_ASSIGN(const Cases cases, Cases::of(context.string_attr("locale")), "{}", context.label());
  const bool exact = context.int_attr("is_case_sensitive") != 0;
  std::set<std::string> stopped;
  for (const std::string& word : strings_attr(context, "stopwords"))
    stopped.insert(exact ? word : cases.lower(word));
  std::vector<std::string> kept;
  for (std::string_view text : texts) {
    if (stopped.contains(exact ? std::string(text) : cases.lower(text))) continue;
    kept.push_back(action == "LOWER"   ? cases.lower(text)
                   : action == "UPPER" ? cases.upper(text)
                                       : std::string(text));
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  return std::vector<Folded>{folded(vector ? Shape{count} : Shape{1, count}, kept)};
}

FoldedList match_texts(const OpContext& context) {
  ANYNPU_ASSIGN(const Parts texts, texts_of(context.inputs[0]));
  ANYNPU_ASSIGN(const Regex regex, Regex::compile(context.string_attr("pattern")), "{}",
                context.label());
  uint64_t steps = kMostRegexSteps;
  std::vector<uint8_t> matches;
  for (std::string_view text : texts) {
    ANYNPU_ASSIGN(const bool match, regex.matches(text, steps), "{}", context.label());
    matches.push_back(match ? 1 : 0);
  }
  return std::vector<Folded>{of_numbers(DType::boolean, context.inputs[0].shape, matches)};
}

}  // namespace anynpu::ops::text
