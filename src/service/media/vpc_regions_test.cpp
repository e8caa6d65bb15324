// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_regions.h"

#include "service/media/vpc_for_test.h"

namespace anynpu::media {
namespace {

using VpcRegionsTest = VpcWorkTest;

TEST_F(VpcRegionsTest, regions_are_cut_scaled_and_pasted_with_a_border) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 90);
  RegionSpec region;
  region.to = picture(pixel::kNv12, 64, 64, 0);
  region.crop = {0, 0, 32, 32};
  region.resize = VpcJob::Scale{16, 16, 0};
  region.left = 16;
  region.top = 8;
  region.border = BorderSpec{0, {7, 7, 7, 7}};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_regions(job, from, {&region, 1}); }).ok());
  EXPECT_EQ(row(region.to, 8)[16], 90);
  EXPECT_EQ(row(region.to, 23)[31], 90);
  EXPECT_EQ(row(region.to, 8)[15], 7);
  EXPECT_EQ(row(region.to, 7)[16], 7);
}

TEST_F(VpcRegionsTest, regions_outside_of_a_picture_are_refused_by_number) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 90);
  RegionSpec good;
  good.to = picture(pixel::kNv12, 32, 32, 0);
  good.crop = {0, 0, 32, 32};
  RegionSpec bad = good;
  bad.crop.left = 40;
  const RegionSpec both[] = {good, bad};
  const Status status = run([&](VpcJob& job) { return add_regions(job, from, both); });
  EXPECT_EQ(status.code(), Code::invalid_argument);
  EXPECT_NE(status.to_string().find("region 1"), std::string::npos) << status.to_string();
  bad.crop = {};
  EXPECT_EQ(run([&](VpcJob& job) {
              return add_regions(job, from, {&bad, 1});
            }).code(),
            Code::invalid_argument);
  EXPECT_EQ(check_region_count(0).code(), Code::invalid_argument);
  EXPECT_EQ(check_region_count(kMostRegions + 1).code(), Code::invalid_argument);
}

TEST_F(VpcRegionsTest, borders_and_conversions_are_checked) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 90);
  const PictureSpec to = picture(pixel::kRgb888, 64, 48, 0);
  EXPECT_EQ(check_border({5, {}}).status().code(), Code::invalid_argument);
  EXPECT_EQ(check_border({-1, {}}).status().code(), Code::invalid_argument);
  EXPECT_EQ(check_border({0, {0, 0, 256, 0}}).status().code(), Code::invalid_argument);
  EXPECT_EQ(run([&](VpcJob& job) { return add_yuv420_conversion(job, from, to); }).code(),
            Code::invalid_argument);
  EXPECT_EQ(run([&](VpcJob& job) { return add_alpha_conversion(job, from, to, 256); }).code(),
            Code::invalid_argument);
  EXPECT_TRUE(run([&](VpcJob& job) { return add_alpha_conversion(job, from, to, 255); }).ok());
}

TEST_F(VpcRegionsTest, values_are_counted_into_memory_of_the_program) {
  const PictureSpec from = picture(pixel::kYuv400, 64, 48, 90);
  auto* counts = bytes_of(std::vector<uint8_t>(3 * 256 * 4));
  ASSERT_TRUE(run([&](VpcJob& job) { return add_histogram(job, from, counts); }).ok());
  EXPECT_EQ(reinterpret_cast<uint32_t*>(counts)[90], 64u * 48);
  EXPECT_EQ(reinterpret_cast<uint32_t*>(counts)[91], 0u);
}

TEST_F(VpcRegionsTest, pyramids_take_one_to_eight_levels_and_a_divisor) {
  const PictureSpec from = picture(pixel::kYuv400, 64, 48, 90);
  const PictureSpec half = picture(pixel::kYuv400, 32, 24, 0);
  PyramidSpec pyramid{{&half, 1}, nullptr, 0, {3, {}}};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_pyramid(job, from, pyramid); }).ok());
  EXPECT_EQ(row(half, 12)[16], 90);
  pyramid.filter = bytes_of(std::vector<uint8_t>(25, 1));
  EXPECT_EQ(run([&](VpcJob& job) { return add_pyramid(job, from, pyramid); }).code(),
            Code::invalid_argument);
  EXPECT_EQ(check_level_count(0).code(), Code::invalid_argument);
  EXPECT_EQ(check_level_count(9).code(), Code::invalid_argument);
}

TEST_F(VpcRegionsTest, a_picture_stands_inside_its_border) {
  const PictureSpec from = picture(pixel::kYuv400, 16, 8, 90),
                    to = picture(pixel::kYuv400, 32, 16, 0);
  const BorderSpec grey{0, {7, 7, 7, 7}};
  ASSERT_TRUE(run([&](VpcJob& job) { return add_bordered(job, from, to, 4, 2, grey); }).ok());
  EXPECT_EQ(row(to, 2)[4], 90);
  EXPECT_EQ(row(to, 9)[19], 90);
  EXPECT_EQ(row(to, 2)[3], 7);
  EXPECT_EQ(row(to, 10)[19], 7);
  EXPECT_EQ(code_of([&](VpcJob& job) { return add_bordered(job, from, to, 20, 2, grey); }),
            Code::invalid_argument)
      << "it does not fit there";
}

}  // namespace
}  // namespace anynpu::media
