// SPDX-License-Identifier: Apache-2.0
// Scaling of one plane. Each mode matches its reference within one grey level.
#pragma once

#include <cstdint>

#include "pixel/picture.h"

namespace anynpu::pixel {

// media/interpolation.h maps the numbers of programs to these.
enum class Interpolation : uint8_t {
  bilinear,             // as OpenCV's INTER_LINEAR
  nearest,              // as OpenCV's INTER_NEAREST
  bilinear_tensorflow,  // as TensorFlow's resize_bilinear: pixel corners are aligned
  nearest_tensorflow,   // as TensorFlow's resize_nearest_neighbor
  high_order,           // as OpenCV's INTER_CUBIC
};

// Both planes have the same number of channels; neither is empty.
void resize_plane(const Plane& from, const Plane& to, Interpolation how);

}  // namespace anynpu::pixel
