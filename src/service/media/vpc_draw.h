// SPDX-License-Identifier: Apache-2.0
// Drawing: the output is the input with shapes over it. Colours are 0xRRGGBB, made YUV by the
// matrix of the job.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "pixel/draw.h"
#include "service/media/vpc_filters.h"

namespace anynpu::media {

struct DrawRect {
  int32_t x = 0, y = 0;
  uint32_t width = 0, height = 0;
};

struct CoverSpec {
  enum Type : int32_t { rectangle, quadrangle };
  int32_t type = rectangle;
  uint32_t color = 0;
  DrawRect rect;                       // of a rectangle
  std::array<pixel::Spot, 4> corners;  // of a quadrangle
  bool solid = true;                   // else its edge is drawn
  uint32_t thickness = 0;              // of that edge
};
struct LineSpec {
  pixel::Spot from, to;
  uint32_t thickness = 0;
  uint32_t color = 0;
};
struct MosaicSpec {
  DrawRect rect;
  int32_t block = 0;  // side 4 << block, 0 to 5
};

inline constexpr uint32_t kMostShapes = 100;
// 1 to kMostShapes.
Status check_shape_count(uint32_t count);

// Shapes are drawn in their order.
Status add_covers(VpcJob& job, const PicturePair& pair, std::span<const CoverSpec> covers);
Status add_lines(VpcJob& job, const PicturePair& pair, std::span<const LineSpec> lines);
Status add_mosaics(VpcJob& job, const PicturePair& pair, std::span<const MosaicSpec> mosaics);

// On a picture, at once.
Status draw_cover(const CoverSpec& cover, const pixel::Picture& to,
                  const pixel::ColorMatrix& matrix);
Status draw_mosaic(const MosaicSpec& mosaic, const pixel::Picture& to);

}  // namespace anynpu::media
