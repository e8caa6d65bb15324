// SPDX-License-Identifier: Apache-2.0
// Shapes over pictures of every layout: what they cover has the colour, the rest stays as it was.
#include "pixel/draw.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace anynpu::pixel {
namespace {

constexpr uint32_t kWidth = 21, kHeight = 13;  // odd, so that chroma samples hang over
constexpr uint8_t kBefore = 77;

OwnPicture grey_picture(const Format& format) {
  OwnPicture picture(format, kWidth, kHeight);
  std::fill_n(picture.view().data,
              picture_bytes(format, picture.view().width_stride, picture.view().height_stride),
              kBefore);
  return picture;
}

// Samples of a plane that are no longer what they were.
uint32_t changed(const Picture& picture, int plane) {
  const Plane p = picture.plane(plane);
  uint32_t count = 0;
  for (uint32_t y = 0; y < p.height; ++y)
    for (uint32_t x = 0; x < p.width; ++x)
      count += std::any_of(p.row(y) + x * p.channels, p.row(y) + (x + 1) * p.channels,
                           [](uint8_t value) { return value != kBefore; });
  return count;
}

bool drawable(const Format& format) { return format.packing != Packing::packed_422; }

TEST(DrawTest, a_rectangle_at_the_corner_covers_its_pixels_and_the_chroma_they_share) {
  for (const Format& format : formats()) {
    if (!drawable(format)) continue;
    const OwnPicture own = grey_picture(format);
    const Picture& picture = own.view();
    paint(picture, rectangle({kWidth - 3, kHeight - 1, 3, 1}),
          {BorderKind::constant, {10, 20, 30, 40}});
    EXPECT_EQ(changed(picture, 0), 3u) << format.name;
    if (picture.planes() == 2) {
      EXPECT_EQ(changed(picture, 1), format.shift_x ? 2u : 3u) << format.name;
    }
    // Rows of padding are not the picture's.
    const uint8_t* padding = picture.data + size_t{picture.width_stride} * kHeight;
    EXPECT_TRUE(std::all_of(padding, padding + picture.width_stride, [](uint8_t value) {
      return value == kBefore;
    })) << format.name;
  }
}

TEST(DrawTest, lines_are_cut_at_the_edge_of_the_picture) {
  const OwnPicture own = grey_picture(*find_format(kYuv400));
  const Picture& picture = own.view();
  paint(picture, line({0, 0}, {kWidth - 1, 0}, 5, picture), {BorderKind::constant, {1, 1, 1, 1}});
  EXPECT_EQ(changed(picture, 0), 3 * kWidth) << "rows 0 to 2: at most 2.5 away";
}

TEST(DrawTest, a_quadrangle_holds_its_corners_and_its_inside) {
  const Shape shape = quadrangle({Spot{2, 2}, {12, 2}, {12, 8}, {2, 8}});
  for (uint32_t y = 0; y < kHeight; ++y)
    for (uint32_t x = 0; x < kWidth; ++x)
      EXPECT_EQ(shape.covers(x, y), x >= 2 && x <= 12 && y >= 2 && y <= 8) << x << "," << y;
  EXPECT_EQ(shape.bounds.width, 11u);
  EXPECT_EQ(shape.bounds.height, 7u);
}

TEST(DrawTest, a_colour_becomes_what_the_layout_holds) {
  const ColorMatrix& wide = color_matrix(0);
  const Border rgb = color_of(*find_format(kBgr888), 0x102030, wide);
  EXPECT_EQ(rgb.value[0], 0x10);
  EXPECT_EQ(rgb.value[2], 0x30);
  const Border white = color_of(*find_format(kNv12), 0xffffff, wide);
  EXPECT_EQ(white.value[0], 255);
  EXPECT_EQ(white.value[1], 128);
  EXPECT_EQ(white.value[2], 128);
}

TEST(DrawTest, blocks_of_a_mosaic_have_their_mean) {
  for (const Format& format : formats()) {
    if (!drawable(format)) continue;
    const OwnPicture own = grey_picture(format);
    const Picture& picture = own.view();
    for (int i = 0; i < picture.planes(); ++i) picture.plane(i).row(0)[0] = kBefore + 16;
    pixelate(picture, picture.all(), 4);
    EXPECT_EQ(picture.plane(0).row(0)[0], kBefore + 1) << format.name;
    EXPECT_EQ(changed(picture, 0), 16u) << format.name;
  }
}

}  // namespace
}  // namespace anynpu::pixel
