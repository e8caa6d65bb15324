// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_warp.h"

#include <cmath>
#include <cstring>
#include <vector>

namespace anynpu::media {
namespace {

constexpr uint32_t kMostSide = 8192;
constexpr size_t kPointBytes = 2 * sizeof(float);

// Rows of three: output = matrix * input, divided by the third.
using Homography = std::array<double, 9>;

// Solves n equations; false when they do not have one solution.
bool solve(std::vector<std::vector<double>>& rows) {
  const size_t n = rows.size();
  for (size_t i = 0; i < n; ++i) {
    size_t best = i;
    for (size_t k = i + 1; k < n; ++k)
      if (std::fabs(rows[k][i]) > std::fabs(rows[best][i])) best = k;
    if (!(std::fabs(rows[best][i]) > 1e-9)) return false;
    std::swap(rows[i], rows[best]);
    for (size_t k = 0; k < n; ++k) {
      if (k == i) continue;
      const double factor = rows[k][i] / rows[i][i];
      for (size_t j = i; j <= n; ++j) rows[k][j] -= factor * rows[i][j];
    }
  }
  for (size_t i = 0; i < n; ++i) rows[i][n] /= rows[i][i];
  return true;
}

// The mapping that takes `from` to `to`: by three points an affine one, by four any.
Result<Homography> through_points(const PointPairs& pairs, uint32_t count) {
  if (pairs.from_count != count || pairs.to_count != count)
    return fail(Code::invalid_argument, "{} and {} points; expected {} of each", pairs.from_count,
                pairs.to_count, count);
  std::vector<std::vector<double>> rows;
  for (uint32_t i = 0; i < count; ++i) {
    const double x = pairs.from[i].x, y = pairs.from[i].y;
    const double u = pairs.to[i].x, v = pairs.to[i].y;
    if (count == 3) {
      rows.push_back({x, y, 1, 0, 0, 0, u});
      rows.push_back({0, 0, 0, x, y, 1, v});
    } else {
      rows.push_back({x, y, 1, 0, 0, 0, -u * x, -u * y, u});
      rows.push_back({0, 0, 0, x, y, 1, -v * x, -v * y, v});
    }
  }
  if (!solve(rows))
    return fail(Code::invalid_argument, "the points lie on one line, or two are the same");
  Homography h{0, 0, 0, 0, 0, 0, 0, 0, 1};
  for (size_t i = 0; i < rows.size(); ++i) h[i] = rows[i].back();
  return h;
}

Result<Homography> inverse(const Homography& h) {
  std::vector<std::vector<double>> rows;
  Homography out{};
  for (int column = 0; column < 3; ++column) {
    rows.clear();
    for (int i = 0; i < 3; ++i)
      rows.push_back({h[3 * i], h[3 * i + 1], h[3 * i + 2], i == column ? 1.0 : 0.0});
    if (!solve(rows)) return fail(Code::invalid_argument, "the matrix has no inverse");
    for (int i = 0; i < 3; ++i) out[3 * i + column] = rows[i][3];
  }
  return out;
}

pixel::Point apply_homography(const Homography& h, double x, double y) {
  const double w = h[6] * x + h[7] * y + h[8];
  return {(h[0] * x + h[1] * y + h[2]) / w, (h[3] * x + h[4] * y + h[5]) / w};
}

AffineMatrix affine_of(const Homography& h) {
  AffineMatrix matrix;
  for (int i = 0; i < 6; ++i) matrix[i] = static_cast<float>(h[i]);
  return matrix;
}

Result<bool> is_bilinear(uint32_t interpolation) {
  if (interpolation <= 1) return interpolation == 0;
  return fail(Code::invalid_argument,
              "the interpolation is {}; expected 0 (bilinear) or 1 (nearest)", interpolation);
}

Status check_sides(uint32_t width, uint32_t height) {
  if (width >= 1 && height >= 1 && width <= kMostSide && height <= kMostSide) return {};
  return fail(Code::invalid_argument, "a picture of {}x{}; expected 1x1 to {}x{}", width, height,
              kMostSide, kMostSide);
}

// The memory of a table, which must hold every point of the output.
Result<device::Range> check_table(const WarpTable& table, device::Access access) {
  ANYNPU_TRY(check_sides(table.width, table.height));
  const size_t needed = size_t{table.width} * table.height * kPointBytes;
  if (table.bytes < needed)
    return fail(Code::invalid_argument,
                "the table has {} bytes; an output of {}x{} takes {} (vpc_get_lut_mem_size)",
                table.bytes, table.width, table.height, needed);
  return device::check_host_range(table.data, needed, access, "the table");
}

Status fill_through_points(const PointPairs& pairs, uint32_t count, uint32_t interpolation,
                           const WarpTable& table) {
  ANYNPU_TRY(is_bilinear(interpolation).status());
  ANYNPU_ASSIGN(const auto memory, check_table(table, device::Access::write));
  ANYNPU_ASSIGN(const auto there, through_points(pairs, count));
  ANYNPU_ASSIGN(const auto back, inverse(there));
  uint8_t* to = memory.address;
  for (uint32_t y = 0; y < table.height; ++y) {
    for (uint32_t x = 0; x < table.width; ++x, to += kPointBytes) {
      const pixel::Point at = apply_homography(back, x, y);
      const float point[2] = {static_cast<float>(at.x), static_cast<float>(at.y)};
      std::memcpy(to, point, sizeof point);
    }
  }
  return {};
}

Status add_warp(VpcJob& job, const WarpSpec& warp, pixel::Mapping source) {
  ANYNPU_ASSIGN(const bool smooth, is_bilinear(warp.interpolation));
  ANYNPU_ASSIGN(const auto border, check_border(warp.border));
  return job.add_work(warp.pair.from, warp.pair.to, VpcJob::Size::any,
                      [=](const pixel::Picture& from, const pixel::Picture& to) {
                        pixel::warp(from, to, source, smooth, border);
                      });
}

}  // namespace

Result<AffineMatrix> affine_through_points(const PointPairs& points) {
  ANYNPU_ASSIGN(const auto found, through_points(points, 3));
  return affine_of(found);
}

Result<AffineMatrix> rotation_matrix(PointPairs::FloatPoint center, float angle, float scale) {
  if (!std::isfinite(angle) || !std::isfinite(scale) || !std::isfinite(center.x) ||
      !std::isfinite(center.y))
    return fail(Code::invalid_argument,
                "a turn by {} about ({}, {}), scaled by {}; expected finite numbers", angle,
                center.x, center.y, scale);
  const double radians = static_cast<double>(angle) * M_PI / 180;
  const double a = scale * std::cos(radians), b = scale * std::sin(radians);
  const double x = center.x, y = center.y;
  return affine_of({a, b, (1 - a) * x - b * y, -b, a, b * x + (1 - a) * y, 0, 0, 1});
}

Result<uint32_t> warp_table_bytes(uint32_t width, uint32_t height) {
  ANYNPU_TRY(check_sides(width, height));
  return static_cast<uint32_t>(size_t{width} * height * kPointBytes);
}

Status fill_affine_table(const PointPairs& points, uint32_t interpolation, const WarpTable& table) {
  return fill_through_points(points, 3, interpolation, table);
}

Status fill_perspective_table(const PointPairs& points, uint32_t interpolation,
                              const WarpTable& table) {
  return fill_through_points(points, 4, interpolation, table);
}

Status fill_table_from_maps(const void* xs, const void* ys, uint32_t map_bytes,
                            const WarpTable& table) {
  ANYNPU_ASSIGN(const auto memory, check_table(table, device::Access::write));
  const size_t count = size_t{table.width} * table.height;
  const size_t bytes = count * sizeof(float);
  if (map_bytes < bytes)
    return fail(Code::invalid_argument, "the maps have {} bytes; {}x{} floats take {}", map_bytes,
                table.width, table.height, bytes);
  ANYNPU_ASSIGN(const auto map1, device::check_host_range(xs, bytes, device::Access::read, "map1"));
  ANYNPU_ASSIGN(const auto map2, device::check_host_range(ys, bytes, device::Access::read, "map2"));
  for (size_t i = 0; i < count; ++i) {
    uint8_t* point = memory.address + i * kPointBytes;
    std::memcpy(point, map1.address + i * sizeof(float), sizeof(float));
    std::memcpy(point + sizeof(float), map2.address + i * sizeof(float), sizeof(float));
  }
  return {};
}

Status add_affine_warp(VpcJob& job, const WarpSpec& warp, const AffineMatrix& matrix) {
  Homography there{0, 0, 0, 0, 0, 0, 0, 0, 1};
  for (int i = 0; i < 6; ++i) there[i] = matrix[i];
  ANYNPU_ASSIGN(const auto back, inverse(there));
  return add_warp(job, warp, [back](double x, double y) { return apply_homography(back, x, y); });
}

Status add_table_warp(VpcJob& job, const WarpSpec& warp, const WarpTable& table) {
  ANYNPU_ASSIGN(const auto memory, check_table(table, device::Access::read));
  if (warp.pair.to.width != table.width || warp.pair.to.height != table.height)
    return fail(Code::invalid_argument, "the table is for {}x{} pixels, the output has {}x{}",
                table.width, table.height, warp.pair.to.width, warp.pair.to.height);
  return add_warp(job, warp, [memory, width = table.width](double x, double y) -> pixel::Point {
    float point[2];
    const auto at = static_cast<size_t>(y) * width + static_cast<size_t>(x);
    std::memcpy(point, memory.address + at * kPointBytes, sizeof point);
    return {point[0], point[1]};
  });
}

}  // namespace anynpu::media
