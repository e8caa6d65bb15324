// SPDX-License-Identifier: Apache-2.0
// Filters, rotations and warps; each matches OpenCV's function of the same kind within one grey
// level. Layouts of both pictures are equal and not packed 4:2:2; subsampled chroma is filtered as
// it is stored.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pixel/transform.h"

namespace anynpu::pixel {

// The window of a filter, and its anchor.
struct Window {
  uint32_t width = 1, height = 1;
  uint32_t anchor_x = 0, anchor_y = 0;
};

// The weighted sum of the window (weights in row order) plus `delta`.
void filter(const Picture& from, const Picture& to, const Window& window,
            std::span<const double> weights, double delta, const Border& border);
// Gaussian weights in one direction; sigma 0: derived from the length.
std::vector<double> gaussian_weights(uint32_t length, double sigma);

// Erosion, median or dilation over the samples that `mask` marks. With a constant border, samples
// outside are ignored.
enum class Rank : uint8_t { least, middle, most };
void choose_by_rank(const Picture& from, const Picture& to, const Window& window,
                    std::span<const uint8_t> mask, Rank rank, const Border& border);

enum class Mirror : uint8_t { left_right, top_bottom, both };
void mirror(const Picture& from, const Picture& to, Mirror how);
// Rotates clockwise by 90 degrees, one to three times; odd numbers need chroma with the same
// subsampling in both directions.
void turn(const Picture& from, const Picture& to, int times);

// The input position of an output pixel.
struct Point {
  double x, y;
};
using Mapping = std::function<Point(double x, double y)>;
void warp(const Picture& from, const Picture& to, const Mapping& source, bool smooth,
          const Border& border);

}  // namespace anynpu::pixel
