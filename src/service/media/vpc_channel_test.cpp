// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_channel.h"

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

}  // namespace
}  // namespace anynpu::media
