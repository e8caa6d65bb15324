// SPDX-License-Identifier: Apache-2.0
#include "pixel/color.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "base/align.h"

namespace anynpu::pixel {
namespace {

// A picture with strides of its own; what no plane covers holds a mark.
class Own {
 public:
  Own(int32_t number, uint32_t width, uint32_t height, uint32_t extra = 0) {
    const Format& format = *find_format(number);
    const uint32_t stride = (round_up(width, 16) + extra) * format.bytes;
    picture = {&format, nullptr, width, height, stride, round_up(height, 2) + extra};
    bytes_.assign(picture_bytes(format, stride, picture.height_stride), kMark);
    picture.data = bytes_.data();
  }
  void fill_with_noise(uint32_t seed) {
    std::minstd_rand random(seed);
    for (int i = 0; i < picture.planes(); ++i) {
      const Plane plane = picture.plane(i);
      for (uint32_t y = 0; y < plane.height; ++y)
        for (uint32_t x = 0; x < plane.width * plane.channels; ++x)
          plane.row(y)[x] = static_cast<uint8_t>(random() >> 7);
    }
  }
  size_t marked() const { return std::count(bytes_.begin(), bytes_.end(), kMark); }

  static constexpr uint8_t kMark = 0x5a;
  Picture picture;

 private:
  std::vector<uint8_t> bytes_;
};

// Component 0..2 of a pixel, chroma as it is stored for it; grey has chroma 128.
uint8_t component(const Picture& p, uint32_t x, uint32_t y, int c) {
  const Format& f = *p.format;
  switch (f.packing) {
    case Packing::planar:
      return p.plane(f.at[c]).row(y)[x];
    case Packing::packed:
      return p.plane(0).row(y)[x * f.bytes + f.at[c]];
    case Packing::packed_422:
      return p.plane(0).row(y)[x / 2 * 4 + f.at[c] + (c == 0 ? (x & 1) * 2 : 0)];
    default:
      if (c == 0) return p.plane(0).row(y)[x];
      if (f.family == Family::grey) return 128;
      return p.plane(1).row(y >> f.shift_y)[(x >> f.shift_x) * 2 + f.at[c]];
  }
}

// What conversion has to give for a pixel before chroma is shared: three values.
std::array<double, 3> converted(const Picture& from, const Picture& to, uint32_t x, uint32_t y,
                                const ColorMatrix& matrix) {
  std::array<double, 3> in{}, out{};
  for (int c = 0; c < 3; ++c) in[c] = component(from, x, y, c);
  const bool from_rgb = from.format->family == Family::rgb;
  const bool to_rgb = to.format->family == Family::rgb;
  if (from_rgb == to_rgb) return in;
  const Matrix& m = to_rgb ? matrix.to_rgb : matrix.to_yuv;
  for (int c = 0; c < 3; ++c)
    out[c] =
        std::clamp(m.m[3 * c] * in[0] + m.m[3 * c + 1] * in[1] + m.m[3 * c + 2] * in[2] + m.bias[c],
                   0.0, 255.0);
  return out;
}

void expect_converted(const Picture& from, const Picture& to, const ColorMatrix& matrix) {
  const Format& f = *to.format;
  for (uint32_t y = 0; y < to.height; ++y) {
    for (uint32_t x = 0; x < to.width; ++x) {
      for (int c = 0; c < (f.family == Family::grey ? 1 : 3); ++c) {
        // Chroma that pixels share is the mean of theirs, of those that there are.
        const uint32_t sx = c && f.family == Family::yuv ? f.shift_x : 0;
        const uint32_t sy = c && f.family == Family::yuv ? f.shift_y : 0;
        double sum = 0;
        int count = 0;
        for (uint32_t py = y >> sy << sy; py < std::min(((y >> sy) + 1) << sy, to.height); ++py) {
          for (uint32_t px = x >> sx << sx; px < std::min(((x >> sx) + 1) << sx, to.width); ++px) {
            sum += converted(from, to, px, py, matrix)[c];
            ++count;
          }
        }
        ASSERT_NEAR(component(to, x, y, c), sum / count, 1.51)
            << from.format->name << " to " << f.name << " at " << x << "," << y << " part " << c;
      }
    }
  }
}

TEST(ColorTest, every_layout_becomes_every_other_for_even_and_odd_sizes) {
  for (const auto& [width, height] : {std::pair{32u, 6u}, {17u, 5u}, {2u, 2u}, {1u, 1u}}) {
    for (const Format& from : formats()) {
      for (const Format& to : formats()) {
        Own source(from.number, width, height, 16);
        Own target(to.number, width, height, 32);
        source.fill_with_noise(from.number + width);
        convert(source.picture, target.picture, color_matrix(0));
        expect_converted(source.picture, target.picture, color_matrix(0));
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST(ColorTest, all_six_matrices_are_those_of_their_standards) {
  constexpr double kRed[] = {0.299, 0.2126, 0.2627};
  constexpr double kBlue[] = {0.114, 0.0722, 0.0593};
  for (uint32_t number = 0; number < kColorMatrices; ++number) {
    const double kr = kRed[number / 2], kb = kBlue[number / 2];
    const double low = number % 2 ? 16 : 0, high = number % 2 ? 235 : 255;
    Own rgb(kRgb888, 3, 1);
    Own yuv(kYuv444sp, 3, 1);
    const uint8_t pixels[] = {255, 255, 255, 0, 0, 0, 255, 0, 0};
    std::copy(std::begin(pixels), std::end(pixels), rgb.picture.data);
    convert(rgb.picture, yuv.picture, color_matrix(number));
    const uint8_t* luma = yuv.picture.plane(0).row(0);
    const uint8_t* chroma = yuv.picture.plane(1).row(0);
    EXPECT_NEAR(luma[0], high, 1);
    EXPECT_NEAR(luma[1], low, 1);
    EXPECT_NEAR(luma[2], low + kr * (high - low), 1);
    EXPECT_NEAR(chroma[0], 128, 1);
    const double chroma_span = number % 2 ? 224.0 / 255 : 1;
    EXPECT_NEAR(chroma[4], 128 - kr / (2 * (1 - kb)) * 255 * chroma_span, 1);
    EXPECT_NEAR(chroma[5], std::min(255.0, 128 + 0.5 * 255 * chroma_span), 1);
  }
}

TEST(ColorTest, there_and_back_loses_at_most_rounding_without_shared_chroma) {
  Own yuv(kYuv444sp, 64, 8);
  Own rgb(kRgb888, 64, 8);
  Own back(kYuv444sp, 64, 8);
  for (int i = 0; i < 2; ++i) {
    const Plane plane = yuv.picture.plane(i);
    for (uint32_t y = 0; y < plane.height; ++y)  // colours that RGB can hold
      for (uint32_t x = 0; x < plane.width * plane.channels; ++x)
        plane.row(y)[x] = static_cast<uint8_t>(i == 0 ? 96 + (x + y) % 64 : 112 + (x * 7 + y) % 32);
  }
  for (uint32_t number = 0; number < kColorMatrices; ++number) {
    convert(yuv.picture, rgb.picture, color_matrix(number));
    convert(rgb.picture, back.picture, color_matrix(number));
    for (uint32_t y = 0; y < 8; ++y)
      for (uint32_t x = 0; x < 64; ++x)
        for (int c = 0; c < 3; ++c)
          ASSERT_NEAR(component(back.picture, x, y, c), component(yuv.picture, x, y, c), 2);
  }
}

TEST(ColorTest, bytes_around_the_picture_are_left_as_they_were) {
  Own source(kRgb888, 17, 5);
  source.fill_with_noise(1);
  for (const Format& to : formats()) {
    Own target(to.number, 17, 5, 16);
    Own empty(to.number, 17, 5, 16);
    size_t covered = 0;
    for (int i = 0; i < empty.picture.planes(); ++i) {
      const Plane plane = empty.picture.plane(i);
      covered += size_t{plane.width} * plane.height * plane.channels;
    }
    convert(source.picture, target.picture, color_matrix(0));
    EXPECT_GE(target.marked(), empty.marked() - covered) << to.name;
    // The same conversion over other bytes: what differs is outside, and was not touched.
    const Plane last = target.picture.plane(target.picture.planes() - 1);
    EXPECT_EQ(last.row(last.height - 1)[last.stride - 1], Own::kMark) << to.name;
  }
}

TEST(ColorTest, alpha_is_kept_where_there_is_some_and_given_where_there_is_none) {
  Own rgb(kRgb888, 2, 1);
  Own rgba(kRgba8888, 2, 1);
  Own bgra(17, 2, 1);
  rgb.fill_with_noise(2);
  convert(rgb.picture, rgba.picture, color_matrix(0), 77);
  EXPECT_EQ(rgba.picture.data[3], 77);
  rgba.picture.data[7] = 9;
  convert(rgba.picture, bgra.picture, color_matrix(0), 200);
  EXPECT_EQ(bgra.picture.data[3], 77);
  EXPECT_EQ(bgra.picture.data[7], 9);
  EXPECT_EQ(bgra.picture.data[0], rgb.picture.data[2]);
}

}  // namespace
}  // namespace anynpu::pixel
