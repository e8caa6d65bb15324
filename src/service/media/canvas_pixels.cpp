// SPDX-License-Identifier: Apache-2.0
#include "service/media/canvas_pixels.h"

#include <algorithm>
#include <cstring>

namespace anynpu::media {
namespace {

enum Layout : int32_t { kArgb8888 = 14, kArgb4444 = 25, kArgb1555 = 33, kClut2 = 41, kClut4 = 42 };

uint32_t spread(uint32_t value, int bits) { return value * 255 / ((1u << bits) - 1); }

uint32_t argb(uint32_t a, uint32_t r, uint32_t g, uint32_t b) {
  return a << 24 | r << 16 | g << 8 | b;
}

template <typename Word>
Word word_at(const uint8_t* row, uint32_t x) {
  Word word;
  std::memcpy(&word, row + x * sizeof word, sizeof word);
  return word;
}

// A pixel as 0xAARRGGBB; of one bit of alpha, the alphas of the region.
uint32_t argb_at(const uint8_t* row, uint32_t x, int32_t format,
                 const std::array<uint32_t, 16>& palette) {
  switch (format) {
    case kArgb8888:
      return word_at<uint32_t>(row, x);
    case kArgb4444: {
      const uint32_t v = word_at<uint16_t>(row, x);
      return argb(spread(v >> 12 & 15, 4), spread(v >> 8 & 15, 4), spread(v >> 4 & 15, 4),
                  spread(v & 15, 4));
    }
    case kArgb1555: {
      const uint32_t v = word_at<uint16_t>(row, x);
      return argb(v >> 15 ? 255 : 0, spread(v >> 10 & 31, 5), spread(v >> 5 & 31, 5),
                  spread(v & 31, 5));
    }
    case kClut2:
      return palette[row[x / 4] >> (x % 4 * 2) & 3];
    default:
      return palette[row[x / 2] >> (x % 2 * 4) & 15];
  }
}

uint32_t alpha_of(uint32_t alpha, int32_t format, CanvasAlphas alphas) {
  if (format == kArgb1555) return (alpha ? alphas.front : alphas.back) * 255 / 128;
  return alpha * alphas.front / 128;
}

}  // namespace

uint32_t canvas_bits(int32_t format) {
  switch (format) {
    case kArgb8888:
      return 32;
    case kArgb4444:
    case kArgb1555:
      return 16;
    case kClut2:
      return 2;
    case kClut4:
      return 4;
    default:
      return 0;
  }
}

pixel::OwnPicture canvas_pixels(const uint8_t* data, uint32_t stride, uint32_t width,
                                uint32_t height, int32_t format,
                                const std::array<uint32_t, 16>& palette, CanvasAlphas alphas) {
  pixel::OwnPicture made(*pixel::find_format(pixel::kRgba8888), width, height);
  for (uint32_t y = 0; y < height; ++y) {
    uint8_t* to = made.view().plane(0).row(y);
    for (uint32_t x = 0; x < width; ++x, to += 4) {
      const uint32_t from = argb_at(data + size_t{y} * stride, x, format, palette);
      to[0] = static_cast<uint8_t>(from >> 16);
      to[1] = static_cast<uint8_t>(from >> 8);
      to[2] = static_cast<uint8_t>(from);
      to[3] = static_cast<uint8_t>(std::min(alpha_of(from >> 24, format, alphas), 255u));
    }
  }
  return made;
}

}  // namespace anynpu::media
