// SPDX-License-Identifier: Apache-2.0
// PNG files to pictures: 8 bits a component, RGB or RGBA, palettes and grey spread out.
#include <png.h>

#include <csetjmp>
#include <cstring>
#include <string>
#include <vector>

#include "media/plugin_image/codec.h"

namespace anynpu::media {
namespace {

struct Reading {
  Bytes file;
  size_t at = 0;
  char text[160] = "";
};

void on_error(png_structp png, png_const_charp message) {
  auto* reading = static_cast<Reading*>(png_get_error_ptr(png));
  std::strncpy(reading->text, message, sizeof reading->text - 1);
  png_longjmp(png, 1);
}

void on_warning(png_structp, png_const_charp) {}

void on_read(png_structp png, png_bytep to, size_t count) {
  auto* reading = static_cast<Reading*>(png_get_io_ptr(png));
  if (count > reading->file.size() - reading->at) png_error(png, "the file ends too early");
  std::memcpy(to, reading->file.data() + reading->at, count);
  reading->at += count;
}

struct Png {
  png_structp png = nullptr;
  png_infop info = nullptr;

  explicit Png(Reading& reading) {
    png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &reading, on_error, on_warning);
    if (png == nullptr) return;
    info = png_create_info_struct(png);
    png_set_user_limits(png, 16384, 16384);
    png_set_chunk_malloc_max(png, 64 << 20);
    png_set_read_fn(png, &reading, on_read);
  }
  ~Png() { png_destroy_read_struct(&png, &info, nullptr); }
  bool ready() const { return png != nullptr && info != nullptr; }
};

int32_t components_of(int color_type) {
  if (color_type == PNG_COLOR_TYPE_GRAY) return 1;
  if (color_type == PNG_COLOR_TYPE_GRAY_ALPHA) return 2;
  return color_type == PNG_COLOR_TYPE_RGB_ALPHA ? 4 : 3;
}

Status no_memory() { return fail(Code::out_of_memory, "no memory left for a PNG picture"); }

}  // namespace

Result<PngInfo> read_png_info(Bytes file) {
  Reading reading{file};
  Png handle(reading);
  if (!handle.ready()) return no_memory();
  if (setjmp(png_jmpbuf(handle.png)))
    return fail(Code::file_invalid, "the data is no PNG picture: {}",
                static_cast<const char*>(reading.text));
  png_read_info(handle.png, handle.info);
  PngInfo info;
  info.width = png_get_image_width(handle.png, handle.info);
  info.height = png_get_image_height(handle.png, handle.info);
  info.color_type = png_get_color_type(handle.png, handle.info);
  info.components = components_of(info.color_type);
  info.bit_depth = png_get_bit_depth(handle.png, handle.info);
  return info;
}

Status decode_png_picture(Bytes file, const pixel::Picture& to) {
  Reading reading{file};
  Png handle(reading);
  if (!handle.ready()) return no_memory();
  std::vector<png_bytep> rows;
  if (setjmp(png_jmpbuf(handle.png)))
    return fail(Code::file_invalid, "the PNG picture cannot be decoded: {}",
                static_cast<const char*>(reading.text));
  png_read_info(handle.png, handle.info);
  if (png_get_image_width(handle.png, handle.info) != to.width ||
      png_get_image_height(handle.png, handle.info) != to.height)
    png_error(handle.png, "the size changed while it was decoded");
  png_set_expand(handle.png);
  png_set_strip_16(handle.png);
  png_set_gray_to_rgb(handle.png);
  if (to.format->has_alpha())
    png_set_add_alpha(handle.png, 0xff, PNG_FILLER_AFTER);
  else
    png_set_strip_alpha(handle.png);
  png_set_interlace_handling(handle.png);
  png_read_update_info(handle.png, handle.info);
  if (png_get_rowbytes(handle.png, handle.info) != size_t{to.width} * to.format->bytes)
    png_error(handle.png, "an unexpected size of a row");
  rows.resize(to.height);
  for (uint32_t y = 0; y < to.height; ++y) rows[y] = to.plane(0).row(y);
  png_read_image(handle.png, rows.data());
  png_read_end(handle.png, nullptr);
  return {};
}

}  // namespace anynpu::media
