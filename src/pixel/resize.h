// SPDX-License-Identifier: Apache-2.0
// Scaling of one plane. Each way is equal to its named reference within one grey level.
#pragma once

#include <cstdint>

#include "pixel/picture.h"

namespace anynpu::pixel {

// The numbers programs pass.
enum class Interpolation : uint32_t {
  standard = 0,             // the documented default: nearest
  bilinear = 1,             // as OpenCV's INTER_LINEAR
  nearest = 2,              // as OpenCV's INTER_NEAREST
  bilinear_tensorflow = 3,  // as TensorFlow's resize_bilinear: corners of pixels meet
  nearest_tensorflow = 4,   // as TensorFlow's resize_nearest_neighbor
  high_order = 5,           // as OpenCV's INTER_CUBIC
};
inline constexpr uint32_t kInterpolations = 6;

// Both planes have the same number of channels; neither is empty.
void resize_plane(const Plane& from, const Plane& to, Interpolation how);

}  // namespace anynpu::pixel
