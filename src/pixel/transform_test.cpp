// SPDX-License-Identifier: Apache-2.0
#include "pixel/transform.h"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <random>

#include "pixel/count_copies.h"

namespace anynpu::pixel {
namespace {

void fill_with_noise(const Picture& picture, uint32_t seed) {
  std::minstd_rand random(seed);
  for (int i = 0; i < picture.planes(); ++i) {
    const Plane plane = picture.plane(i);
    for (uint32_t y = 0; y < plane.height; ++y)
      for (uint32_t x = 0; x < plane.width * plane.channels; ++x)
        plane.row(y)[x] = static_cast<uint8_t>(random() >> 7);
  }
}

void fill(const Picture& picture, uint8_t value) {
  std::memset(picture.data, value,
              picture_bytes(*picture.format, picture.width_stride, picture.height_stride));
}

bool equal(const Plane& a, const Plane& b) {
  if (a.width != b.width || a.height != b.height || a.channels != b.channels) return false;
  for (uint32_t y = 0; y < a.height; ++y)
    if (std::memcmp(a.row(y), b.row(y), size_t{a.width} * a.channels) != 0) return false;
  return true;
}

size_t different_from(const Picture& picture, uint8_t value) {
  const size_t bytes = picture_bytes(*picture.format, picture.width_stride, picture.height_stride);
  size_t count = 0;
  for (size_t i = 0; i < bytes; ++i) count += picture.data[i] != value;
  return count;
}

TEST(TransformTest, a_region_is_pasted_and_everything_else_stays_in_every_layout) {
  for (const Format& format : formats()) {
    const OwnPicture from(format, 64, 32);
    const OwnPicture to(format, 48, 48);
    fill_with_noise(from.view(), 1);
    fill(to.view(), 0x33);
    Transform t;
    t.from = from.view();
    t.crop = {8, 4, 32, 16};
    t.to = to.view();
    t.paste = {10, 20, 32, 16};
    transform(t);
    const auto wanted = from.view().planes_of(t.crop);
    const auto got = to.view().planes_of(t.paste);
    size_t inside = 0;
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(equal(wanted[i], got[i])) << format.name;
      inside += size_t{got[i].width} * got[i].height * got[i].channels;
    }
    EXPECT_LE(different_from(to.view(), 0x33), inside) << format.name;
  }
}

TEST(TransformTest, crop_scale_and_conversion_at_once_equal_the_steps_one_after_the_other) {
  const Format& nv12 = *find_format(kNv12);
  const Format& rgb = *find_format(kRgb888);
  const OwnPicture from(nv12, 96, 80);
  fill_with_noise(from.view(), 2);
  const OwnPicture at_once(rgb, 40, 30);
  Transform t;
  t.from = from.view();
  t.crop = {16, 10, 64, 50};
  t.to = at_once.view();
  t.paste = t.to.all();
  t.interpolation = Interpolation::bilinear;
  transform(t);

  const OwnPicture scaled(nv12, 40, 30);
  Transform scale = t;
  scale.to = scaled.view();
  transform(scale);
  const OwnPicture converted(rgb, 40, 30);
  convert(scaled.view(), converted.view(), color_matrix(0));
  EXPECT_TRUE(equal(at_once.view().plane(0), converted.view().plane(0)));
}

TEST(TransformTest, no_picture_is_copied_that_the_call_does_not_ask_for) {
  const OwnPicture nv12(*find_format(kNv12), 64, 48);
  const OwnPicture small(*find_format(kNv12), 32, 32);
  const OwnPicture rgb(*find_format(kRgb888), 64, 48);
  const OwnPicture small_rgb(*find_format(kRgb888), 32, 32);
  const auto copies = [](const Picture& from, const Rect& crop, const Picture& to,
                         const Rect& paste) {
    Transform t;
    t.from = from;
    t.crop = crop;
    t.to = to;
    t.paste = paste;
    t.interpolation = Interpolation::bilinear;
    return Copies::of([&] { transform(t); });
  };
  const Rect part{8, 8, 32, 32};
  EXPECT_EQ(copies(nv12.view(), nv12.view().all(), small.view(), small.view().all()), 0) << "scale";
  EXPECT_EQ(copies(nv12.view(), part, small.view(), small.view().all()), 0) << "crop";
  EXPECT_EQ(copies(nv12.view(), {0, 0, 20, 20}, small.view(), {4, 4, 16, 16}), 0) << "paste";
  EXPECT_EQ(copies(nv12.view(), nv12.view().all(), rgb.view(), rgb.view().all()), 0) << "convert";
  EXPECT_EQ(copies(nv12.view(), nv12.view().all(), small_rgb.view(), small_rgb.view().all()), 1)
      << "scale, then convert";
  EXPECT_EQ(copies(nv12.view(), part, small_rgb.view(), small_rgb.view().all()), 1)
      << "crop, then convert";
  EXPECT_EQ(copies(nv12.view(), {0, 0, 32, 32}, small_rgb.view(), {0, 0, 16, 16}), 2)
      << "scale, convert, then paste";
}

TEST(TransformTest, packed_4_2_2_is_scaled_pixel_by_pixel) {
  const Format& yuyv = *find_format(7);
  const OwnPicture from(yuyv, 32, 8);
  for (uint32_t y = 0; y < 8; ++y)
    for (uint32_t x = 0; x < 16; ++x) {
      uint8_t* pair = from.view().plane(0).row(y) + x * 4;
      pair[0] = static_cast<uint8_t>(8 * x);
      pair[1] = 90;
      pair[2] = static_cast<uint8_t>(8 * x + 4);
      pair[3] = 170;
    }
  const OwnPicture to(yuyv, 16, 4);
  Transform t;
  t.from = from.view();
  t.crop = t.from.all();
  t.to = to.view();
  t.paste = t.to.all();
  transform(t);
  for (uint32_t x = 0; x < 8; ++x) {
    const uint8_t* pair = to.view().plane(0).row(1) + x * 4;
    EXPECT_EQ(pair[0], 16 * x);
    EXPECT_EQ(pair[2], 16 * x + 8);
    EXPECT_EQ(pair[1], 90);
    EXPECT_EQ(pair[3], 170);
  }
}

TEST(TransformTest, borders_read_by_their_rule) {
  const uint8_t line[] = {1, 2, 3};
  const struct {
    BorderKind kind;
    uint8_t wanted[9];
  } cases[] = {{BorderKind::constant, {7, 7, 7, 1, 2, 3, 7, 7, 7}},
               {BorderKind::replicate, {1, 1, 1, 1, 2, 3, 3, 3, 3}},
               {BorderKind::reflect, {3, 2, 1, 1, 2, 3, 3, 2, 1}},
               {BorderKind::reflect_101, {2, 3, 2, 1, 2, 3, 2, 1, 2}},
               {BorderKind::wrap, {1, 2, 3, 1, 2, 3, 1, 2, 3}}};
  for (const auto& one : cases) {
    const OwnPicture picture(*find_format(kYuv400), 9, 3);
    std::memcpy(picture.view().plane(0).row(1) + 3, line, 3);
    fill_border(picture.view(), {3, 1, 3, 1}, {one.kind, {7}});
    EXPECT_EQ(std::memcmp(picture.view().plane(0).row(1), one.wanted, 9), 0)
        << static_cast<int>(one.kind);
  }
}

TEST(TransformTest, a_histogram_counts_every_stored_sample_once) {
  for (const Format& format : formats()) {
    const OwnPicture picture(format, 33, 7);
    fill_with_noise(picture.view(), 5);
    Histogram histogram;
    count_values(picture.view(), &histogram);
    for (int c = 0; c < components(format); ++c) {
      const uint32_t sum =
          std::accumulate(std::begin(histogram.count[c]), std::end(histogram.count[c]), 0u);
      const bool shared = c > 0 && format.family == Family::yuv;
      uint32_t wanted = (shared ? (33u + (1u << format.shift_x) - 1) >> format.shift_x : 33u) *
                        (shared && format.packing == Packing::semiplanar
                             ? (7u + (1u << format.shift_y) - 1) >> format.shift_y
                             : 7u);
      if (format.packing == Packing::packed_422 && c == 0) wanted = 34 * 7;  // a pair is stored
      EXPECT_EQ(sum, wanted) << format.name << " part " << c;
    }
  }
}

TEST(TransformTest, the_pyramid_keeps_a_flat_picture_and_halves_its_size) {
  const OwnPicture from(*find_format(kNv12), 34, 18);
  fill(from.view(), 99);
  const OwnPicture to(*find_format(kNv12), 17, 9);
  pyramid_down(from.view(), to.view(), gaussian_5x5(), {BorderKind::reflect_101, {}});
  for (int i = 0; i < 2; ++i) {
    const Plane plane = to.view().plane(i);
    for (uint32_t y = 0; y < plane.height; ++y)
      for (uint32_t x = 0; x < plane.width * plane.channels; ++x) ASSERT_EQ(plane.row(y)[x], 99);
  }
}

}  // namespace
}  // namespace anynpu::pixel
