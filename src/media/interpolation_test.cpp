// SPDX-License-Identifier: Apache-2.0
#include "media/interpolation.h"

#include <gtest/gtest.h>

namespace anynpu::media {
namespace {

using pixel::Interpolation;

TEST(Interpolation, TheFirstInterfaceHasADefaultThatIsTheChips) {
  EXPECT_EQ(*interpolation_of(0, Version::v1, "Ascend310"), Interpolation::nearest);
  EXPECT_EQ(*interpolation_of(0, Version::v1, "Ascend910"), Interpolation::nearest);
  EXPECT_EQ(*interpolation_of(0, Version::v1, "Ascend310P3"), Interpolation::bilinear);
  EXPECT_EQ(*interpolation_of(0, Version::v1, "Ascend310B4"), Interpolation::bilinear);
  EXPECT_EQ(*interpolation_of(1, Version::v1, "Ascend310"), Interpolation::bilinear);
  EXPECT_EQ(*interpolation_of(2, Version::v1, "Ascend310P3"), Interpolation::nearest);
}

TEST(Interpolation, TheSecondInterfaceCountsFromBilinear) {
  EXPECT_EQ(*interpolation_of(0, Version::v2, "Ascend310P3"), Interpolation::bilinear);
  EXPECT_EQ(*interpolation_of(1, Version::v2, "Ascend310P3"), Interpolation::nearest);
  EXPECT_EQ(*interpolation_of(5, Version::v2, "Ascend310P3"), Interpolation::high_order);
}

TEST(Interpolation, OtherNumbersAreRefused) {
  EXPECT_EQ(interpolation_of(6, Version::v1).status().code(), Code::invalid_argument);
  EXPECT_EQ(interpolation_of(6, Version::v2).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::media
