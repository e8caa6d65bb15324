// SPDX-License-Identifier: Apache-2.0
#include "media/rules.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>

#include "media/support.h"
#include "media/vdec_codes.h"

namespace anynpu::media {
namespace {

class RulesTest : public testing::Test {
 protected:
  // 64x48 of NV12 with room for more.
  PictureSpec picture() {
    PictureSpec spec;
    spec.data = memory_.get();
    spec.bytes = 64 * 48 * 3 / 2;
    spec.format = 1;
    spec.width = 64;
    spec.height = 48;
    spec.width_stride = 64;
    spec.height_stride = 48;
    return spec;
  }
  std::string complaint(const PictureSpec& spec, const Rules& rules = kVpcRules) {
    return check_picture(spec, rules, "input", device::Access::read).status().message();
  }

  std::unique_ptr<void, decltype(&std::free)> memory_{std::aligned_alloc(4096, 1 << 16),
                                                      &std::free};
};

TEST_F(RulesTest, a_picture_that_obeys_is_taken) { EXPECT_EQ(complaint(picture()), ""); }

TEST_F(RulesTest, each_violation_names_its_rule_and_the_value) {
  PictureSpec spec = picture();
  spec.width_stride = 100;
  EXPECT_EQ(complaint(spec), "input: width stride 100 is not a multiple of 16");
  spec = picture();
  spec.height_stride = 49;
  EXPECT_EQ(complaint(spec), "input: height stride 49 is not a multiple of 2");
  spec = picture();
  spec.width_stride = 48;
  EXPECT_NE(complaint(spec).find("width stride 48 does not fit 64 pixels"), std::string::npos);
  spec = picture();
  spec.height_stride = 46;
  EXPECT_NE(complaint(spec).find("height stride 46 does not fit a height of 48"),
            std::string::npos);
  spec = picture();
  spec.bytes = 4607;
  EXPECT_NE(complaint(spec).find("the size is 4607 bytes"), std::string::npos);
  spec = picture();
  spec.width = 1;
  EXPECT_NE(complaint(spec).find("the picture is 1x48; VPC takes 2x2 to 8192x8192"),
            std::string::npos);
  spec = picture();
  spec.format = 99;
  EXPECT_NE(complaint(spec).find("VPC does not take the pixel format 99"), std::string::npos);
  spec = picture();
  spec.data = static_cast<uint8_t*>(spec.data) + 8;
  EXPECT_NE(complaint(spec).find("is not a multiple of 16"), std::string::npos);
  EXPECT_NE(complaint(spec, kJpegdRules).find("is not a multiple of 128"), std::string::npos);
  spec = picture();
  spec.data = nullptr;
  EXPECT_NE(complaint(spec), "");
}

TEST_F(RulesTest, regions_lie_inside_and_on_whole_chroma_samples) {
  const auto checked = check_picture(picture(), kVpcRules, "input", device::Access::read);
  ASSERT_TRUE(checked.ok());
  const auto region = [&](Edges e) { return check_region(e, checked->view, "crop"); };
  const auto good = region({8, 23, 4, 11});
  ASSERT_TRUE(good.ok());
  EXPECT_EQ(good->width, 16u);
  EXPECT_EQ(good->height, 8u);
  EXPECT_NE(region({8, 7, 4, 11}).status().message().find("is empty"), std::string::npos);
  EXPECT_NE(region({8, 65, 4, 11}).status().message().find("the picture has 64x48"),
            std::string::npos);
  EXPECT_NE(region({7, 23, 4, 11}).status().message().find("an even left and an odd right"),
            std::string::npos);
  EXPECT_NE(region({8, 23, 5, 11}).status().message().find("an even top and an odd bottom"),
            std::string::npos);
}

TEST(SupportTest, chips_have_what_the_guides_tables_say) {
  const struct {
    const char* soc;
    Unit unit;
    Version version;
    bool there;
  } rows[] = {{"Ascend310", Unit::vpc, Version::v1, true},
              {"Ascend310", Unit::convert_color, Version::v1, false},
              {"Ascend310", Unit::vpc, Version::v2, false},
              {"Ascend310P3", Unit::venc, Version::v2, true},
              {"Ascend310B1", Unit::venc, Version::v1, true},
              {"Ascend910A", Unit::venc, Version::v1, false},
              {"Ascend910A", Unit::jpegd, Version::v2, false},
              {"Ascend910B", Unit::vdec, Version::v1, true},
              {"Ascend910B3", Unit::venc, Version::v1, false},
              {"Ascend910B3", Unit::vdec, Version::v2, true}};
  for (const auto& row : rows) {
    const Status status = check_support(row.unit, row.version, row.soc);
    EXPECT_EQ(status.ok(), row.there) << row.soc << " " << name_of(row.unit);
    if (!row.there) {
      EXPECT_EQ(status.code(), Code::unsupported_feature);
      EXPECT_NE(status.message().find(row.soc), std::string::npos);
    }
  }
}

TEST(VdecCodesTest, every_code_has_one_row_with_a_name_and_a_meaning) {
  uint32_t before = 0;
  for (const VdecCode& row : vdec_codes()) {
    EXPECT_TRUE(row.code > before || row.code == 0) << row.name;
    before = row.code;
    EXPECT_GT(std::string(row.meaning).size(), 5u) << row.name;
    EXPECT_NE(describe_vdec_code(row.code).find(row.name), std::string::npos);
  }
  EXPECT_EQ(describe_vdec_code(0x10008).substr(0, 24), "0x10008 (ERR_BITSTREAM):");
}

TEST(VdecCodesTest, a_fault_is_for_every_frame_or_for_one) {
  ASSERT_EQ(setenv("ANYNPU_VDEC_FAULT", "0x10002", 1), 0);
  EXPECT_EQ(injected_vdec_fault(0), 0x10002u);
  EXPECT_EQ(injected_vdec_fault(7), 0x10002u);
  ASSERT_EQ(setenv("ANYNPU_VDEC_FAULT", "65539@3", 1), 0);
  EXPECT_EQ(injected_vdec_fault(2), 0u);
  EXPECT_EQ(injected_vdec_fault(3), 0x10003u);
  ASSERT_EQ(unsetenv("ANYNPU_VDEC_FAULT"), 0);
  EXPECT_EQ(injected_vdec_fault(3), 0u);
}

}  // namespace
}  // namespace anynpu::media
