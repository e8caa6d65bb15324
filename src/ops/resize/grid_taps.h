// SPDX-License-Identifier: Apache-2.0
// Taps and weights of GridSample and its gradient: which elements of a plane a grid point samples.
// Nearest, linear and cubic interpolation per axis; zeros, border or reflection padding.
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
  std::array<int64_t, kMostTaps> index{};  // -1: outside, reads 0
  std::array<double, kMostTaps> weight{};
  std::array<double, kMostTaps> slope{};  // d weight / d grid coordinate
  size_t count = 0;
};

// The taps of one grid point, the same for each plane.
struct PointTaps {
  struct Tap {
    int64_t at;
    double weight;
  };
  std::array<Tap, kMostTaps * kMostTaps * kMostTaps> taps;
  size_t count = 0;  // without taps of weight 0
};

struct Sampling {
  Mode mode;
  Edge edge;
  bool align_corners;
  // Rounds coordinates to float32, as other implementations compute them, where a tiny difference
  // selects another element.
  bool round_to_float;
  std::vector<int64_t> in;  // extents of a plane
  LoadBlock<double> load_grid;

  // Taps along one spatial axis; grid coordinates are in reverse order: the last is the first axis.
  AxisTaps axis(const std::byte* grid, int64_t point, size_t dimension) const;
  PointTaps at_point(const std::byte* grid, int64_t point) const;
};

}  // namespace anynpu::ops::resize
