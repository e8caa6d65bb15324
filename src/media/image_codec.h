// SPDX-License-Identifier: Apache-2.0
// The interface of the image plug-in (libanynpu_image.so): JPEG and PNG between bytes and pictures,
// in the layout of the file. Conversions and rules are up to the caller. Thread-safe: no state.
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "pixel/picture.h"

namespace anynpu::media {

using Bytes = std::span<const uint8_t>;

// Numbers of acldvppJpegFormat.
enum class JpegSampling : int32_t { s444, s422, s420, grey, s440, s411, unknown = 1000 };

struct JpegInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  int32_t components = 0;
  JpegSampling sampling = JpegSampling::unknown;
  int32_t layout = 0;  // of decode_jpeg's output: a number of pixel/format.h
  bool progressive = false;
};

// Custom tables of the program; null for the standard ones.
struct JpegTables {
  const uint8_t* quant[3] = {};  // 64 values each, in zigzag order
  struct Huffman {
    const uint8_t* bits = nullptr;  // 16 counts
    const uint8_t* values = nullptr;
    size_t count = 0;  // of values
  } dc[2], ac[2];
  uint32_t restart_interval = 0;  // MCUs; 0 for none
  const char* comment = nullptr;
};

struct PngInfo {
  uint32_t width = 0;
  uint32_t height = 0;
  int32_t components = 0;  // 1 grey, 2 grey and alpha, 3 RGB, 4 RGBA; of the file
  int32_t color_type = 0;  // as the file says: 0 grey, 2 RGB, 3 palette, 4 grey + alpha, 6 RGBA
  int32_t bit_depth = 8;
};

class ImageCodec {
 public:
  virtual ~ImageCodec() = default;
  virtual Result<JpegInfo> jpeg_info(Bytes file) const = 0;
  // `to` has the size and the layout of jpeg_info (or its YVU twin).
  virtual Status decode_jpeg(Bytes file, const pixel::Picture& to) const = 0;
  // From a semiplanar picture or YUV400. Returns the bytes written; fails when `to` is too small.
  virtual Result<size_t> encode_jpeg(const pixel::Picture& from, int quality,
                                     const JpegTables& tables, std::span<uint8_t> to) const = 0;
  virtual Result<PngInfo> png_info(Bytes file) const = 0;
  // `to` has the file's size and is RGB888 or RGBA8888.
  virtual Status decode_png(Bytes file, const pixel::Picture& to) const = 0;
};

// Opens the plug-in on first use.
Result<const ImageCodec*> image_codec();

}  // namespace anynpu::media

extern "C" const anynpu::media::ImageCodec* anynpu_image_codec();
