// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG files for programs: limits, layouts, sizes. The plug-in and src/pixel do the work.
// Functions read and write memory that the caller has checked.
#pragma once

#include <cstdint>

#include "media/image_codec.h"
#include "media/rules.h"
#include "pixel/color.h"

namespace anynpu::media {

// Refuses pictures larger than the units support (8192x8192).
Result<JpegInfo> jpeg_info(Bytes file);
Result<PngInfo> png_info(Bytes file);

// Fills in what the program left at zero: size, and strides of 128 and 16 as the units choose them
// (RGB: of a multiple of 16 pixels). A side may be the file's rounded up to a multiple of 2, 16, 64
// or 128, as programs align it; other sizes are refused.
enum class OtherSize : uint8_t { refused, scaled };
Status complete_jpeg_output(const JpegInfo& info, PictureSpec* spec,
                            OtherSize other = OtherSize::refused);
Status complete_png_output(const PngInfo& info, PictureSpec* spec);
// Bytes that the output takes with those strides.
Result<uint32_t> jpeg_decoded_bytes(const JpegInfo& info, int32_t format);
Result<uint32_t> png_decoded_bytes(const PngInfo& info, int32_t format);

// `to` was completed and checked. Layouts that the file does not have are converted; `alpha` is for
// those that have one. Where `to` is larger than the file's picture, its last row and column are
// repeated; other sizes are scaled (bilinear).
Status decode_jpeg(Bytes file, const JpegInfo& info, const pixel::Picture& to,
                   const pixel::ColorMatrix& matrix, uint8_t alpha = 255);
Status decode_png(Bytes file, const pixel::Picture& to);

// 1 (worst) to 100; 0 counts as 100.
inline constexpr uint32_t kJpegLevels = 100;
Result<uint32_t> jpeg_encoded_bytes(const PictureSpec& from);
Result<size_t> encode_jpeg(const pixel::Picture& from, uint32_t level, const JpegTables& tables,
                           std::span<uint8_t> to);

}  // namespace anynpu::media
