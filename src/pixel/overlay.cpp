// SPDX-License-Identifier: Apache-2.0
#include "pixel/overlay.h"

#include <algorithm>

namespace anynpu::pixel {
namespace {

// The number of pixels per sample of a plane, as shifts.
struct Shifts {
  int x = 0, y = 0;
};

Shifts shifts_of(const Picture& picture, int plane) {
  const Format& format = *picture.format;
  if (format.packing == Packing::packed_422) return {1, 0};
  if (plane == 0 || format.packing != Packing::semiplanar) return {};
  return {format.shift_x, format.shift_y};
}

// The mean alpha of the pixels of a sample.
uint32_t alpha_at(const Picture& over, uint32_t x, uint32_t y, Shifts shifts) {
  uint32_t sum = 0, count = 0;
  for (uint32_t dy = 0; dy < 1u << shifts.y; ++dy) {
    for (uint32_t dx = 0; dx < 1u << shifts.x; ++dx) {
      const uint32_t px = (x << shifts.x) + dx, py = (y << shifts.y) + dy;
      if (px >= over.width || py >= over.height) continue;
      sum += over.plane(0).row(py)[px * 4 + 3];
      ++count;
    }
  }
  return sum / std::max(count, 1u);
}

uint8_t mixed(uint8_t below, uint8_t above, uint32_t alpha) {
  return static_cast<uint8_t>((above * alpha + below * (255 - alpha) + 127) / 255);
}

}  // namespace

void lay_over(const Picture& over, const Picture& to, Spot at, const ColorMatrix& matrix) {
  const OwnPicture own(*to.format, over.width, over.height);
  convert(over, own.view(), matrix);
  for (int p = 0; p < to.planes(); ++p) {
    const Plane above = own.view().plane(p), below = to.plane(p);
    const Shifts shifts = shifts_of(to, p);
    const int32_t left = at.x >> shifts.x, top = at.y >> shifts.y;
    for (uint32_t y = 0; y < above.height; ++y) {
      const int64_t row = int64_t{top} + y;
      if (row < 0 || row >= below.height) continue;
      for (uint32_t x = 0; x < above.width; ++x) {
        const int64_t column = int64_t{left} + x;
        if (column < 0 || column >= below.width) continue;
        const uint32_t alpha = alpha_at(over, x, y, shifts);
        uint8_t* sample = below.row(static_cast<uint32_t>(row)) + column * below.channels;
        for (uint32_t c = 0; c < below.channels; ++c)
          sample[c] = mixed(sample[c], above.row(y)[x * above.channels + c], alpha);
      }
    }
  }
}

}  // namespace anynpu::pixel
