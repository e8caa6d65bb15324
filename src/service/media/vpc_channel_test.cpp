// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_channel.h"

#include "service/finalize.h"
#include "service/media/media_for_test.h"
#include "service/media/vpc_regions.h"

namespace anynpu::media {
namespace {

class VpcChannelTest : public MediaTest {
 protected:
  void SetUp() override {
    MediaTest::SetUp();
    auto opened = VpcChannel::open();
    ASSERT_TRUE(opened.ok()) << opened.status().message();
    channel = *opened;
  }
  void TearDown() override {
    channel->drain();
    channel.reset();
    MediaTest::TearDown();
  }
  // Runs what `add` puts into a job to its end.
  Status run(const std::function<Status(VpcJob&)>& add) {
    ANYNPU_ASSIGN(const uint32_t id, channel->run(-1, add));
    return channel->wait(id, -1);
  }

  std::shared_ptr<VpcChannel> channel;
};

TEST_F(VpcChannelTest, a_job_has_a_number_whose_result_is_fetched_once) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 90);
  const PictureSpec to = picture(pixel::kNv12, 32, 24, 0);
  const auto id = channel->run(0, [&](VpcJob& job) { return add_resize(job, from, to, 0); });
  ASSERT_TRUE(id.ok()) << id.status().message();
  EXPECT_TRUE(channel->wait(*id, -1).ok());
  EXPECT_EQ(row(to, 0)[0], 90);
  EXPECT_EQ(channel->wait(*id, -1).code(), Code::not_found);
  EXPECT_EQ(channel->wait(*id + 1, 0).code(), Code::not_found);
}

TEST_F(VpcChannelTest, times_and_work_that_cannot_be_put_together_are_refused) {
  const PictureSpec from = picture(pixel::kNv12, 64, 48, 90);
  PictureSpec small = picture(pixel::kNv12, 32, 24, 0);
  small.bytes /= 2;
  EXPECT_EQ(channel->run(-2, [](VpcJob&) { return Status(); }).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(run([&](VpcJob& job) { return add_resize(job, from, small, 0); }).code(),
            Code::invalid_argument);
  EXPECT_EQ(channel->wait(0, -2).code(), Code::invalid_argument);
}

TEST_F(VpcChannelTest, regions_are_cut_scaled_and_pasted_with_a_border) {
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

TEST_F(VpcChannelTest, regions_outside_of_a_picture_are_refused_by_number) {
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

TEST_F(VpcChannelTest, borders_and_conversions_are_checked) {
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

TEST_F(VpcChannelTest, values_are_counted_into_memory_of_the_program) {
  const PictureSpec from = picture(pixel::kYuv400, 64, 48, 90);
  auto* counts = bytes_of(std::vector<uint8_t>(3 * 256 * 4));
  ASSERT_TRUE(run([&](VpcJob& job) { return add_histogram(job, from, counts); }).ok());
  EXPECT_EQ(reinterpret_cast<uint32_t*>(counts)[90], 64u * 48);
  EXPECT_EQ(reinterpret_cast<uint32_t*>(counts)[91], 0u);
}

TEST_F(VpcChannelTest, pyramids_take_one_to_eight_levels_and_a_divisor) {
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

TEST_F(VpcChannelTest, a_matrix_is_one_of_six_or_ones_own_within_limits) {
  ChannelMatrix matrix;
  matrix.number = 3;
  EXPECT_TRUE(channel->set_matrix(matrix).ok());
  EXPECT_EQ(channel->matrix().number, 3u);
  matrix.number = 6;
  EXPECT_EQ(channel->set_matrix(matrix).code(), Code::invalid_argument);
  matrix.number = ChannelMatrix::kOwn;
  EXPECT_TRUE(channel->set_matrix(matrix).ok());
  matrix.matrix.to_yuv.m[4] = 17;
  EXPECT_EQ(channel->set_matrix(matrix).code(), Code::invalid_argument);
  EXPECT_EQ(channel->matrix().number, ChannelMatrix::kOwn);
}

TEST_F(VpcChannelTest, channels_without_a_number_get_the_lowest_free_one) {
  ASSERT_TRUE(vpc_channels().create(0, VpcChannel::open).ok());
  const auto next = create_vpc_channel();
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(*next, 1);
  EXPECT_EQ(vpc_channels().create(512, VpcChannel::open).code(), Code::invalid_device);
  stop_media_system();
  EXPECT_EQ(vpc_channels().find(0).status().code(), Code::not_found);
  EXPECT_EQ(check_media_system().code(), Code::not_initialized);
}

TEST_F(VpcChannelTest, finalising_ends_channels_that_are_open) {
  ASSERT_TRUE(vpc_channels().create(3, VpcChannel::open).ok());
  service::run_finalizers();
  EXPECT_EQ(vpc_channels().find(3).status().code(), Code::not_found);
  EXPECT_EQ(check_media_system().code(), Code::not_initialized);
}

}  // namespace
}  // namespace anynpu::media
