// SPDX-License-Identifier: Apache-2.0
// The exported symbol of libanynpu_image.so.
#include "media/plugin_image/codec.h"

namespace anynpu::media {
namespace {

class Codec final : public ImageCodec {
 public:
  Result<JpegInfo> jpeg_info(Bytes file) const override { return read_jpeg_info(file); }
  Status decode_jpeg(Bytes file, const pixel::Picture& to) const override {
    return decode_jpeg_picture(file, to);
  }
  Result<size_t> encode_jpeg(const pixel::Picture& from, int quality, const JpegTables& tables,
                             std::span<uint8_t> to) const override {
    return encode_jpeg_picture(from, quality, tables, to);
  }
  Result<PngInfo> png_info(Bytes file) const override { return read_png_info(file); }
  Status decode_png(Bytes file, const pixel::Picture& to) const override {
    return decode_png_picture(file, to);
  }
};

}  // namespace
}  // namespace anynpu::media

const anynpu::media::ImageCodec* anynpu_image_codec() {
  static const anynpu::media::Codec codec;
  return &codec;
}
