// SPDX-License-Identifier: Apache-2.0
// Warping by matrices and tables (acl.himpi.vpc_warp_affine and its kin). A table holds for each
// pixel of the output, row by row, where it lies in the input: two floats, x and y.
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "api/acl_dvpp_mpi/vpc_call.h"
#include "pixel/filter.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

constexpr hi_u32 kMostSide = 8192;
constexpr size_t kBytesOfPoint = 2 * sizeof(float);

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
Result<Homography> through_points(const hi_point_pair_info& pairs, hi_u32 count) {
  if (pairs.src_point_count != count || pairs.dest_point_count != count)
    return fail(Code::invalid_argument, "{} and {} points; expected {} of each",
                pairs.src_point_count, pairs.dest_point_count, count);
  std::vector<std::vector<double>> rows;
  const bool affine = count == 3;
  for (hi_u32 i = 0; i < count; ++i) {
    const double x = pairs.src_point[i].x, y = pairs.src_point[i].y;
    const double u = pairs.dest_point[i].x, v = pairs.dest_point[i].y;
    if (affine) {
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

pixel::Point apply(const Homography& h, double x, double y) {
  const double w = h[6] * x + h[7] * y + h[8];
  return {(h[0] * x + h[1] * y + h[2]) / w, (h[3] * x + h[4] * y + h[5]) / w};
}

Result<bool> is_smooth(hi_u32 interpolation) {
  if (interpolation <= 2) return interpolation != 2;
  return fail(Code::invalid_argument,
              "the interpolation is {}; expected 0 or 1 (bilinear) or 2 (nearest)", interpolation);
}

Status check_sides(hi_u32 width, hi_u32 height) {
  if (width >= 1 && height >= 1 && width <= kMostSide && height <= kMostSide) return {};
  return fail(Code::invalid_argument, "a picture of {}x{}; expected 1x1 to {}x{}", width, height,
              kMostSide, kMostSide);
}

// The memory of a table, which must hold every point of the output.
Result<device::Range> table_of(const hi_remap_lut* lut, device::Access access) {
  ANYNPU_TRY(mpi::check_pointer(lut, "remap_lut"));
  ANYNPU_TRY(check_sides(lut->dest_pic_width, lut->dest_pic_height));
  const size_t needed = size_t{lut->dest_pic_width} * lut->dest_pic_height * kBytesOfPoint;
  if (lut->lut_size < needed)
    return fail(Code::invalid_argument,
                "the table has {} bytes; an output of {}x{} takes {} (vpc_get_lut_mem_size)",
                lut->lut_size, lut->dest_pic_width, lut->dest_pic_height, needed);
  return device::check_range(lut->lut, needed, access, "the table");
}

Status fill(const device::Range& table, const hi_remap_lut& lut, const pixel::Mapping& source) {
  uint8_t* to = table.address;
  for (hi_u32 y = 0; y < lut.dest_pic_height; ++y) {
    for (hi_u32 x = 0; x < lut.dest_pic_width; ++x, to += kBytesOfPoint) {
      const pixel::Point at = source(x, y);
      const float point[2] = {static_cast<float>(at.x), static_cast<float>(at.y)};
      std::memcpy(to, point, sizeof point);
    }
  }
  return {};
}

Status fill_through_points(const hi_point_pair_info* pairs, hi_u32 count, hi_u32 interpolation,
                           hi_remap_lut* lut) {
  ANYNPU_TRY(mpi::check_pointer(pairs, "point_pair_info"));
  ANYNPU_TRY(is_smooth(interpolation).status());
  ANYNPU_ASSIGN(const auto table, table_of(lut, device::Access::write));
  ANYNPU_ASSIGN(const auto there, through_points(*pairs, count));
  ANYNPU_ASSIGN(const auto back, inverse(there));
  return fill(table, *lut, [&](double x, double y) { return apply(back, x, y); });
}

Status give(const Homography& h, hi_transform_matrix* matrix) {
  *matrix = {};
  matrix->matrix_type = HI_MATRIX_2_PLUS_3;
  for (int i = 0; i < 6; ++i) matrix->matrix[i / 3][i % 3] = static_cast<hi_float>(h[i]);
  return {};
}

Status add_warp(VpcJob& job, const hi_warp_transform_param& param, pixel::Mapping source) {
  const hi_transform_config& c = param.transform_config;
  ANYNPU_ASSIGN(const bool smooth, is_smooth(c.interpolation));
  ANYNPU_ASSIGN(const auto border, border_of(c.border_type, c.scalar_value));
  return job.add_work(spec_of(param.src), spec_of(param.dst), VpcJob::Size::any,
                      [=](const pixel::Picture& from, const pixel::Picture& to) {
                        pixel::warp(from, to, source, smooth, border);
                      });
}

}  // namespace

hi_s32 hi_mpi_vpc_get_affine_transform(const hi_point_pair_info* point_pair_info,
                                       hi_transform_matrix* matrix) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(point_pair_info, "point_pair_info"));
    ANYNPU_TRY(mpi::check_pointer(matrix, "matrix"));
    ANYNPU_ASSIGN(const auto found, through_points(*point_pair_info, 3));
    return give(found, matrix);
  });
}

