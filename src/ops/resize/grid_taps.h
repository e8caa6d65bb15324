// SPDX-License-Identifier: Apache-2.0
// Which elements of a plane a point of a grid reads, and with which weights: GridSample and its
// gradient. Nearest, linear and cubic taps per axis, with zeros, border or reflection beyond the edge.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "ops/elements/wide.h"
#include "ops/schema.h"

namespace anynpu::ops::resize {

constexpr size_t kMostDims = 3;
constexpr size_t kMostTaps = 4;

enum class Edge : uint8_t { zeros, border, reflection };
enum class Mode : uint8_t { nearest, linear, cubic };

Result<Mode> mode_of(const OpContext& context);
Result<Edge> edge_of(const OpContext& context);

struct AxisTaps {
  std::array<int64_t, kMostTaps> index{};  // -1: zero
  std::array<double, kMostTaps> weight{};
  std::array<double, kMostTaps> slope{};  // of the weight, by the coordinate of the grid
  size_t count = 0;
};

// What one point of the grid reads of each plane.
struct PointTaps {
  struct Tap {
    int64_t at;
    double weight;
  };
  std::array<Tap, kMostTaps * kMostTaps * kMostTaps> taps;
  size_t count = 0;  // those of weight 0 are left out
};

struct Sampling {
  Mode mode;
  Edge edge;
  bool corners;
  // Where a hair's breadth of the coordinate decides between two elements, it is rounded to the
  // float that implementations of the operator compute with.
  bool decides;
  std::vector<int64_t> in;  // extents of a plane
  LoadBlock<double> load_grid;

  // Of a spatial axis; the last coordinate of the grid belongs to the first one.
  AxisTaps axis(const std::byte* grid, int64_t point, size_t dimension) const;
  PointTaps at_point(const std::byte* grid, int64_t point) const;
};

}  // namespace anynpu::ops::resize
