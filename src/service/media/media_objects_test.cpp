// SPDX-License-Identifier: Apache-2.0
#include "service/media/media_objects.h"

#include <gtest/gtest.h>

namespace anynpu::media {
namespace {

TEST(MediaObjects, pictures_of_a_batch_end_with_it) {
  EXPECT_EQ(create_batch(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_batch(257).status().code(), Code::invalid_argument);
  const auto batch = create_batch(2);
  ASSERT_TRUE(batch.ok());
  const auto picture = picture_of_batch(*batch, 1);
  ASSERT_TRUE(picture.ok());
  EXPECT_EQ(picture_of_batch(*batch, 2).status().code(), Code::invalid_argument);
  EXPECT_EQ(destroy_picture(*picture).code(), Code::invalid_argument) << "it belongs to the batch";
  EXPECT_TRUE(remove_handle<PictureBatch>(*batch).ok());
  EXPECT_EQ(destroy_picture(*picture).code(), Code::invalid_handle);
  EXPECT_EQ(remove_handle<PictureBatch>(*batch).code(), Code::invalid_handle);
}

TEST(MediaObjects, edges_of_a_region_are_in_order) {
  EXPECT_EQ(create_region({4, 3, 0, 0}).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_region({0, 0, 4, 3}).status().code(), Code::invalid_argument);
  const auto region = create_region({2, 5, 4, 4});
  ASSERT_TRUE(region.ok());
  EXPECT_TRUE(remove_handle<RegionConfig>(*region).ok());
}

TEST(MediaObjects, settings_out_of_range_change_nothing) {
  ResizeConfig resize;
  EXPECT_EQ(resize.set_interpolation(6).code(), Code::invalid_argument);
  EXPECT_EQ(resize.interpolation, 0u);
  EXPECT_TRUE(resize.set_interpolation(5).ok());
  JpegConfig jpeg;
  EXPECT_EQ(jpeg.set_level(101).code(), Code::invalid_argument);
  EXPECT_EQ(jpeg.level, 100u);
  BorderConfig border;
  EXPECT_EQ(border.set_type(4).code(), Code::invalid_argument);
  EXPECT_EQ(border.set_value(4, 1).code(), Code::invalid_argument);
  EXPECT_EQ(border.set_value(0, 256).code(), Code::invalid_argument);
  EXPECT_EQ(border.set_value(0, -1).code(), Code::invalid_argument);
  EXPECT_TRUE(border.set_value(1, 9.6).ok());
  EXPECT_EQ(*border.value_at(1), 9.6);
  EXPECT_EQ(border.value_at(4).status().code(), Code::invalid_argument);
  EXPECT_EQ(border.border().value[1], 10);
  EXPECT_EQ(check_component(3).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
