// SPDX-License-Identifier: Apache-2.0
// Strides and bytes of pictures that several units use in turn, and sizes of decoder buffers.
#pragma once

#include <span>

#include "media/rules.h"
#include "media/support.h"

namespace anynpu::media {

struct PictureStrides {
  uint32_t width_stride = 0, height_stride = 0;
  uint64_t bytes = 0;
};
// Smallest strides that all of `units` (VPC, VDEC, VENC, JPEGE, JPEGD) take.
Result<PictureStrides> strides_for(std::span<const Unit> units, int32_t format, uint32_t width,
                                   uint32_t height);

// Bytes of a decoded picture whose rows are multiples of `align` (0: of 16) pixels.
Result<uint32_t> decoded_picture_bytes(uint32_t width, uint32_t height, uint32_t align,
                                       uint32_t bytes_per_sample);
// Bytes that the motion of one reference frame takes.
Result<uint32_t> motion_buffer_bytes(uint32_t width, uint32_t height);

}  // namespace anynpu::media
