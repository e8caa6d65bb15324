// SPDX-License-Identifier: Apache-2.0
#include "pixel/filter.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/thread_pool.h"
#include "pixel/edge.h"

namespace anynpu::pixel {
namespace {

constexpr size_t kRowsApart = 16;

uint8_t rounded(double value) {
  return static_cast<uint8_t>(std::clamp(std::nearbyint(value), 0.0, 255.0));
}

// Calls work(source, target, plane, row) for every row of every plane.
template <typename Work>
void each_row(const Picture& from, const Picture& to, const Work& work) {
  for (int i = 0; i < to.planes(); ++i) {
    const Plane source = from.plane(i);
    const Plane target = to.plane(i);
    ThreadPool::instance().parallel_for(target.height, kRowsApart, [&](size_t begin, size_t end) {
      for (size_t y = begin; y < end; ++y) work(source, target, i, static_cast<uint32_t>(y));
    });
  }
}

// The positions that the window reads around each of n, width of the window for each; -1 for the
// constant.
std::vector<int64_t> positions(uint32_t n, uint32_t length, uint32_t anchor, BorderKind kind) {
  std::vector<int64_t> all(size_t{n} * length);
  for (uint32_t at = 0; at < n; ++at)
    for (uint32_t k = 0; k < length; ++k)
      all[size_t{at} * length + k] = inside_of(int64_t{at} + k - anchor, n, kind);
  return all;
}

}  // namespace

void filter(const Picture& from, const Picture& to, const Window& window,
            std::span<const double> weights, double delta, const Border& border) {
  each_row(from, to, [&](const Plane& source, const Plane& target, int plane, uint32_t y) {
    const auto columns = positions(source.width, window.width, window.anchor_x, border.kind);
    for (uint32_t x = 0; x < target.width; ++x) {
      for (uint32_t c = 0; c < target.channels; ++c) {
        const double outside = constant_of(*from.format, border, plane, c);
        double sum = delta;
        for (uint32_t ky = 0; ky < window.height; ++ky) {
          const int64_t sy =
              inside_of(int64_t{y} + ky - window.anchor_y, source.height, border.kind);
          const uint8_t* row = sy < 0 ? nullptr : source.row(static_cast<uint32_t>(sy));
          for (uint32_t kx = 0; kx < window.width; ++kx) {
            const int64_t sx = columns[size_t{x} * window.width + kx];
            const double value = row == nullptr || sx < 0 ? outside : row[sx * source.channels + c];
            sum += weights[ky * window.width + kx] * value;
          }
        }
        target.row(y)[size_t{x} * target.channels + c] = rounded(sum);
      }
    }
  });
}

std::vector<double> gaussian_weights(uint32_t length, double sigma) {
  // Short ones without a sigma are fixed numbers in OpenCV.
  static const std::vector<double> fixed[] = {
      {1},
      {0.25, 0.5, 0.25},
      {0.0625, 0.25, 0.375, 0.25, 0.0625},
      {0.03125, 0.109375, 0.21875, 0.28125, 0.21875, 0.109375, 0.03125}};
  if (sigma <= 0 && length % 2 == 1 && length <= 7) return fixed[length / 2];
  const double middle = (length - 1) / 2.0;
  if (sigma <= 0) sigma = 0.3 * (middle - 1) + 0.8;
  std::vector<double> weights(length);
  double sum = 0;
  for (uint32_t i = 0; i < length; ++i) {
    weights[i] = std::exp(-(i - middle) * (i - middle) / (2 * sigma * sigma));
    sum += weights[i];
  }
  for (double& weight : weights) weight /= sum;
  return weights;
}

void choose_by_rank(const Picture& from, const Picture& to, const Window& window,
                    std::span<const uint8_t> mask, Rank rank, const Border& border) {
  each_row(from, to, [&](const Plane& source, const Plane& target, int, uint32_t y) {
    const auto columns = positions(source.width, window.width, window.anchor_x, border.kind);
    std::vector<uint8_t> values;
    for (uint32_t x = 0; x < target.width; ++x) {
      for (uint32_t c = 0; c < target.channels; ++c) {
        values.clear();
        for (uint32_t ky = 0; ky < window.height; ++ky) {
          const int64_t sy =
              inside_of(int64_t{y} + ky - window.anchor_y, source.height, border.kind);
          if (sy < 0) continue;
          const uint8_t* row = source.row(static_cast<uint32_t>(sy));
          for (uint32_t kx = 0; kx < window.width; ++kx) {
            const int64_t sx = columns[size_t{x} * window.width + kx];
            if (sx >= 0 && mask[ky * window.width + kx])
              values.push_back(row[sx * source.channels + c]);
          }
        }
        uint8_t& out = target.row(y)[size_t{x} * target.channels + c];
        if (values.empty()) {
          out = source.row(y)[size_t{x} * source.channels + c];
          continue;
        }
        const size_t place = rank == Rank::least  ? 0
                             : rank == Rank::most ? values.size() - 1
                                                  : values.size() / 2;
        std::nth_element(values.begin(), values.begin() + static_cast<ptrdiff_t>(place),
                         values.end());
        out = values[place];
      }
    }
  });
}

void mirror(const Picture& from, const Picture& to, Mirror how) {
  each_row(from, to, [&](const Plane& source, const Plane& target, int, uint32_t y) {
    const uint8_t* row = source.row(how == Mirror::left_right ? y : source.height - 1 - y);
    uint8_t* out = target.row(y);
    const size_t step = source.channels;
    if (how == Mirror::top_bottom) {
      std::memcpy(out, row, source.width * step);
      return;
    }
    for (uint32_t x = 0; x < source.width; ++x)
      std::memcpy(out + x * step, row + (source.width - 1 - x) * step, step);
  });
}

void turn(const Picture& from, const Picture& to, int times) {
  if (times == 2) return mirror(from, to, Mirror::both);
  each_row(from, to, [&](const Plane& source, const Plane& target, int, uint32_t y) {
    const size_t step = source.channels;
    const uint32_t column = times == 1 ? y : source.width - 1 - y;
    for (uint32_t x = 0; x < target.width; ++x) {
      const uint32_t row = times == 1 ? source.height - 1 - x : x;
      std::memcpy(target.row(y) + x * step, source.row(row) + column * step, step);
    }
  });
}

void warp(const Picture& from, const Picture& to, const Mapping& source_of, bool smooth,
          const Border& border) {
  each_row(from, to, [&](const Plane& source, const Plane& target, int plane, uint32_t y) {
    const double sx =
        plane == 0 || from.format->packing == Packing::planar ? 1 : 1 << from.format->shift_x;
    const double sy =
        plane == 0 || from.format->packing == Packing::planar ? 1 : 1 << from.format->shift_y;
    const auto sample = [&](int64_t px, int64_t py, uint32_t c) -> double {
      px = inside_of(px, source.width, border.kind);
      py = inside_of(py, source.height, border.kind);
      if (px < 0 || py < 0) return constant_of(*from.format, border, plane, c);
      return source.row(static_cast<uint32_t>(py))[px * source.channels + c];
    };
    // Far away points would only cost time in the rules of borders.
    const double far_x = 4.0 * source.width + 16, far_y = 4.0 * source.height + 16;
    for (uint32_t x = 0; x < target.width; ++x) {
      const Point at = source_of(x * sx, y * sy);
      const double px = std::isfinite(at.x) ? std::clamp(at.x / sx, -far_x, far_x) : -far_x;
      const double py = std::isfinite(at.y) ? std::clamp(at.y / sy, -far_y, far_y) : -far_y;
      uint8_t* out = target.row(y) + size_t{x} * target.channels;
      for (uint32_t c = 0; c < target.channels; ++c) {
        if (!smooth) {
          out[c] = rounded(sample(std::llround(px), std::llround(py), c));
          continue;
        }
        const double left = std::floor(px), top = std::floor(py);
        const double fx = px - left, fy = py - top;
        const auto ix = static_cast<int64_t>(left), iy = static_cast<int64_t>(top);
        const double upper = sample(ix, iy, c) * (1 - fx) + sample(ix + 1, iy, c) * fx;
        const double lower = sample(ix, iy + 1, c) * (1 - fx) + sample(ix + 1, iy + 1, c) * fx;
        out[c] = rounded(upper * (1 - fy) + lower * fy);
      }
    }
  });
}

}  // namespace anynpu::pixel
