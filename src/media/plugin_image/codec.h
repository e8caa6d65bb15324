// SPDX-License-Identifier: Apache-2.0
// The parts of the image plug-in, one file each.
#pragma once

#include "media/image_codec.h"

namespace anynpu::media {

Result<JpegInfo> read_jpeg_info(Bytes file);
Status decode_jpeg_picture(Bytes file, const pixel::Picture& to);
Result<size_t> encode_jpeg_picture(const pixel::Picture& from, int quality,
                                   const JpegTables& tables, std::span<uint8_t> to);
Result<PngInfo> read_png_info(Bytes file);
Status decode_png_picture(Bytes file, const pixel::Picture& to);

}  // namespace anynpu::media
