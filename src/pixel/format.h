// SPDX-License-Identifier: Apache-2.0
// The layouts of pictures, as one table. Programs name a layout by number; the numbers are the same
// in both versions of the media interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace anynpu::pixel {

enum class Family : uint8_t { grey, yuv, rgb };

enum class Packing : uint8_t {
  semiplanar,  // a plane of Y, then one of interleaved U and V
  packed,      // all components of a pixel side by side
  packed_422,  // two pixels share U and V: four bytes for two pixels
  planar,      // a plane for each component
};

struct Format {
  int32_t number;
  const char* name;
  Family family;
  Packing packing;
  // Chroma has one sample for 1 << shift luma samples.
  uint8_t shift_x;
  uint8_t shift_y;
  // Bytes of a pixel of the first plane.
  uint8_t bytes;
  // Offsets of the components: Y U V or R G B, then alpha (0xff: none). Packed: bytes inside the
  // pixel (the pair of pixels). Semiplanar: U and V inside their pair.
  uint8_t at[4];

  bool has_alpha() const { return at[3] != 0xff; }
};

std::span<const Format> formats();
// Null for an unknown number.
const Format* find_format(int32_t number);

inline constexpr int32_t kYuv400 = 0;
inline constexpr int32_t kNv12 = 1;
inline constexpr int32_t kNv21 = 2;
inline constexpr int32_t kYuv422sp = 3;
inline constexpr int32_t kYvu422sp = 4;
inline constexpr int32_t kYuv444sp = 5;
inline constexpr int32_t kYvu444sp = 6;
inline constexpr int32_t kYuv444 = 11;  // packed
inline constexpr int32_t kRgb888 = 12;
inline constexpr int32_t kBgr888 = 13;
inline constexpr int32_t kRgba8888 = 16;
inline constexpr int32_t kYuv440sp = 1000;
inline constexpr int32_t kUnknown = 10000;

}  // namespace anynpu::pixel
