// SPDX-License-Identifier: Apache-2.0
#include "service/config/section_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anynpu::service {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::string_view kColors[] = {"red", "green"};

json::Value object(std::string_view text) { return json::parse(text, "test").value(); }

TEST(SectionReader, AbsentKeysGiveTheDefault) {
  const json::Value empty = object("{}");
  const SectionReader reader{empty, "paint"};
  EXPECT_EQ(*reader.text("a", "x"), "x");
  EXPECT_EQ(*reader.word("a", "none", kColors), "none");
  EXPECT_FALSE(*reader.on_off("a"));
  EXPECT_THAT(*reader.words("a", kColors), IsEmpty());
  EXPECT_THAT(*reader.texts("a"), IsEmpty());
  EXPECT_EQ(*reader.number("a", 7, 0, 1), 7);
}

TEST(SectionReader, ValuesAreReadAsWritten) {
  const json::Value value = object(R"({"text":"any thing","word":"green","switch":"on",
    "list":"red,green","free":"x,y","texts":["a","b,c"],"number":5,"digits":"12"})");
  const SectionReader reader{value, "paint"};
  EXPECT_EQ(*reader.text("text", ""), "any thing");
  EXPECT_EQ(*reader.word("word", "red", kColors), "green");
  EXPECT_TRUE(*reader.on_off("switch"));
  EXPECT_THAT(*reader.words("list", kColors), ElementsAre("red", "green"));
  EXPECT_THAT(*reader.words("free", {}), ElementsAre("x", "y"));
  EXPECT_THAT(*reader.texts("texts"), ElementsAre("a", "b,c"));
  EXPECT_EQ(*reader.number("number", 0, 5, 5), 5);
  EXPECT_EQ(*reader.number("digits", 0, 0, 12), 12);
}

TEST(SectionReader, AFailureNamesSectionKeyValueAndWhatWasExpected) {
  const json::Value value = object(R"({"word":"blue","kind":1,"switch":"yes","list":"red,blue",
    "texts":["a",1],"number":6,"text":[]})");
  const SectionReader reader{value, "paint"};
  const auto expect_named = [](const auto& result, const char* key, const char* is) {
    ASSERT_FALSE(result.ok()) << key;
    EXPECT_THAT(result.status().message(), HasSubstr("paint"));
    EXPECT_THAT(result.status().message(), HasSubstr(format("'{}'", key)));
    EXPECT_THAT(result.status().message(), HasSubstr(is));
    EXPECT_THAT(result.status().message(), HasSubstr("expected"));
  };
  expect_named(reader.word("word", "red", kColors), "word", "blue");
  expect_named(reader.word("kind", "red", kColors), "kind", "integer");
  expect_named(reader.on_off("switch"), "switch", "yes");
  expect_named(reader.words("list", kColors), "list", "blue");
  expect_named(reader.texts("texts"), "texts", "integer");
  expect_named(reader.number("number", 0, 1, 5), "number", "6");
  expect_named(reader.text("text", ""), "text", "array");
}

TEST(SectionReader, OnlyKnownKeysMayStandInASection) {
  const json::Value value = object(R"({"color":"red","colour":"red"})");
  const SectionReader reader{value, "paint"};
  constexpr std::string_view both[] = {"color", "colour"}, one[] = {"color"};
  EXPECT_TRUE(reader.only(both).ok());
  EXPECT_THAT(reader.only(one).message(), HasSubstr("'colour'"));
}

TEST(SectionReader, DecimalNumbersHaveNoSignSpaceOrOverflow) {
  EXPECT_EQ(parse_decimal("12"), 12);
  EXPECT_EQ(parse_decimal("0"), 0);
  EXPECT_EQ(parse_decimal("9223372036854775807"), INT64_MAX);
  for (const char* bad : {"", "+1", "-1", " 1", "1 ", "1.5", "x", "9223372036854775808"}) {
    EXPECT_FALSE(parse_decimal(bad)) << bad;
  }
}

}  // namespace
}  // namespace anynpu::service
