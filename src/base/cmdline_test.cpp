// SPDX-License-Identifier: Apache-2.0
#include "base/cmdline.h"

#include <gtest/gtest.h>

#include <array>

namespace anynpu {
namespace {

constexpr std::array<OptionSpec, 3> kTable = {{{"output_type", "FP32|FP16", "FP32", "type"},
                                               {"input_shape", "name:n,c,h,w", "", "shapes"},
                                               {"help", "", "", "this text"}}};

Result<CommandLine> parse(std::vector<std::string> args) {
  return CommandLine::parse(kTable, args);
}

TEST(CommandLine, TakesOneDashOrTwoAndBothFormsOfValues) {
  for (const auto& args : std::vector<std::vector<std::string>>{{"--output_type=FP16"},
                                                                {"-output_type=FP16"},
                                                                {"--output_type", "FP16"},
                                                                {"-output_type", "FP16"}}) {
    auto line = parse(args);
    ASSERT_TRUE(line.ok()) << line.status().to_string();
    EXPECT_EQ(line->get("output_type"), "FP16");
    EXPECT_TRUE(line->has("output_type"));
  }
}

TEST(CommandLine, QuotesKeptInsideAValueAreTakenOff) {
  EXPECT_EQ(parse({"--input_shape=\"x:1,3\""})->get("input_shape"), "x:1,3");
  EXPECT_EQ(parse({"--input_shape='x:1,3'"})->get("input_shape"), "x:1,3");
  EXPECT_EQ(parse({"--input_shape=\"x:1,3"})->get("input_shape"), "\"x:1,3");
}

TEST(CommandLine, DefaultsComeFromTheTableAndTheLastOneWins) {
  EXPECT_EQ(parse({})->get("output_type"), "FP32");
  EXPECT_EQ(parse({})->get("input_shape"), "");
  auto line = parse({"--output_type=A", "--output_type=B"});
  EXPECT_EQ(line->get("output_type"), "B");
  EXPECT_EQ(line->given().size(), 2u);
}

TEST(CommandLine, SwitchesNeedNoValue) {
  EXPECT_TRUE(parse({"--help"})->has("help"));
  EXPECT_TRUE(parse({"-h"})->has("help"));
}

TEST(CommandLine, MistakesAreNamed) {
  EXPECT_NE(parse({"--output_typ=1"}).status().message().find("did you mean --output_type"),
            std::string::npos);
  EXPECT_NE(parse({"--zzzzzzzzzzz=1"}).status().message().find("unknown option --zzzzzzzzzzz;"),
            std::string::npos);
  EXPECT_NE(parse({"--input_shape"}).status().message().find("has no value"), std::string::npos);
  EXPECT_NE(parse({"model.onnx"}).status().message().find("not an option"), std::string::npos);
  EXPECT_FALSE(parse({"--"}).ok());
}

TEST(CommandLine, HelpListsEveryOptionWithItsDefault) {
  const std::string text = option_help(kTable);
  EXPECT_NE(text.find("--output_type=FP32|FP16"), std::string::npos);
  EXPECT_NE(text.find("(default: FP32)"), std::string::npos);
  EXPECT_NE(text.find("  --help\n"), std::string::npos);
}

}  // namespace
}  // namespace anynpu
