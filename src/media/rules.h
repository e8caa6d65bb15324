// SPDX-License-Identifier: Apache-2.0
// The requirements of the units on pictures in memory: layouts, sizes, strides and alignment, as a
// table. Errors name the rule with the values: "input: width stride 100 is not a multiple of 16".
#pragma once

#include <cstdint>
#include <span>

#include "base/result.h"
#include "device/memory.h"
#include "pixel/picture.h"

namespace anynpu::media {

// A picture as a program describes it.
struct PictureSpec {
  void* data = nullptr;
  uint32_t bytes = 0;
  int32_t format = 0;
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t width_stride = 0;
  uint32_t height_stride = 0;
};

struct Rules {
  const char* unit;
  std::span<const int32_t> formats;
  uint32_t least_width, least_height;
  uint32_t most_width, most_height;
  uint32_t width_multiple;    // of the stride, in pixels
  uint32_t height_multiple;   // of the stride
  uint32_t address_multiple;  // of the first byte
};

extern const Rules kVpcRules;
extern const Rules kJpegdRules;  // the output
extern const Rules kJpegeRules;  // the input
extern const Rules kPngdRules;   // the output
extern const Rules kVdecRules;   // the output
extern const Rules kVencRules;   // the input

// A picture that passed the checks, in memory that the program may use; `memory` keeps that memory
// alive.
struct CheckedPicture {
  pixel::Picture view;
  device::Range memory;
};
// `role` starts the message: "input", "output".
Result<CheckedPicture> check_picture(const PictureSpec& spec, const Rules& rules, const char* role,
                                     device::Access access);

// A layout that the unit supports.
Result<const pixel::Format*> check_format(int32_t number, const Rules& rules, const char* role);
// The smallest stride that the rules allow for a width.
uint32_t least_width_stride(const pixel::Format& format, uint32_t width, const Rules& rules);

// A region of a picture. Edges are even at the left and top, odd at the right and bottom where the
// layout shares chroma; right and bottom belong to the region.
struct Edges {
  uint32_t left = 0, right = 0, top = 0, bottom = 0;
};
Result<pixel::Rect> check_region(const Edges& edges, const pixel::Picture& picture,
                                 const char* role);

}  // namespace anynpu::media
