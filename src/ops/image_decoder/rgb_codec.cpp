// SPDX-License-Identifier: Apache-2.0
#include "ops/image_decoder/rgb_codec.h"

#include <string_view>

#include "base/plugin.h"

namespace anynpu::ops::image_decoder {

namespace {

constexpr uint64_t kMostPixels = uint64_t{1} << 26;

bool starts(FileBytes file, std::string_view with, size_t at = 0) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  return text.size() >= at && text.substr(at).starts_with(with);
}

Result<const RgbCodec*> plugin() {
  ANYNPU_ASSIGN(void* open, plugin_symbol("image", "anynpu_rgb_codec"));
  return reinterpret_cast<decltype(&anynpu_rgb_codec)>(open)();
}

const char* format_without_decoder(FileBytes file) {
  using namespace std::string_view_literals;
  if (starts(file, "RIFF") && starts(file, "WEBP", 8)) return "WebP";
  if (starts(file, "II*\0"sv) || starts(file, "MM\0*"sv)) return "TIFF";
  const bool boxed = starts(file, "\0\0\0\x0cjP  \r\n\x87\n"sv);
  return boxed || starts(file, "\xff\x4f\xff\x51"sv) ? "JPEG 2000" : nullptr;
}

}  // namespace

Status RgbPicture::resize(uint64_t new_width, uint64_t new_height) {
  if (new_width == 0 || new_height == 0)
    return fail(Code::file_invalid, "the picture has {}x{} pixels", new_width, new_height);
  if (new_width > kMostPixels / new_height) {
    return fail(Code::unsupported_shape, "the picture has {}x{} pixels; expected at most {} in all",
                new_width, new_height, kMostPixels);
  }
  width = static_cast<uint32_t>(new_width);
  height = static_cast<uint32_t>(new_height);
  pixels.resize(new_width * new_height * 3);
  return {};
}

Result<RgbPicture> decode_picture(FileBytes file) {
  if (starts(file, "\xff\xd8\xff")) {
    ANYNPU_ASSIGN(const RgbCodec* codec, plugin());
    return codec->decode_jpeg(file);
  }
  if (starts(file, "\x89PNG\r\n\x1a\n")) {
    ANYNPU_ASSIGN(const RgbCodec* codec, plugin());
    return codec->decode_png(file);
  }
  if (starts(file, "BM")) return decode_bmp(file);
  if (file.size() > 2 && file[0] == 'P' && file[1] >= '1' && file[1] <= '6')
    return decode_pnm(file);
  if (const char* name = format_without_decoder(file)) {
    return fail(
        Code::unsupported_feature,
        "the picture is a {} file, which has no decoder here; expected JPEG, PNG, BMP or PNM",
        name);
  }
  return fail(Code::file_invalid, "the data begins like no format of pictures");
}

}  // namespace anynpu::ops::image_decoder
