// SPDX-License-Identifier: Apache-2.0
#include "compile/pass_switch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/pass_table.h"

namespace anynpu::compile {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(PassSwitch, JsonAndLinesSayTheSame) {
  EXPECT_THAT(*parse_fusion_switch(R"({"Switch":{"GraphFusion":{"fuse_gelu":"off"}}})"),
              ElementsAre("fuse_gelu"));
  EXPECT_THAT(*parse_fusion_switch("fuse_gelu : off\nfuse_conv:on\n"), ElementsAre("fuse_gelu"));
}

TEST(PassSwitch, TheCardsNamesCountForOurs) {
  EXPECT_THAT(*parse_fusion_switch("TbeConvReluFusionPass:off"), ElementsAre("fuse_conv"));
  EXPECT_THAT(*parse_fusion_switch("NobodyKnowsThisFusionPass:off"), IsEmpty());
}

TEST(PassSwitch, AllMeansEveryPassThatIsOffByName) {
  std::vector<std::string> names;
  for (const Pass& pass : pass_table()) {
    if (pass.off == PassSwitch::by_name) names.emplace_back(pass.name);
  }
  EXPECT_THAT(*parse_fusion_switch("ALL:off"), testing::UnorderedElementsAreArray(names));
  EXPECT_EQ(parse_fusion_switch("ALL:off\nfuse_conv:on")->size(), names.size() - 1);
  EXPECT_THAT(*parse_fusion_switch("remove_identities:off"), IsEmpty()) << "always on";
}

TEST(PassSwitch, MistakesAreNamed) {
  const auto message = [](const char* text) {
    return parse_fusion_switch(text).status().message();
  };
  EXPECT_THAT(message("fuse_conv:maybe"), HasSubstr("'maybe'"));
  EXPECT_THAT(message("fuse_conv"), HasSubstr("'fuse_conv'"));
  EXPECT_THAT(message("{}"), HasSubstr("Switch"));
  EXPECT_THAT(message(R"({"Switch":{"Other":{"a":"off"}}})"), HasSubstr("\"Other\""));
}

TEST(PassSwitch, APassIsOnUnlessItOrAllOfThemAreOff) {
  EXPECT_TRUE(is_on({}, "fuse_gelu"));
  EXPECT_TRUE(is_on({"fuse_conv"}, "fuse_gelu"));
  EXPECT_FALSE(is_on({"fuse_gelu"}, "fuse_gelu"));
  EXPECT_FALSE(is_on({std::string(kAllPasses)}, "fuse_gelu"));
}

}  // namespace
}  // namespace anynpu::compile
