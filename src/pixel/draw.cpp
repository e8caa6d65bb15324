// SPDX-License-Identifier: Apache-2.0
#include "pixel/draw.h"

#include <algorithm>
#include <cmath>

#include "pixel/edge.h"

namespace anynpu::pixel {
namespace {

// From a pixel's middle to a line between the middles of two others.
double distance(Spot a, Spot b, double x, double y) {
  const double dx = b.x - a.x, dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double part =
      length > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  return std::hypot(x - (a.x + part * dx), y - (a.y + part * dy));
}

Rect bounds_of(int64_t left, int64_t top, int64_t right, int64_t bottom) {
  return {static_cast<uint32_t>(left), static_cast<uint32_t>(top),
          static_cast<uint32_t>(right - left + 1), static_cast<uint32_t>(bottom - top + 1)};
}

}  // namespace

Shape rectangle(const Rect& rect) {
  return {rect, [](uint32_t, uint32_t) { return true; }};
}

Shape line(Spot from, Spot to, uint32_t thick, const Picture& inside) {
  const int64_t reach = (int64_t{thick} + 1) / 2;
  const auto [left, right] = std::minmax(from.x, to.x);
  const auto [top, bottom] = std::minmax(from.y, to.y);
  return {bounds_of(std::max<int64_t>(left - reach, 0), std::max<int64_t>(top - reach, 0),
                    std::min<int64_t>(right + reach, int64_t{inside.width} - 1),
                    std::min<int64_t>(bottom + reach, int64_t{inside.height} - 1)),
          [=](uint32_t x, uint32_t y) { return distance(from, to, x, y) <= thick / 2.0; }};
}

Shape quadrangle(const std::array<Spot, 4>& corners) {
  int32_t left = corners[0].x, right = left, top = corners[0].y, bottom = top;
  for (const Spot& corner : corners) {
    left = std::min(left, corner.x);
    right = std::max(right, corner.x);
    top = std::min(top, corner.y);
    bottom = std::max(bottom, corner.y);
  }
  return {bounds_of(left, top, right, bottom), [corners](uint32_t x, uint32_t y) {
            bool inside = false;
            for (size_t i = 0; i < 4; ++i) {
              const Spot a = corners[i], b = corners[(i + 1) % 4];
              if (distance(a, b, x, y) <= 0.5) return true;
              if ((a.y > int64_t{y}) == (b.y > int64_t{y})) continue;
              const double cross = a.x + (static_cast<double>(y) - a.y) * (b.x - a.x) / (b.y - a.y);
              if (x < cross) inside = !inside;
            }
            return inside;
          }};
}

Border color_of(const Format& format, uint32_t rgb, const ColorMatrix& matrix) {
  const double in[3] = {static_cast<double>(rgb >> 16 & 255), static_cast<double>(rgb >> 8 & 255),
                        static_cast<double>(rgb & 255)};
  Border color{BorderKind::constant, {0, 0, 0, 255}};
  for (int i = 0; i < 3; ++i) {
    double value = in[i];
    if (format.family != Family::rgb) {
      value = matrix.to_yuv.bias[i];
      for (int k = 0; k < 3; ++k) value += matrix.to_yuv.m[3 * i + k] * in[k];
    }
    color.value[i] = static_cast<uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
  }
  return color;
}

void paint(const Picture& to, const Shape& shape, const Border& color) {
  const uint32_t right = shape.bounds.left + shape.bounds.width;
  const uint32_t bottom = shape.bounds.top + shape.bounds.height;
  const auto planes = to.planes_of(shape.bounds);
  for (size_t i = 0; i < planes.size(); ++i) {
    const Plane& plane = planes[i];
    const bool chroma = i > 0 && to.format->packing == Packing::semiplanar;
    const uint32_t sx = chroma ? to.format->shift_x : 0, sy = chroma ? to.format->shift_y : 0;
    const uint32_t left = shape.bounds.left >> sx, top = shape.bounds.top >> sy;
    uint8_t values[4];
    for (uint32_t c = 0; c < plane.channels; ++c) values[c] = constant_of(*to.format, color, i, c);
    const auto covered = [&](uint32_t x, uint32_t y) {
      for (uint32_t py = std::max(y << sy, shape.bounds.top); py < std::min((y + 1) << sy, bottom);
           ++py)
        for (uint32_t px = std::max(x << sx, shape.bounds.left);
             px < std::min((x + 1) << sx, right); ++px)
          if (shape.covers(px, py)) return true;
      return false;
    };
    for (uint32_t y = 0; y < plane.height; ++y)
      for (uint32_t x = 0; x < plane.width; ++x)
        if (covered(left + x, top + y))
          std::copy_n(values, plane.channels, plane.row(y) + size_t{x} * plane.channels);
  }
}

void pixelate(const Picture& to, const Rect& region, uint32_t side) {
  const auto planes = to.planes_of(region);
  for (size_t i = 0; i < planes.size(); ++i) {
    const Plane& plane = planes[i];
    const bool chroma = i > 0 && to.format->packing == Packing::semiplanar;
    const uint32_t across = side >> (chroma ? to.format->shift_x : 0);
    const uint32_t down = side >> (chroma ? to.format->shift_y : 0);
    for (uint32_t top = 0; top < plane.height; top += down) {
      const uint32_t bottom = std::min(top + down, plane.height);
      for (uint32_t left = 0; left < plane.width; left += across) {
        const uint32_t right = std::min(left + across, plane.width);
        const uint32_t count = (bottom - top) * (right - left);
        for (uint32_t c = 0; c < plane.channels; ++c) {
          const auto each = [&](const auto& use) {
            for (uint32_t y = top; y < bottom; ++y)
              for (uint32_t x = left; x < right; ++x)
                use(plane.row(y)[size_t{x} * plane.channels + c]);
          };
          uint32_t sum = 0;
          each([&](uint8_t value) { sum += value; });
          each([&](uint8_t& value) { value = static_cast<uint8_t>((sum + count / 2) / count); });
        }
      }
    }
  }
}

}  // namespace anynpu::pixel
