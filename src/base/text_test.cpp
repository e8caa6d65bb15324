// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

namespace anynpu {
namespace {

using testing::ElementsAre;

TEST(Text, split_keeps_empty_parts) {
  EXPECT_THAT(split("a,,b", ','), ElementsAre("a", "", "b"));
  EXPECT_THAT(split(",", ','), ElementsAre("", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
  EXPECT_THAT(split(" a ; b", ';'), ElementsAre(" a ", " b"));
}

TEST(Text, split_words_trims_and_leaves_empty_parts_out) {
  EXPECT_THAT(split_words(" a, ,b\t,", ','), ElementsAre("a", "b"));
  EXPECT_THAT(split_words("", ','), ElementsAre());
  EXPECT_THAT(split_words("a b", ','), ElementsAre("a b"));
}

TEST(Text, trim_takes_blanks_from_both_ends_only) {
  EXPECT_EQ(trim(" \ta b\r\n"), "a b");
  EXPECT_EQ(trim(" \t "), "");
  EXPECT_EQ(trim(""), "");
}

TEST(Text, case_changes_ascii_letters_only) {
  EXPECT_EQ(lower("AZ[az\xc3\x84"), "az[az\xc3\x84");
  EXPECT_EQ(upper("AZ{az\xc3\xa4"), "AZ{AZ\xc3\xa4");
}

TEST(Text, join_puts_the_separator_between_parts) {
  EXPECT_EQ(join(std::vector<std::string>{"a", "b", ""}), "a, b, ");
  EXPECT_EQ(join(std::array<std::string_view, 2>{"", "b"}, "|"), "|b");
  EXPECT_EQ(join(std::vector<std::string>{}), "");
}

TEST(Text, contains_finds_equal_elements) {
  constexpr std::string_view kNames[] = {"Conv", "Gemm"};
  EXPECT_TRUE(contains(kNames, "Gemm"));
  EXPECT_FALSE(contains(kNames, "Gem"));
  EXPECT_TRUE(contains(std::vector<int>{1, 2}, 2));
}

}  // namespace
}  // namespace anynpu
