// SPDX-License-Identifier: Apache-2.0
// Any bytes as a PNG file, as they are and with checksums that fit: described, and decoded to RGB
// and RGBA.
#include <cstring>

#include "linked_codecs.h"
#include "media/image.h"

namespace {

using namespace anynpu;

uint32_t crc32(const uint8_t* data, size_t size) {
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= data[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
  }
  return ~crc;
}

uint32_t big_endian(const uint8_t* p) {
  return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3];
}

// Chunks: length, four letters, data, checksum of letters and data.
void repair(std::vector<uint8_t>& file) {
  for (size_t at = 8; at + 12 <= file.size();) {
    const size_t length = big_endian(&file[at]);
    if (length > file.size() - at - 12) return;
    const uint32_t crc = crc32(&file[at + 4], length + 4);
    for (int i = 0; i < 4; ++i)
      file[at + 8 + length + i] = static_cast<uint8_t>(crc >> (24 - 8 * i));
    at += length + 12;
  }
}

void read(media::Bytes file) {
  const auto info = media::png_info(file);
  if (!info.ok()) return;
  for (const int32_t format : {pixel::kRgb888, pixel::kRgba8888}) {
    media::PictureSpec spec;
    spec.format = format;
    if (!media::complete_png_output(*info, &spec).ok()) continue;
    if (uint64_t{spec.width} * spec.height > media::kMostPixels) continue;
    const media::Target to(spec);
    (void)media::decode_png(file, to.picture()).ok();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<uint8_t> file(data, data + size);
  read(file);
  repair(file);
  read(file);
  return 0;
}
