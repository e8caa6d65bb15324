// SPDX-License-Identifier: Apache-2.0
#include "base/prototext.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace anynpu {
namespace {

TextField parse(std::string_view text) {
  auto parsed = parse_prototext(text);
  EXPECT_TRUE(parsed.ok()) << parsed.status().to_string();
  return parsed.ok() ? std::move(*parsed) : TextField{};
}

std::string failure(std::string_view text) {
  auto parsed = parse_prototext(text);
  EXPECT_FALSE(parsed.ok()) << text;
  return parsed.ok() ? "" : parsed.status().to_string();
}

TEST(Prototext, ReadsNestedMessagesInEveryForm) {
  const TextField root = parse(
      "# a comment\n"
      "name: \"net\"  # another\n"
      "layer { type: 'ReLU' bottom: \"a\" bottom: \"b\" }\n"
      "layer: { relu_param < negative_slope: 0.1 >, }\n"
      "aipp_op{aipp_mode:static;csc_switch : true}\n");
  std::string name;
  ASSERT_TRUE(root.find("name")->to(name).ok());
  EXPECT_EQ(name, "net");
  ASSERT_EQ(root.all("layer").size(), 2u);
  EXPECT_EQ(root.all("layer")[0]->all("bottom").size(), 2u);
  EXPECT_EQ(root.all("layer")[0]->line, 3);
  float slope = 0;
  ASSERT_TRUE(root.all("layer")[1]->find("relu_param")->find("negative_slope")->to(slope).ok());
  EXPECT_FLOAT_EQ(slope, 0.1f);
  const TextField* aipp = root.find("aipp_op");
  EXPECT_EQ(aipp->find("aipp_mode")->kind, TextField::Kind::word);
  bool on = false;
  ASSERT_TRUE(aipp->find("csc_switch")->to(on).ok());
  EXPECT_TRUE(on);
  EXPECT_EQ(root.find("absent"), nullptr);
}

TEST(Prototext, ReadsListsAsRepeatedFields) {
  const TextField root = parse("dim: [1, 3, 224] empty: [] m: [{a: 1}, {a: 2}] [ext.x]: 5");
  EXPECT_EQ(root.all("dim").size(), 3u);
  EXPECT_EQ(root.all("m").size(), 2u);
  EXPECT_TRUE(root.all("empty").empty());
  EXPECT_NE(root.find("[ext.x]"), nullptr);
}

TEST(Prototext, ReadsNumbersOfEveryForm) {
  const TextField root = parse(
      "a: -5 b: 0x1F c: 017 d: 1e-5 e: .5f f: -inf g: nan h: 3. i: 9223372036854775807 j: - 2 "
      "k: 1e999 l: 0x10");
  int64_t whole = 0;
  ASSERT_TRUE(root.find("a")->to(whole).ok());
  EXPECT_EQ(whole, -5);
  ASSERT_TRUE(root.find("b")->to(whole).ok());
  EXPECT_EQ(whole, 31);
  ASSERT_TRUE(root.find("c")->to(whole).ok());
  EXPECT_EQ(whole, 15);
  ASSERT_TRUE(root.find("i")->to(whole).ok());
  EXPECT_EQ(whole, INT64_MAX);
  ASSERT_TRUE(root.find("j")->to(whole).ok());
  EXPECT_EQ(whole, -2);
  double real = 0;
  ASSERT_TRUE(root.find("d")->to(real).ok());
  EXPECT_DOUBLE_EQ(real, 1e-5);
  ASSERT_TRUE(root.find("e")->to(real).ok());
  EXPECT_DOUBLE_EQ(real, 0.5);
  ASSERT_TRUE(root.find("f")->to(real).ok());
  EXPECT_EQ(real, -INFINITY);
  ASSERT_TRUE(root.find("g")->to(real).ok());
  EXPECT_TRUE(std::isnan(real));
  ASSERT_TRUE(root.find("h")->to(real).ok());
  EXPECT_DOUBLE_EQ(real, 3);
  ASSERT_TRUE(root.find("k")->to(real).ok());
  EXPECT_EQ(real, INFINITY);
  ASSERT_TRUE(root.find("l")->to(real).ok());
  EXPECT_DOUBLE_EQ(real, 16);
}

TEST(Prototext, ResolvesEscapesAndJoinsStrings) {
  const TextField root = parse(R"(s: "a\n\"\x41\101\u00e9" 'tail')");
  EXPECT_EQ(root.find("s")->text, "a\n\"AA\xc3\xa9tail");
}

TEST(Prototext, NamesThePlaceOfAMistake) {
  EXPECT_TRUE(parse_prototext("layer {\n  name 5\n}", "net.prototxt")
                  .status()
                  .message()
                  .starts_with("net.prototxt:2:8: "));
  EXPECT_NE(failure("layer {\n  name 5\n}").find("line 2, column 8"), std::string::npos);
  EXPECT_NE(failure("layer {\n").find("ends inside 'layer' of line 1"), std::string::npos);
  EXPECT_NE(failure("a: \"x\ny\"").find("end of its line"), std::string::npos);
  EXPECT_NE(failure("a: \"\\q\"").find("escape"), std::string::npos);
  EXPECT_NE(failure("}").find("line 1, column 1"), std::string::npos);
  EXPECT_NE(failure("a:").find("no value"), std::string::npos);
  EXPECT_NE(failure("a: [1").find("]"), std::string::npos);
  EXPECT_NE(failure(std::string("a: \x01")).find("the byte 1"), std::string::npos);
}

TEST(Prototext, RefusesValuesOfAnotherKind) {
  const TextField root = parse("a: x b { } c: '5' d: 99999999999999999999 e: 1.5");
  int64_t whole = 0;
  bool flag = false;
  std::string text;
  double real = 0;
  EXPECT_FALSE(root.find("a")->to(whole).ok());
  EXPECT_FALSE(root.find("a")->to(real).ok());
  EXPECT_FALSE(root.find("a")->to(flag).ok());
  EXPECT_FALSE(root.find("b")->to(text).ok());
  EXPECT_FALSE(root.find("c")->to(whole).ok());
  EXPECT_FALSE(root.find("d")->to(whole).ok());
  EXPECT_FALSE(root.find("e")->to(whole).ok());
  EXPECT_NE(root.find("a")->to(whole).message().find("line 1, column 1"), std::string::npos);
}

TEST(Prototext, BoundsNesting) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) deep += "a{";
  EXPECT_NE(failure(deep).find("nest deeper"), std::string::npos);
}

TEST(Prototext, SurvivesDamagedText) {
  const std::string good = "layer { name: \"a\\n\" p: [1, 2.5e-3] q <r: -0x7> } # end\n";
  std::mt19937 random(1);
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good.substr(0, random() % (good.size() + 1));
    for (int i = 0; i < 3 && !bad.empty(); ++i)
      bad[random() % bad.size()] = static_cast<char>(random());
    (void)parse_prototext(bad).ok();
  }
}

}  // namespace
}  // namespace anynpu
