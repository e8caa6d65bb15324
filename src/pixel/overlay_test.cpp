// SPDX-License-Identifier: Apache-2.0
#include "pixel/overlay.h"

#include <gtest/gtest.h>

#include <cstring>

namespace anynpu::pixel {
namespace {

// A picture of one RGBA value.
OwnPicture one_color(uint32_t width, uint32_t height, const uint8_t (&rgba)[4]) {
  OwnPicture made(*find_format(kRgba8888), width, height);
  for (uint32_t y = 0; y < height; ++y)
    for (uint32_t x = 0; x < width; ++x) std::memcpy(made.view().plane(0).row(y) + x * 4, rgba, 4);
  return made;
}

TEST(Overlay, AlphaMixesThePictures) {
  const OwnPicture below(*find_format(kRgb888), 8, 8);
  lay_over(one_color(4, 4, {200, 100, 0, 255}).view(), below.view(), {2, 2}, color_matrix(0));
  lay_over(one_color(2, 2, {100, 100, 100, 51}).view(), below.view(), {0, 0}, color_matrix(0));
  const Plane plane = below.view().plane(0);
  EXPECT_EQ(plane.row(2)[2 * 3], 200);
  EXPECT_EQ(plane.row(5)[5 * 3 + 1], 100);
  EXPECT_EQ(plane.row(6)[6 * 3], 0);
  EXPECT_EQ(plane.row(0)[0], 20) << "a fifth of 100";
}

TEST(Overlay, ChromaIsMixedWithItsPixels) {
  const OwnPicture below(*find_format(kNv12), 8, 8);
  std::memset(below.view().data, 128, 8);
  lay_over(one_color(4, 4, {255, 255, 255, 255}).view(), below.view(), {4, 4}, color_matrix(0));
  EXPECT_EQ(below.view().plane(0).row(4)[4], 255);
  EXPECT_EQ(below.view().plane(0).row(3)[4], 0);
  EXPECT_EQ(below.view().plane(1).row(2)[4], 128);
  EXPECT_EQ(below.view().plane(1).row(1)[4], 0);
}

TEST(Overlay, WhatLiesOutsideIsCutOff) {
  const OwnPicture below(*find_format(kRgb888), 4, 4);
  lay_over(one_color(4, 4, {9, 9, 9, 255}).view(), below.view(), {-2, 2}, color_matrix(0));
  EXPECT_EQ(below.view().plane(0).row(2)[0], 9);
  EXPECT_EQ(below.view().plane(0).row(2)[2 * 3], 0);
}

}  // namespace
}  // namespace anynpu::pixel
