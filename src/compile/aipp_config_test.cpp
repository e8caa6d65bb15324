// SPDX-License-Identifier: Apache-2.0
#include "compile/aipp_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/aipp/params.h"

namespace anynpu::compile {
namespace {

using testing::HasSubstr;

std::string message(const std::string& fields) {
  return parse_aipp("aipp_op {\n" + fields + "\n}", "aipp.cfg").status().message();
}

TEST(AippConfig, AStaticConfigurationIsRead) {
  const auto list = parse_aipp(
      "aipp_op { aipp_mode: static input_format: RGB888_U8 related_input_rank: 1 "
      "src_image_size_w: 8 src_image_size_h: 4 mean_chn_0: 104 }");
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  ASSERT_EQ(list->size(), 1u);
  EXPECT_FALSE((*list)[0].dynamic);
  EXPECT_EQ((*list)[0].input_rank, 1);
  EXPECT_FALSE((*list)[0].settings.parameters.empty());
}

TEST(AippConfig, ADynamicConfigurationNeedsItsLargestPicture) {
  const auto list = parse_aipp("aipp_op { aipp_mode: dynamic max_src_image_size: 1000 }");
  ASSERT_TRUE(list.ok()) << list.status().to_string();
  EXPECT_TRUE((*list)[0].dynamic);
  EXPECT_EQ((*list)[0].max_source_bytes, 1000);
  EXPECT_THAT(message("aipp_mode: dynamic"), HasSubstr("max_src_image_size"));
}

TEST(AippConfig, MistakesAreNamedWithTheirPlace) {
  EXPECT_THAT(message("aipp_mode: sometimes"), HasSubstr("aipp.cfg:2"));
  EXPECT_THAT(message("input_format: RGB888_U8"), HasSubstr("aipp_mode is missing"));
  EXPECT_THAT(message("aipp_mode: static input_format: RGB"), HasSubstr("'RGB'"));
  EXPECT_THAT(message("aipp_mode: static input_format: RGB888_U8 mean_chn_0: 256"),
              HasSubstr("expected 0 to 255"));
  EXPECT_THAT(message("aipp_mode: static input_format: RGB888_U8 colour: 1"),
              HasSubstr("'colour'"));
  EXPECT_THAT(message("aipp_mode: static input_format: RGB888_U8 crop: true"),
              HasSubstr("size of the source picture"));
}

TEST(AippConfig, StaticAndDynamicInOneFileAreRefused) {
  EXPECT_FALSE(parse_aipp("aipp_op { aipp_mode: static input_format: RGB888_U8 }"
                          "aipp_op { aipp_mode: dynamic max_src_image_size: 1000 }")
                   .ok());
}

TEST(AippConfig, AFileThatIsNotThereIsNamed) {
  EXPECT_THAT(read_aipp_file("/nowhere/aipp.cfg").status().message(),
              HasSubstr("/nowhere/aipp.cfg"));
}

}  // namespace
}  // namespace anynpu::compile
