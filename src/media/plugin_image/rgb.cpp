// SPDX-License-Identifier: Apache-2.0
// JPEG and PNG files to RGB for the operator ImageDecoder: libjpeg's own upsampling ("fancy") and
// colour conversion, as the operator's definition asks for.
#include "media/plugin_image/codec.h"
#include "media/plugin_image/jpeg_errors.h"
#include "ops/image_decoder/rgb_codec.h"

namespace anynpu::media {
namespace {

using ops::image_decoder::RgbPicture;

// All that a failure of libjpeg must not skip lives outside of this function, which it leaves.
Status read_rgb(Bytes file, jpeg_decompress_struct& d, JpegErrors& errors, RgbPicture& picture) {
  if (setjmp(errors.back))
    return fail(Code::file_invalid, "the JPEG picture cannot be decoded: {}", errors.text);
  jpeg_create_decompress(&d);
  jpeg_progress_mgr progress{};
  progress.progress_monitor = watch_scans;
  d.progress = &progress;
  jpeg_mem_src(&d, file.data(), static_cast<unsigned long>(file.size()));
  jpeg_read_header(&d, TRUE);
  if (d.num_components != 1 && d.num_components != 3) {
    return fail(Code::unsupported_feature,
                "the JPEG picture has {} components; expected 1 (grey) or 3 (colour)",
                d.num_components);
  }
  ANYNPU_TRY(picture.resize(d.image_width, d.image_height));
  d.out_color_space = JCS_RGB;
  d.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&d);
  while (d.output_scanline < d.output_height) {
    JSAMPROW row = picture.pixels.data() + size_t{d.output_scanline} * d.output_width * 3;
    jpeg_read_scanlines(&d, &row, 1);
  }
  jpeg_finish_decompress(&d);
  if (errors.manager.num_warnings > 0)
    return fail(Code::file_invalid, "the JPEG picture is damaged: {}", errors.text);
  return {};
}

class RgbDecoder final : public ops::image_decoder::RgbCodec {
 public:
  Result<RgbPicture> decode_jpeg(ops::image_decoder::FileBytes file) const override {
    JpegErrors errors;
    jpeg_decompress_struct d{};
    d.err = errors.start();
    RgbPicture picture;
    const Status status = read_rgb(file, d, errors, picture);
    jpeg_destroy_decompress(&d);
    ANYNPU_TRY(status);
    return picture;
  }
  Result<RgbPicture> decode_png(ops::image_decoder::FileBytes file) const override {
    ANYNPU_ASSIGN(const PngInfo info, read_png_info(file));
    RgbPicture picture;
    ANYNPU_TRY(picture.resize(info.width, info.height));
    const pixel::Picture view{pixel::find_format(pixel::kRgb888),
                              picture.pixels.data(),
                              picture.width,
                              picture.height,
                              picture.width * 3,
                              picture.height};
    ANYNPU_TRY(decode_png_picture(file, view));
    return picture;
  }
};

}  // namespace
}  // namespace anynpu::media

const anynpu::ops::image_decoder::RgbCodec* anynpu_rgb_codec() {
  static const anynpu::media::RgbDecoder codec;
  return &codec;
}
