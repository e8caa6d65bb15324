// SPDX-License-Identifier: Apache-2.0
// Patterns, characters and the block that strings lie in. Operators:
// tests/python/models/test_mdl_strings.py.
#include <gtest/gtest.h>

#include <cstring>

#include "ops/text/regex.h"
#include "ops/text/unicode.h"
#include "tensor/texts.h"

namespace anynpu::ops::text {
namespace {

constexpr uint64_t kPlenty = uint64_t{1} << 30;

bool matches(std::string_view pattern, std::string_view text) {
  const auto regex = Regex::compile(pattern);
  EXPECT_TRUE(regex.ok()) << regex.status().to_string();
  uint64_t steps = kPlenty;
  return regex.ok() && *regex->matches(text, steps);
}

std::string mistake(std::string_view pattern) {
  const auto regex = Regex::compile(pattern);
  return regex.ok() ? "" : regex.status().message();
}

TEST(Regex, MatchesWholeTexts) {
  EXPECT_TRUE(matches("a|ab|abc", "ab"));
  EXPECT_FALSE(matches("a", "ab"));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_TRUE(matches("(a|b)*c{2,}", "abbacc"));
  EXPECT_FALSE(matches("(a|b)*c{2,}", "abbac"));
  EXPECT_TRUE(matches("(?m)^a$\\n^b$", "a\nb"));
  EXPECT_FALSE(matches("^a$\\n^b$", "a\nb"));
  EXPECT_TRUE(matches("a(?i)b(?-i)c|(?i:X)y", "aBc"));
  EXPECT_FALSE(matches("a(?i)b(?-i)c|(?i:X)y", "aBC"));
  EXPECT_TRUE(matches("a(?i)b(?-i)c|(?i:X)y", "xy"));
  EXPECT_TRUE(matches("[^[:^digit:]x]+\\b", "12"));
  EXPECT_TRUE(matches("[\\w-]+@[a-z\\d.]+", "a-b@c.d"));
  EXPECT_TRUE(matches("\\Qa+b\\E+c", "a+bbc"));
}

TEST(Regex, TimeGrowsWithPatternTimesText) {
  const std::string text(5000, 'a');
  EXPECT_FALSE(matches("(a*)*(a|a)*(a?){50}b", text));
  uint64_t few = 100;
  EXPECT_FALSE(Regex::compile("(a*)*b")->matches(text, few).ok()) << "more than was granted";
}

TEST(Regex, MistakesAreNamed) {
  EXPECT_NE(mistake("a**").find("two repeats"), std::string::npos);
  EXPECT_NE(mistake("*a").find("nothing to repeat"), std::string::npos);
  EXPECT_NE(mistake("a)").find("closes no group"), std::string::npos);
  EXPECT_NE(mistake("[z-a]").find("range"), std::string::npos);
  EXPECT_NE(mistake("[a").find("no ']'"), std::string::npos);
  EXPECT_NE(mistake("(?=a)").find("no flag"), std::string::npos);
  EXPECT_NE(mistake("(?<!a)").find("looked at"), std::string::npos);
  EXPECT_NE(mistake("\\pL").find("no such escape"), std::string::npos);
  EXPECT_NE(mistake("a{1001}").find("too large"), std::string::npos);
  EXPECT_NE(mistake("\\").find("at the end"), std::string::npos);
  EXPECT_NE(mistake("(((a{1000}){1000}){1000})").find("more than"), std::string::npos);
}

TEST(Regex, RandomPatternsNeverReadOutside) {
  constexpr std::string_view kPieces[] = {"a", "(",  ")",  "[",    "]", "*",    "{2,",
                                          "}", "\\", "?",  "^",    "|", "\xc3", "(?i",
                                          ":", "-",  "[:", "\\x{", "Q"};
  uint32_t seed = 1;
  for (int round = 0; round < 20000; ++round) {
    std::string pattern;
    for (int i = 0; i < 8; ++i) {
      seed = seed * 1664525 + 1013904223;
      pattern += kPieces[(seed >> 16) % std::size(kPieces)];
    }
    const auto regex = Regex::compile(pattern);
    uint64_t steps = 10000;
    if (regex.ok()) static_cast<void>(regex->matches("aab-\xc3\xa9\xff", steps));
  }
}

TEST(Characters, BytesThatAreNoUtf8ComeBackAsTheyWere) {
  const std::string text = "a\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xff\xc3(\xed\xa0\x80\xf8";
  std::string again;
  std::vector<uint32_t> characters;
  for (size_t at = 0; at < text.size();) characters.push_back(next_character(text, at));
  for (uint32_t character : characters) append_character(again, character);
  EXPECT_EQ(again, text);
  EXPECT_EQ(characters[1], 0xe9u);
  EXPECT_EQ(characters[3], 0x1f600u);
  EXPECT_EQ(characters[4], kStrayByte + 0xff);
  const auto cases = Cases::of("");
  ASSERT_TRUE(cases.ok());
  EXPECT_EQ(cases->upper(std::string_view("\xc3\xa9x\xff")), "\xc3\x89X\xff");
}

TEST(Texts, ComeBackFromTheirBlockAndDamageIsFound) {
  const std::vector<std::string_view> texts = {"one", "", "three"};
  std::vector<std::byte> bytes = pack_texts(texts);
  EXPECT_EQ(*unpack_texts(bytes, 3), texts);
  EXPECT_FALSE(unpack_texts(bytes, 4).ok());
  const uint64_t far = ~uint64_t{0} - 2;
  std::memcpy(bytes.data(), &far, sizeof far);
  EXPECT_NE(unpack_texts(bytes, 3).status().message().find("string 0"), std::string::npos);
}

}  // namespace
}  // namespace anynpu::ops::text
