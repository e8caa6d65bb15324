// SPDX-License-Identifier: Apache-2.0
#include "service/media/picture_strides.h"

#include <gtest/gtest.h>

namespace anynpu::media {
namespace {

TEST(PictureStridesTest, strides_fit_every_unit_that_uses_the_picture) {
  const Unit units[] = {Unit::vpc, Unit::jpegd};
  const auto both = strides_for(units, pixel::kNv12, 100, 50);
  ASSERT_TRUE(both.ok());
  EXPECT_EQ(both->width_stride, 128u);
  EXPECT_EQ(both->height_stride, 64u);
  EXPECT_EQ(both->bytes, 128u * 64 * 3 / 2);
  EXPECT_EQ(strides_for({units, 1}, pixel::kNv12, 100, 50)->width_stride, 112u);
  EXPECT_EQ(strides_for(units, pixel::kNv12, 0, 50).status().code(), Code::invalid_argument);
  EXPECT_EQ(strides_for(units, 999, 100, 50).status().code(), Code::invalid_argument);
  EXPECT_EQ(*decoded_picture_bytes(100, 50, 0, 1), 112u * 50 * 3 / 2);
  EXPECT_EQ(decoded_picture_bytes(9000, 50, 0, 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(motion_buffer_bytes(9000, 50).status().code(), Code::invalid_argument);
}

TEST(PictureStridesTest, decoded_pictures_have_rows_of_the_alignment_asked_for) {
  EXPECT_EQ(*decoded_picture_bytes(100, 50, 64, 1), 128u * 50 * 3 / 2);
  EXPECT_EQ(*decoded_picture_bytes(100, 50, 64, 2), 2 * 128u * 50 * 3 / 2);
  EXPECT_GT(*motion_buffer_bytes(1920, 1080), 0u);
}

}  // namespace
}  // namespace anynpu::media
