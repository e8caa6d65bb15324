// SPDX-License-Identifier: Apache-2.0
// Image files to RGB, for ImageDecoder. JPEG and PNG are decoded by the image plug-in
// (libanynpu_image.so), BMP and PNM here. Thread-safe: no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace anynpu::ops::image_decoder {

using FileBytes = std::span<const uint8_t>;

// Three bytes per pixel, rows without padding.
struct RgbPicture {
  uint32_t width = 0, height = 0;
  std::vector<uint8_t> pixels;

  // Room for the pixels. Fails with file_invalid for sizes of 0, unsupported_shape for absurd ones.
  Status resize(uint64_t new_width, uint64_t new_height);
};

// What the plug-in offers. A file that is damaged fails with file_invalid.
class RgbCodec {
 public:
  virtual ~RgbCodec() = default;
  virtual Result<RgbPicture> decode_jpeg(FileBytes file) const = 0;
  virtual Result<RgbPicture> decode_png(FileBytes file) const = 0;
};

Result<RgbPicture> decode_bmp(FileBytes file);
Result<RgbPicture> decode_pnm(FileBytes file);

// The format is recognised by the first bytes. Damaged and unknown files fail with file_invalid;
// known formats without a decoder here, and a missing plug-in, with unsupported_feature.
Result<RgbPicture> decode_picture(FileBytes file);

}  // namespace anynpu::ops::image_decoder

extern "C" const anynpu::ops::image_decoder::RgbCodec* anynpu_rgb_codec();
