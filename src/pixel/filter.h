// SPDX-License-Identifier: Apache-2.0
// Pictures made of the neighbourhood of each sample, turned, and warped; each as OpenCV's function
// of the same kind, within one grey level. Layouts of both pictures are equal and not packed 4:2:2;
// chroma that pixels share is taken as it is stored.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "pixel/transform.h"

namespace anynpu::pixel {

// The neighbours of a sample, and which of them it is itself.
struct Window {
  uint32_t width = 1, height = 1;
  uint32_t anchor_x = 0, anchor_y = 0;
};

// The sum of neighbours by weights, row by row, and `delta`.
void filter(const Picture& from, const Picture& to, const Window& window,
            std::span<const double> weights, double delta, const Border& border);
// Weights of a Gaussian in one direction; sigma 0: one that fits the length.
std::vector<double> gaussian_weights(uint32_t length, double sigma);

// The least, the middle or the greatest of the neighbours that `mask` marks. What lies outside does
// not count for a constant border.
enum class Rank : uint8_t { least, middle, most };
void choose_by_rank(const Picture& from, const Picture& to, const Window& window,
                    std::span<const uint8_t> mask, Rank rank, const Border& border);

enum class Mirror : uint8_t { left_right, top_bottom, both };
void mirror(const Picture& from, const Picture& to, Mirror how);
// Clockwise by 90 degrees, once to three times; odd numbers need chroma that is shared by as many
// columns as rows.
void turn(const Picture& from, const Picture& to, int times);

// Where the pixel x, y of the output lies in the input.
struct Point {
  double x, y;
};
using Mapping = std::function<Point(double x, double y)>;
void warp(const Picture& from, const Picture& to, const Mapping& source, bool smooth,
          const Border& border);

}  // namespace anynpu::pixel
