// SPDX-License-Identifier: Apache-2.0
// BytePlanes: the layout of the input of an int8 convolution for register tiles (conv/int8_tile.h),
// in which every tap reads contiguous pixels.
//
// A plane is a grid of pixels of four bytes, a byte for each of four sources. A source is an input
// channel; where the last `folded` dimensions of the kernel are folded, it is a channel at one tap
// of them. Taps of the other dimensions are the same plane read from a later pixel: grids have the
// padding in them, and one grid for each remainder of a position by the stride. So with
// nothing folded the input is stored once, and with all folded each output pixel has its window.
//
// Output pixels are positions in the grid; those past an output's extents are computed and dropped.
#pragma once

#include <algorithm>

#include "ops/conv/int8.h"

namespace anynpu::ops::conv {

struct BytePlanes {
  static constexpr size_t kMostFolded = 15;

  struct Run {  // neighbouring output pixels
    int64_t position = 0, count = 0, pixel = 0;
  };

  // Chooses `folded` for the least work; dimensions without a window count as one.
  static BytePlanes of(const IntegerConv& conv);
  static BytePlanes of(const IntegerConv& conv, size_t folded);

  // Writes rows [begin, end) (of rows()) of the planes of one group. `x`: the group's first
  // channel; `pad`: the byte that padding is, and `flip` what all bytes are changed by (exclusive
  // or).
  void fill(const uint8_t* x, int64_t begin, int64_t end, uint8_t pad, uint8_t flip,
            uint8_t* planes) const;

  // Calls body(Run) for the output pixels among positions [first, first + count).
  template <typename Body>
  void for_each_run(int64_t first, int64_t count, const Body& body) const;

  // Index in the kernel (channel of the group, then taps) of byte `byte` of `step`, or -1.
  int64_t weight_at(int64_t step, int64_t byte) const;

  int64_t steps() const { return static_cast<int64_t>(offsets.size()); }
  int64_t rows() const { return planes * plane_pixels / grid.back(); }
  int64_t bytes() const { return planes * plane_pixels * 4; }  // of one group of one image
  double work(int64_t group_out) const;

  std::vector<int64_t> offsets;  // of each step: bytes from a position to what it reads

  int64_t folded = 0;     // dimensions, at most kMostFolded
  int64_t positions = 0;  // from the first output pixel to the last
  bool dense = false;     // every position is an output pixel
  int64_t group_in = 0, quads = 0, planes = 0, plane_pixels = 0;
  int64_t direct_taps = 1, folded_taps = 1, in_size = 0;
  std::vector<int64_t> in, out, grid, stride;
  std::vector<int64_t> sources;  // [source][1 + dims]: offset of the channel, first coordinates
  std::vector<int64_t> shifts;   // [planes / quads][dims]: added to the coordinates
};

template <typename Body>
void BytePlanes::for_each_run(int64_t first, int64_t count, const Body& body) const {
  if (dense) return body(Run{first, count, first});
  const int64_t width = grid.back(), end = first + count;
  for (int64_t at = first; at < end;) {
    const int64_t column = at % width, stop = std::min(end, at - column + width);
    int64_t rest = at / width, pixel = 0, place = out.back();
    bool inside = column < out.back();
    for (size_t d = out.size() - 1; d-- > 0;) {
      const int64_t i = d == 0 ? rest : rest % grid[d];
      rest /= grid[d];
      inside = inside && i < out[d];
      pixel += i * place;
      place *= out[d];
    }
    if (inside) body(Run{at, std::min(stop, at - column + out.back()) - at, pixel + column});
    at = stop;
  }
}

}  // namespace anynpu::ops::conv
