// SPDX-License-Identifier: Apache-2.0
#include "service/media/canvas_pixels.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu::media {
namespace {

std::vector<int> first_pixel(const std::vector<uint8_t>& bytes, int32_t format,
                             CanvasAlphas alphas = {128, 0},
                             const std::array<uint32_t, 16>& palette = {}) {
  const auto made = canvas_pixels(bytes.data(), static_cast<uint32_t>(bytes.size()), 1, 1, format,
                                  palette, alphas);
  const uint8_t* p = made.view().plane(0).row(0);
  return {p[0], p[1], p[2], p[3]};
}

TEST(CanvasPixels, EveryLayoutBecomesRgba) {
  EXPECT_EQ(first_pixel({3, 2, 1, 200}, 14), (std::vector<int>{1, 2, 3, 200}));
  EXPECT_EQ(first_pixel({0x0f, 0xff}, 25), (std::vector<int>{255, 0, 255, 255}));
  EXPECT_EQ(first_pixel({0x00, 0xfc}, 33), (std::vector<int>{255, 0, 0, 255}));
  std::array<uint32_t, 16> palette{};
  palette[3] = 0x80112233;
  palette[10] = 0xff445566;
  EXPECT_EQ(first_pixel({3}, 41, {128, 0}, palette), (std::vector<int>{0x11, 0x22, 0x33, 0x80}));
  EXPECT_EQ(first_pixel({10}, 42, {128, 0}, palette), (std::vector<int>{0x44, 0x55, 0x66, 0xff}));
}

TEST(CanvasPixels, AlphasOfTheRegionCount) {
  EXPECT_EQ(first_pixel({0x00, 0xfc}, 33, {64, 0})[3], 127);
  EXPECT_EQ(first_pixel({0x00, 0x7c}, 33, {128, 32})[3], 63);
  EXPECT_EQ(first_pixel({3, 2, 1, 200}, 14, {64, 0})[3], 100);
}

TEST(CanvasPixels, OtherLayoutsHaveNoBits) {
  EXPECT_EQ(canvas_bits(14), 32u);
  EXPECT_EQ(canvas_bits(41), 2u);
  EXPECT_EQ(canvas_bits(1), 0u);
}

}  // namespace
}  // namespace anynpu::media
