// SPDX-License-Identifier: Apache-2.0
// Borders, and the pyramid step that reads beyond the edge by the same rules.
#include <algorithm>

#include "pixel/edge.h"

namespace anynpu::pixel {

int64_t inside_of(int64_t at, int64_t n, BorderKind kind) {
  if (at >= 0 && at < n) return at;
  if (kind == BorderKind::constant) return -1;
  if (kind == BorderKind::replicate || n == 1) return std::clamp<int64_t>(at, 0, n - 1);
  if (kind == BorderKind::wrap) return ((at % n) + n) % n;
  const int64_t skip = kind == BorderKind::reflect_101 ? 1 : 0;
  while (at < 0 || at >= n) at = at < 0 ? -at - 1 + skip : 2 * n - at - 1 - skip;
  return at;
}

uint8_t constant_of(const Format& f, const Border& border, size_t plane, uint32_t c) {
  if (f.packing == Packing::planar) {
    for (int i = 0; i < 3; ++i)
      if (f.at[i] == plane) return border.value[i];
  }
  if (plane > 0) return border.value[f.at[1] == c ? 1 : 2];
  if (f.packing == Packing::semiplanar) return border.value[0];
  if (f.packing == Packing::packed_422)
    return border.value[c % 2 == f.at[0] % 2 ? 0 : f.at[1] == c ? 1 : 2];
  for (int i = 0; i < 4; ++i)
    if (f.at[i] == c) return border.value[i];
  return 0;
}

void fill_border(const Picture& to, const Rect& inside, const Border& border) {
  const auto planes = to.planes_of(to.all());
  const auto centres = to.planes_of(inside);
  for (size_t i = 0; i < planes.size(); ++i) {
    const Plane& plane = planes[i];
    const Plane& centre = centres[i];
    const auto offset = static_cast<size_t>(centre.data - plane.data);
    const auto top = static_cast<int64_t>(offset / plane.stride);
    const auto left = static_cast<int64_t>(offset % plane.stride / plane.channels);
    for (uint32_t y = 0; y < plane.height; ++y) {
      const int64_t sy = inside_of(y - top, centre.height, border.kind);
      const bool middle = y >= top && y < top + centre.height;
      for (uint32_t x = 0; x < plane.width; ++x) {
        if (middle && x >= left && x < left + centre.width) {
          x = static_cast<uint32_t>(left) + centre.width - 1;
          continue;
        }
        const int64_t sx = inside_of(x - left, centre.width, border.kind);
        uint8_t* pixel = plane.row(y) + size_t{x} * plane.channels;
        for (uint32_t c = 0; c < plane.channels; ++c) {
          pixel[c] = sx < 0 || sy < 0
                         ? constant_of(*to.format, border, i, c)
                         : centre.row(static_cast<uint32_t>(sy))[sx * plane.channels + c];
        }
      }
    }
  }
}

const Filter5x5& gaussian_5x5() {
  static constexpr Filter5x5 filter = {{{1, 4, 6, 4, 1},
                                        {4, 16, 24, 16, 4},
                                        {6, 24, 36, 24, 6},
                                        {4, 16, 24, 16, 4},
                                        {1, 4, 6, 4, 1}},
                                       256};
  return filter;
}

void pyramid_down(const Picture& from, const Picture& to, const Filter5x5& filter,
                  const Border& border) {
  for (int i = 0; i < from.planes(); ++i) {
    const Plane source = from.plane(i);
    const Plane target = to.plane(i);
    for (uint32_t y = 0; y < target.height; ++y) {
      for (uint32_t x = 0; x < target.width; ++x) {
        for (uint32_t c = 0; c < target.channels; ++c) {
          int64_t sum = filter.divisor / 2;
          for (int ky = 0; ky < 5; ++ky) {
            const int64_t sy = inside_of(int64_t{y} * 2 + ky - 2, source.height, border.kind);
            for (int kx = 0; kx < 5; ++kx) {
              const int64_t sx = inside_of(int64_t{x} * 2 + kx - 2, source.width, border.kind);
              const int64_t value = sx < 0 || sy < 0 ? constant_of(*from.format, border, i, c)
                                                     : source.row(sy)[sx * source.channels + c];
              sum += value * filter.weight[ky][kx];
            }
          }
          target.row(y)[size_t{x} * target.channels + c] =
              static_cast<uint8_t>(std::clamp<int64_t>(sum / filter.divisor, 0, 255));
        }
      }
    }
  }
}

}  // namespace anynpu::pixel
