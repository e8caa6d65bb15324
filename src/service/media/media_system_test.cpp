// SPDX-License-Identifier: Apache-2.0
#include "service/media/media_system.h"

#include "service/finalize.h"
#include "service/media/media_for_test.h"
#include "service/media/vpc_channel.h"

namespace anynpu::media {
namespace {

class MediaSystemTest : public MediaTest {};  // which has started it

TEST_F(MediaSystemTest, starting_again_is_harmless) {
  ASSERT_TRUE(vpc_channels().create(3, VpcChannel::open).ok());
  EXPECT_TRUE(start_media_system().ok());
  EXPECT_TRUE(check_media_system().ok());
  EXPECT_TRUE(vpc_channels().find(3).ok());
}

TEST_F(MediaSystemTest, stopping_ends_every_channel_that_is_open) {
  ASSERT_TRUE(vpc_channels().create(3, VpcChannel::open).ok());
  stop_media_system();
  EXPECT_EQ(vpc_channels().find(3).status().code(), Code::not_found);
  EXPECT_EQ(check_media_system().code(), Code::not_initialized);
}

TEST_F(MediaSystemTest, finalising_the_library_stops_it) {
  ASSERT_TRUE(vpc_channels().create(3, VpcChannel::open).ok());
  service::run_finalizers();
  EXPECT_EQ(vpc_channels().find(3).status().code(), Code::not_found);
  EXPECT_EQ(check_media_system().code(), Code::not_initialized);
}

TEST_F(MediaSystemTest, it_starts_in_a_context) {
  stop_media_system();
  device::Runtime::instance().reset_all();
  EXPECT_EQ(start_media_system().code(), Code::no_context);
  EXPECT_EQ(check_media_system().code(), Code::not_initialized);
}

}  // namespace
}  // namespace anynpu::media
