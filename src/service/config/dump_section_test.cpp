// SPDX-License-Identifier: Apache-2.0
// The section "dump" of acl.json.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "service/config/config.h"

namespace anynpu::service {
namespace {

using testing::ElementsAre;

// What parse_dump makes of a section.
Result<DumpConfig> section(std::string_view text) {
  const auto value = json::parse(text, "acl.json");
  EXPECT_TRUE(value.ok()) << value.status().to_string();
  return parse_dump(*value);
}
Code code_of(std::string_view text) { return section(text).status().code(); }
DumpConfig parsed(std::string_view text) {
  auto config = section(text);
  EXPECT_TRUE(config.ok()) << config.status().to_string();
  return config.ok() ? *config : DumpConfig();
}

TEST(DumpConfig, ReadsAModelDump) {
  const DumpConfig config = parsed(R"({"dump_list":[{"model_name":"resnet50"},
    {"model_name":"other","layer":["conv1","pool1"]}],"dump_path":"./output","dump_mode":"all",
    "dump_level":"op","dump_data":"tensor"})");
  ASSERT_TRUE(config.enabled());
  EXPECT_TRUE(config.models);
  EXPECT_EQ(config.mode, "all");
  ASSERT_EQ(config.targets.size(), 2u);
  EXPECT_THAT(config.targets[1].layers, ElementsAre("conv1", "pool1"));
}

TEST(DumpConfig, ReadsTheOtherKindsOfDump) {
  EXPECT_TRUE(parsed(R"({"dump_path":"o","dump_debug":"on"})").overflow);
  EXPECT_TRUE(parsed(R"({"dump_path":"o","dump_list":[{}],"dump_op_switch":"on"})").single_ops);
  EXPECT_TRUE(parsed(R"({"dump_path":"o","dump_list":[]})").models);
  EXPECT_EQ(parsed(R"({"dump_scene":"lite_exception"})").scene, DumpScene::exception_brief);
  EXPECT_THAT(parsed(R"({"dump_path":"o","dump_kernel_data":"printf,tensor"})").kernel_data,
              ElementsAre("printf", "tensor"));
  EXPECT_FALSE(parsed(R"({})").enabled());
}

TEST(DumpConfig, BadSectionsAreAnInvalidDumpConfig) {
  for (
      const char* bad : {
          R"("on")",
          R"({"dump_list":[{"model_name":"m"}]})",
          R"({"dump_path":"o","dump_list":[{"model_name":"m"}],"dump_mode":"both"})",
          R"({"dump_path":"o","dump_list":[{}]})",
          R"({"dump_path":"o","dump_list":{}})",
          R"({"dump_path":"o","dump_list":[{"model_name":"m","layer":"x"}]})",
          R"({"dump_path":"o","dump_debug":"on","dump_list":[{"model_name":"m"}]})",
          R"({"dump_path":"o","dump_debug":"on","dump_op_switch":"on"})",
          R"({"dump_path":"o","dump_debug":true})",
          R"({"dump_path":1,"dump_debug":"on"})",
          R"({"dump_debug":"on"})",
          R"({"dump_scene":"sometimes"})",
          R"({"dump_path":"o","dump_scene":"aic_err_brief_dump","dump_op_switch":"on"})",
          R"({"dump_path":"o","dump_scene":"watcher"})",
          R"({"dump_path":"o","dump_scene":"watcher","dump_mode":"all","dump_list":[{"layer":["a"],"watcher_nodes":["b"]}]})",
          R"({"dump_path":"o","dump_kernel_data":"printf,everything"})",
          R"({"dump_scene":"aic_err_norm_dump","dump_stats":["Max"]})",
      }) {
    EXPECT_EQ(code_of(bad), Code::invalid_dump_config) << bad;
  }
}

TEST(DumpConfig, UnknownKeysAndStatisticsAreIgnored) {
  const DumpConfig dump = parsed(
      R"({"dump_path":"o","dump_list":[],"dump_data":"stats","dump_stats":"Max,Hue","more":1})");
  EXPECT_THAT(dump.statistics, ElementsAre("Max"));
}

TEST(DumpConfig, MessagesNameTheKeyItsValueAndWhatIsExpected) {
  EXPECT_EQ(section(R"({"dump_path":"o","dump_mode":"both"})").status().message(),
            "dump: 'dump_mode' is 'both'; expected one of: output, input, all");
}

}  // namespace
}  // namespace anynpu::service
