// SPDX-License-Identifier: Apache-2.0
// BMP (8, 24 and 32 bits, not packed) and PNM (P1 to P6, 8 bits) files.
#include <cstdlib>
#include <limits>

#include "base/align.h"
#include "ops/image_decoder/rgb_codec.h"

namespace anynpu::ops::image_decoder {

namespace {

uint32_t little(FileBytes file, size_t at, size_t bytes) {
  uint32_t value = 0;
  for (size_t i = bytes; i > 0; --i) value = value << 8 | file[at + i - 1];
  return value;
}

Status too_short(const char* format) {
  return fail(Code::file_invalid, "the {} picture ends too early", format);
}

// The text in front of the samples of a PNM file, and those of its plain forms.
struct PnmReader {
  FileBytes file;
  size_t at = 2;

  static bool is_space(uint8_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  void skip_space() {
    while (at < file.size() && (is_space(file[at]) || file[at] == '#')) {
      if (file[at] == '#') {
        while (at < file.size() && file[at] != '\n') ++at;
      } else {
        ++at;
      }
    }
  }

  // -1 where no number stands. `one_digit`: bits of P1 need no space between them.
  int64_t number(bool one_digit = false) {
    skip_space();
    int64_t value = -1;
    while (at < file.size() && file[at] >= '0' && file[at] <= '9') {
      value = (value < 0 ? 0 : value) * 10 + (file[at++] - '0');
      if (one_digit || value > std::numeric_limits<int32_t>::max()) break;
    }
    return value;
  }
};

}  // namespace

Result<RgbPicture> decode_bmp(FileBytes file) {
  constexpr size_t kHeads = 54;
  if (file.size() < kHeads) return too_short("BMP");
  const size_t data = little(file, 10, 4), head = little(file, 14, 4);
  const auto width = static_cast<int32_t>(little(file, 18, 4));
  const auto height = static_cast<int32_t>(little(file, 22, 4));
  const uint32_t bits = little(file, 28, 2), packing = little(file, 30, 4);
  if (head < 40 || (bits != 8 && bits != 24 && bits != 32) || packing != 0) {
    return fail(
        Code::unsupported_feature,
        "the BMP picture has {} bits a pixel and packing {}; expected 8, 24 or 32 bits, not "
        "packed",
        bits, packing);
  }
  RgbPicture picture;
  const auto rows = static_cast<uint64_t>(std::llabs(height));
  ANYNPU_TRY(picture.resize(static_cast<uint64_t>(std::max(width, 0)), rows));
  const size_t bytes = bits / 8, stride = round_up(picture.width * bytes, 4);
  const size_t table = 14 + head;
  const size_t used = little(file, 46, 4), colors = used == 0 || used > 256 ? 256 : used;
  if (data > file.size() || stride * rows > file.size() - data ||
      (bits == 8 && (table > file.size() || colors * 4 > file.size() - table)))
    return too_short("BMP");
  uint8_t* to = picture.pixels.data();
  for (uint64_t y = 0; y < rows; ++y) {
    const uint8_t* row = file.data() + data + (height > 0 ? rows - 1 - y : y) * stride;
    for (uint32_t x = 0; x < picture.width; ++x, to += 3) {
      const uint8_t* bgr = row + x * bytes;
      if (bits == 8) bgr = file.data() + table + (*bgr < colors ? *bgr : size_t{0}) * 4;
      to[0] = bgr[2], to[1] = bgr[1], to[2] = bgr[0];
    }
  }
  return picture;
}

Result<RgbPicture> decode_pnm(FileBytes file) {
  PnmReader reader{file};
  const int form = file[1] - '0';  // 1 to 3: numbers as text, 4 to 6: bytes; bits, greys, colours
  const bool text = form <= 3, bits = form % 3 == 1, color = form % 3 == 0;
  const int64_t width = reader.number(), height = reader.number();
  const int64_t most = bits ? 1 : reader.number();
  if (width < 0 || height < 0) return fail(Code::file_invalid, "the PNM picture has no size");
  if (most < 1 || most > 255) {
    return fail(Code::unsupported_feature,
                "the PNM picture has samples up to {}; expected a limit of 1 to 255", most);
  }
  RgbPicture picture;
  ANYNPU_TRY(picture.resize(static_cast<uint64_t>(width), static_cast<uint64_t>(height)));
  const size_t samples = picture.width * size_t{color ? 3u : 1u};
  const size_t row_bytes = bits ? ceil_div(samples, 8) : samples;
  if (!text && ++reader.at > file.size()) return too_short("PNM");
  if (!text && row_bytes * picture.height > file.size() - reader.at) return too_short("PNM");
  uint8_t* to = picture.pixels.data();
  for (uint32_t y = 0; y < picture.height; ++y) {
    const uint8_t* row = text ? nullptr : file.data() + reader.at + y * row_bytes;
    for (size_t i = 0; i < samples; ++i) {
      const int64_t sample = text   ? reader.number(bits)
                             : bits ? row[i / 8] >> (7 - i % 8) & 1
                                    : row[i];
      if (sample < 0) return too_short("PNM");
      const int64_t level = bits ? 1 - std::min<int64_t>(sample, 1) : std::min(sample, most);
      const auto value = static_cast<uint8_t>((level * 255 + most / 2) / most);
      for (int copy = color ? 1 : 3; copy > 0; --copy) *to++ = value;
    }
  }
  return picture;
}

}  // namespace anynpu::ops::image_decoder