hi_s32 hi_mpi_vpc_get_rotation_matrix(const hi_float_point* center_point, hi_float angle,
                                      hi_float scale, hi_transform_matrix* matrix) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(center_point, "center_point"));
    ANYNPU_TRY(mpi::check_pointer(matrix, "matrix"));
    if (!std::isfinite(angle) || !std::isfinite(scale) || !std::isfinite(center_point->x) ||
        !std::isfinite(center_point->y))
      return fail(Code::invalid_argument,
                  "a turn by {} about ({}, {}), scaled by {}; expected finite numbers", angle,
                  center_point->x, center_point->y, scale);
    const double radians = static_cast<double>(angle) * M_PI / 180;
    const double a = scale * std::cos(radians), b = scale * std::sin(radians);
    const double x = center_point->x, y = center_point->y;
    return give({a, b, (1 - a) * x - b * y, -b, a, b * x + (1 - a) * y, 0, 0, 1}, matrix);
  });
}

hi_s32 hi_mpi_vpc_get_lut_mem_size(hi_u32 width, hi_u32 height, hi_u32* lut_size) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(lut_size, "lut_size"));
    ANYNPU_TRY(check_sides(width, height));
    *lut_size = static_cast<hi_u32>(size_t{width} * height * kBytesOfPoint);
    return {};
  });
}

hi_s32 hi_mpi_vpc_get_affine_lut(const hi_point_pair_info* point_pair_info, hi_u32 interpolation,
                                 hi_remap_lut* remap_lut) {
  return mpi::enter(__func__, Module::vpc, [&] {
    return fill_through_points(point_pair_info, 3, interpolation, remap_lut);
  });
}

hi_s32 hi_mpi_vpc_get_perspective_lut(const hi_point_pair_info* point_pair_info,
                                      hi_u32 interpolation, hi_remap_lut* remap_lut) {
  return mpi::enter(__func__, Module::vpc, [&] {
    return fill_through_points(point_pair_info, 4, interpolation, remap_lut);
  });
}

hi_s32 hi_mpi_vpc_get_remap_lut(const hi_map_param* map_param, hi_remap_lut* remap_lut) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(map_param, "map_param"));
    ANYNPU_ASSIGN(const auto table, table_of(remap_lut, device::Access::write));
    const size_t count = size_t{remap_lut->dest_pic_width} * remap_lut->dest_pic_height;
    if (map_param->map_size < count * sizeof(float))
      return fail(Code::invalid_argument, "the maps have {} bytes; {}x{} floats take {}",
                  map_param->map_size, remap_lut->dest_pic_width, remap_lut->dest_pic_height,
                  count * sizeof(float));
    ANYNPU_ASSIGN(const auto xs, device::check_range(map_param->map1, count * sizeof(float),
                                                     device::Access::read, "map1"));
    ANYNPU_ASSIGN(const auto ys, device::check_range(map_param->map2, count * sizeof(float),
                                                     device::Access::read, "map2"));
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(table.address + i * kBytesOfPoint, xs.address + i * sizeof(float), sizeof(float));
      std::memcpy(table.address + i * kBytesOfPoint + sizeof(float), ys.address + i * sizeof(float),
                  sizeof(float));
    }
    return {};
  });
}

hi_s32 hi_mpi_vpc_warp_affine(hi_vpc_chn chn, const hi_transform_matrix* matrix,
                              const hi_warp_transform_param* transform_param, hi_u32* task_id,
                              hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(matrix, "matrix"));
    ANYNPU_TRY(mpi::check_pointer(transform_param, "transform_param"));
    if (matrix->matrix_type != HI_MATRIX_2_PLUS_3)
      return fail(Code::invalid_argument, "the matrix type is {}; expected 0 (two rows of three)",
                  matrix->matrix_type);
    Homography there{0, 0, 0, 0, 0, 0, 0, 0, 1};
    for (int i = 0; i < 6; ++i) there[i] = matrix->matrix[i / 3][i % 3];
    ANYNPU_ASSIGN(const auto back, inverse(there));
    return add_warp(job, *transform_param,
                    [back](double x, double y) { return apply(back, x, y); });
  });
}

hi_s32 hi_mpi_vpc_lut_remap(hi_vpc_chn chn, const hi_warp_transform_param* transform_param,
                            const hi_remap_lut* remap_lut, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(transform_param, "transform_param"));
    ANYNPU_ASSIGN(const auto table, table_of(remap_lut, device::Access::read));
    const hi_u32 width = remap_lut->dest_pic_width;
    if (transform_param->dst.picture_width != width ||
        transform_param->dst.picture_height != remap_lut->dest_pic_height)
      return fail(Code::invalid_argument, "the table is for {}x{} pixels, the output has {}x{}",
                  width, remap_lut->dest_pic_height, transform_param->dst.picture_width,
                  transform_param->dst.picture_height);
    return add_warp(job, *transform_param, [table, width](double x, double y) -> pixel::Point {
      float point[2];
      const auto at = static_cast<size_t>(y) * width + static_cast<size_t>(x);
      std::memcpy(point, table.address + at * kBytesOfPoint, sizeof point);
      return {point[0], point[1]};
    });
  });
}
