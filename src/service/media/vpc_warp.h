// SPDX-License-Identifier: Apache-2.0
// Warping by matrices and by tables. A table holds for each pixel of the output, row by row, where
// it lies in the input: two floats, x and y.
#pragma once

#include <array>

#include "service/media/vpc_filters.h"

namespace anynpu::media {

// Two rows of three: output = matrix * input.
using AffineMatrix = std::array<float, 6>;

// Points of the input and where they lie in the output.
struct PointPairs {
  struct FloatPoint {
    float x = 0, y = 0;
  };
  std::array<FloatPoint, 4> from, to;
  uint32_t from_count = 0, to_count = 0;
};

// Memory of a program for a table; its sides are those of the output.
struct WarpTable {
  void* data = nullptr;
  uint32_t bytes = 0;
  uint32_t width = 0, height = 0;
};

struct WarpSpec {
  PicturePair pair;
  uint32_t interpolation = 0;  // 0: bilinear, 1: nearest
  BorderSpec border;
};

// The matrix that takes three points to three others.
Result<AffineMatrix> affine_through_points(const PointPairs& points);
// A turn by `angle` degrees about a point, and a scale.
Result<AffineMatrix> rotation_matrix(PointPairs::FloatPoint center, float angle, float scale);

// Bytes of the table for an output of this size.
Result<uint32_t> warp_table_bytes(uint32_t width, uint32_t height);
// Fill a table: by three points (affine) or four (perspective), or from two maps of floats.
Status fill_affine_table(const PointPairs& points, uint32_t interpolation, const WarpTable& table);
Status fill_perspective_table(const PointPairs& points, uint32_t interpolation,
                              const WarpTable& table);
Status fill_table_from_maps(const void* xs, const void* ys, uint32_t map_bytes,
                            const WarpTable& table);

Status add_affine_warp(VpcJob& job, const WarpSpec& warp, const AffineMatrix& matrix);
Status add_table_warp(VpcJob& job, const WarpSpec& warp, const WarpTable& table);

}  // namespace anynpu::media
