// SPDX-License-Identifier: Apache-2.0
#include "service/media/picture_strides.h"

#include <algorithm>

#include "base/align.h"

namespace anynpu::media {
namespace {

constexpr uint32_t kLargestSide = 8192;

}  // namespace

Result<PictureStrides> strides_for(std::span<const Unit> units, int32_t number, uint32_t width,
                                   uint32_t height) {
  ANYNPU_ASSIGN(const pixel::Format* format, check_format(number, kVpcRules, "picture"));
  if (width < 1 || height < 1 || width > kLargestSide || height > kLargestSide)
    return fail(Code::invalid_argument, "the picture has {}x{} pixels; expected 1x1 to 8192x8192",
                width, height);
  uint32_t wide = 1, high = 1;
  for (const Unit unit : units) {
    // Each of these numbers divides the larger ones.
    const bool jpeg_decoder = unit == Unit::jpegd;
    wide = std::max(wide, jpeg_decoder ? 128u : 16u);
    high = std::max(high, jpeg_decoder ? 16u : 2u);
  }
  PictureStrides strides;
  strides.width_stride = round_up(width, wide) * format->bytes;
  strides.height_stride = round_up(height, high);
  strides.bytes = pixel::picture_bytes(*format, strides.width_stride, strides.height_stride);
  return strides;
}

Result<uint32_t> decoded_picture_bytes(uint32_t width, uint32_t height, uint32_t align,
                                       uint32_t bytes_per_sample) {
  if (align == 0) align = 16;
  if (align > 1024 || width > kLargestSide || height > kLargestSide)
    return fail(Code::invalid_argument, "{}x{} pixels aligned to {} are out of range", width,
                height, align);
  const uint64_t luma = uint64_t{round_up(width, align)} * round_up(height, 2);
  return static_cast<uint32_t>(luma * 3 / 2 * bytes_per_sample);
}

Result<uint32_t> motion_buffer_bytes(uint32_t width, uint32_t height) {
  if (width > kLargestSide || height > kLargestSide)
    return fail(Code::invalid_argument, "{}x{} pixels are out of range", width, height);
  // Sixteen bytes for each block of 16x16.
  return round_up(width, 64) / 16 * (round_up(height, 64) / 16) * 16;
}

}  // namespace anynpu::media
