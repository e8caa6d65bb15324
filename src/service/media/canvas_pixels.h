// SPDX-License-Identifier: Apache-2.0
// The pixels of a canvas as RGBA.
#pragma once

#include <array>
#include <cstdint>

#include "pixel/picture.h"

namespace anynpu::media {

// Bits of a pixel in a layout that canvases have, 0 for others.
uint32_t canvas_bits(int32_t format);

struct CanvasAlphas {
  uint32_t front = 128, back = 0;  // 0 to 128
};
// Rows begin every `stride` bytes. Layouts of eight or four bits of alpha have their own; `front`
// scales it.
pixel::OwnPicture canvas_pixels(const uint8_t* data, uint32_t stride, uint32_t width,
                                uint32_t height, int32_t format,
                                const std::array<uint32_t, 16>& palette, CanvasAlphas alphas);

}  // namespace anynpu::media
