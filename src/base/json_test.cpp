// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <cmath>

namespace anynpu::json {
namespace {

std::string repeat(const char* text, int count) {
  std::string out;
  for (int i = 0; i < count; ++i) out += text;
  return out;
}

TEST(Json, ReadsEveryKindOfValue) {
  auto value = parse(
      R"({"b":true,"i":-3,"u":18446744073709551615,"d":2.5,"s":"a\u00e9\n","n":null,"l":[1,[]]})",
      "text");
  ASSERT_TRUE(value.ok()) << value.status().to_string();
  EXPECT_TRUE(*value->find("b")->boolean());
  EXPECT_EQ(value->find("i")->integer().value(), -3);
  EXPECT_FALSE(value->find("u")->integer().ok());
  EXPECT_EQ(value->find("u")->real().value(), 18446744073709551615.0);
  EXPECT_EQ(value->find("d")->real().value(), 2.5);
  EXPECT_EQ(*value->find("s")->string(), "a\xc3\xa9\n");
  EXPECT_TRUE(value->find("n")->is_null());
  EXPECT_EQ(value->find("l")->array()->size(), 2u);
  EXPECT_EQ(value->find("absent"), nullptr);
}

TEST(Json, WritesWhatItReads) {
  const std::string text =
      R"({"z":1,"a":[true,null,"\"\\\n\u0001",2.0,18446744073709551615],"o":{},"l":[]})";
  auto value = parse(text, "text");
  ASSERT_TRUE(value.ok());
  EXPECT_EQ(value->dump(), text);
  EXPECT_EQ(parse(value->dump(2), "again")->dump(), text);
}

TEST(Json, TheLastOfRepeatedKeysCounts) {
  EXPECT_EQ(parse(R"({"a":1,"b":2,"a":3})", "text")->dump(), R"({"a":3,"b":2})");
}

TEST(Json, AnErrorNamesLineAndColumn) {
  auto value = parse("{\n  \"dump\": on\n}", "acl.json");
  ASSERT_FALSE(value.ok());
  EXPECT_EQ(value.status().code(), Code::parse_error);
  EXPECT_NE(value.status().message().find("acl.json: line 2, column 1"), std::string::npos)
      << value.status().message();
}

TEST(Json, BadTextIsAnErrorAndNeverACrash) {
  for (const char* bad : {"", "{", "}", "[1,]", "{\"a\"}", "nul", "\"\xff\"", "1 2",
                          "{\"a\":1e999}", "'a'", "\"\\u12\"", "{1:2}", "\x01"}) {
    EXPECT_FALSE(parse(bad, "text").ok()) << bad;
  }
}

TEST(Json, DepthLimitsCountObjectsAndArraysApart) {
  const Limits ten{.max_objects_deep = 10, .max_arrays_deep = 10};
  const auto objects = [](int n) { return repeat("{\"a\":", n) + "1" + repeat("}", n); };
  const auto arrays = [](int n) { return repeat("[", n) + repeat("]", n); };
  EXPECT_TRUE(parse(objects(10), "text", ten).ok());
  EXPECT_FALSE(parse(objects(11), "text", ten).ok());
  EXPECT_TRUE(parse(arrays(10), "text", ten).ok());
  EXPECT_FALSE(parse(arrays(11), "text", ten).ok());
  EXPECT_TRUE(parse(repeat("{\"a\":", 10) + arrays(10) + repeat("}", 10), "text", ten).ok());
  EXPECT_FALSE(parse(repeat("[", 1000000), "text").ok());
}

TEST(Json, TheSizeLimitHolds) {
  EXPECT_TRUE(parse("[1, 2]", "text", {.max_bytes = 6}).ok());
  EXPECT_FALSE(parse("[1, 2, 3]", "text", {.max_bytes = 6}).ok());
}

TEST(Json, WritesNumbersAndStringsThatJsonAllows) {
  EXPECT_EQ(Value(std::nan("")).dump(), "null");
  EXPECT_EQ(Value(0.1).dump(), "0.1");
  EXPECT_EQ(Value(3.0).dump(), "3.0");
  EXPECT_EQ(quote("a\xff\xc3\xa9"), "\"a\xef\xbf\xbd\xc3\xa9\"");
}

}  // namespace
}  // namespace anynpu::json
