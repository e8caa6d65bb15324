// SPDX-License-Identifier: Apache-2.0
// The inner loops of smooth scaling: stretching a row of a plane, and blending rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "pixel/resize.h"

namespace anynpu::pixel {

inline constexpr int kWeightBits = 11;  // of a coefficient

// For each output position the source positions and their weights, which add to 1 << kWeightBits.
// Two taps of one position are adjacent, unless the source has only one.
struct Axis {
  std::vector<int32_t> index;   // taps per position
  std::vector<int32_t> weight;  // taps per position
  std::vector<int32_t> first;   // of two taps: the first source position of each output position,
  std::vector<int32_t> pair;    // and both weights, the first in the lower half
  int taps = 1;
};
Axis make_axis(uint32_t from, uint32_t to, Interpolation how);

// A row of `width` samples with kWeightBits more bits than the source. `to` has room for one value
// more than it needs.
using StretchRow = void (*)(const uint8_t* from, const Axis& axis, uint32_t width, int32_t* to);
StretchRow choose_stretch(const Axis& axis, uint32_t source_width, uint32_t channels);

// Stretches two rows and blends them in one pass, for downscaling in which no row is used twice.
// Null when there is no fast path.
using ScaleRow = void (*)(const uint8_t* a, const uint8_t* b, const Axis& axis,
                          const int32_t* weights, uint32_t width, uint8_t* to);
ScaleRow choose_scale(const Axis& axis, uint32_t source_width, uint32_t channels);

// Blends `n` samples of the stretched rows, one row per tap, by the weights of the other axis.
void mix_rows(const int32_t* const* rows, const int32_t* weights, int taps, size_t n, uint8_t* to);

}  // namespace anynpu::pixel
