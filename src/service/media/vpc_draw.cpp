// SPDX-License-Identifier: Apache-2.0
#include "service/media/vpc_draw.h"

namespace anynpu::media {
namespace {

// What one shape does to a picture.
using Stroke = std::function<void(const pixel::Picture&)>;

Status check_color(uint32_t color) {
  if (color <= 0xffffff) return {};
  return fail(Code::invalid_argument, "the colour is {:#x}; expected 0xRRGGBB", color);
}

Status check_thickness(uint32_t thickness) {
  if (thickness >= 1 && thickness <= 8192) return {};
  return fail(Code::invalid_argument, "the thickness is {}; expected 1 to 8192 pixels", thickness);
}

Status check_spot(const pixel::Spot& spot, const PictureSpec& picture) {
  if (spot.x < 0 || spot.y < 0 || static_cast<uint32_t>(spot.x) >= picture.width ||
      static_cast<uint32_t>(spot.y) >= picture.height)
    return fail(Code::invalid_argument, "the point {},{} lies outside a picture of {}x{} pixels",
                spot.x, spot.y, picture.width, picture.height);
  return {};
}

Result<pixel::Rect> check_rect(const DrawRect& rect, const PictureSpec& picture) {
  if (rect.x < 0 || rect.y < 0 || rect.width == 0 || rect.height == 0 ||
      uint64_t{rect.width} + static_cast<uint32_t>(rect.x) > picture.width ||
      uint64_t{rect.height} + static_cast<uint32_t>(rect.y) > picture.height)
    return fail(Code::invalid_argument,
                "the region of {}x{} pixels at {},{} is not inside a picture of {}x{} pixels",
                rect.width, rect.height, rect.x, rect.y, picture.width, picture.height);
  return pixel::Rect{static_cast<uint32_t>(rect.x), static_cast<uint32_t>(rect.y), rect.width,
                     rect.height};
}

Stroke fill_stroke(pixel::Shape shape, uint32_t color, const pixel::ColorMatrix& matrix) {
  return [shape = std::move(shape), color, matrix](const pixel::Picture& to) {
    pixel::paint(to, shape, pixel::color_of(*to.format, color, matrix));
  };
}

Stroke line_stroke(const LineSpec& line, const pixel::ColorMatrix& matrix) {
  return [line, matrix](const pixel::Picture& picture) {
    pixel::paint(picture, pixel::line(line.from, line.to, line.thickness, picture),
                 pixel::color_of(*picture.format, line.color, matrix));
  };
}

Status add_strokes(VpcJob& job, const PicturePair& pair, std::vector<Stroke> strokes) {
  return job.add_work(
      pair.from, pair.to, VpcJob::Size::same,
      [strokes = std::move(strokes)](const pixel::Picture& from, const pixel::Picture& to) {
        pixel::convert(from, to, pixel::color_matrix(0));  // a copy
        for (const Stroke& stroke : strokes) stroke(to);
      });
}

Status add_cover(const CoverSpec& cover, const PictureSpec& picture,
                 const pixel::ColorMatrix& matrix, std::vector<Stroke>* strokes) {
  ANYNPU_TRY(check_color(cover.color));
  if (cover.type == CoverSpec::rectangle) {
    ANYNPU_ASSIGN(const auto rect, check_rect(cover.rect, picture));
    strokes->push_back(fill_stroke(pixel::rectangle(rect), cover.color, matrix));
    return {};
  }
  if (cover.type != CoverSpec::quadrangle)
    return fail(Code::invalid_argument,
                "the cover is of type {}; expected 0 (rectangle) or 1 (quadrangle)", cover.type);
  for (const pixel::Spot& corner : cover.corners) ANYNPU_TRY(check_spot(corner, picture));
  if (cover.solid) {
    strokes->push_back(fill_stroke(pixel::quadrangle(cover.corners), cover.color, matrix));
    return {};
  }
  ANYNPU_TRY(check_thickness(cover.thickness));
  for (size_t i = 0; i < 4; ++i)
    strokes->push_back(line_stroke(
        {cover.corners[i], cover.corners[(i + 1) % 4], cover.thickness, cover.color}, matrix));
  return {};
}

Status add_mosaic(const MosaicSpec& mosaic, const PictureSpec& picture,
                  std::vector<Stroke>* strokes) {
  if (mosaic.block < 0 || mosaic.block > 5)
    return fail(Code::invalid_argument,
                "blk_size is {}; expected 0 (blocks of 4 pixels) to 5 (of 128)", mosaic.block);
  ANYNPU_ASSIGN(const auto rect, check_rect(mosaic.rect, picture));
  strokes->push_back([rect, side = 4u << mosaic.block](const pixel::Picture& to) {
    pixel::pixelate(to, rect, side);
  });
  return {};
}

// What the checks look at.
PictureSpec size_of(const pixel::Picture& picture) {
  PictureSpec spec;
  spec.width = picture.width;
  spec.height = picture.height;
  return spec;
}

Status check_layout(const pixel::Picture& picture) {
  if (picture.format->packing != pixel::Packing::packed_422) return {};
  return fail(Code::invalid_argument, "nothing can be drawn on {}", picture.format->name);
}

}  // namespace

Status draw_cover(const CoverSpec& cover, const pixel::Picture& to,
                  const pixel::ColorMatrix& matrix) {
  std::vector<Stroke> strokes;
  ANYNPU_TRY(check_layout(to));
  ANYNPU_TRY(add_cover(cover, size_of(to), matrix, &strokes));
  for (const Stroke& stroke : strokes) stroke(to);
  return {};
}

Status draw_mosaic(const MosaicSpec& mosaic, const pixel::Picture& to) {
  std::vector<Stroke> strokes;
  ANYNPU_TRY(check_layout(to));
  ANYNPU_TRY(add_mosaic(mosaic, size_of(to), &strokes));
  for (const Stroke& stroke : strokes) stroke(to);
  return {};
}

Status check_shape_count(uint32_t count) {
  if (count >= 1 && count <= kMostShapes) return {};
  return fail(Code::invalid_argument, "{} shapes; expected 1 to {}", count, kMostShapes);
}

Status add_covers(VpcJob& job, const PicturePair& pair, std::span<const CoverSpec> covers) {
  std::vector<Stroke> strokes;
  for (const CoverSpec& cover : covers)
    ANYNPU_TRY(add_cover(cover, pair.from, job.matrix(), &strokes));
  return add_strokes(job, pair, std::move(strokes));
}

Status add_lines(VpcJob& job, const PicturePair& pair, std::span<const LineSpec> lines) {
  std::vector<Stroke> strokes;
  for (const LineSpec& line : lines) {
    ANYNPU_TRY(check_color(line.color));
    ANYNPU_TRY(check_thickness(line.thickness));
    ANYNPU_TRY(check_spot(line.from, pair.from));
    ANYNPU_TRY(check_spot(line.to, pair.from));
    strokes.push_back(line_stroke(line, job.matrix()));
  }
  return add_strokes(job, pair, std::move(strokes));
}

Status add_mosaics(VpcJob& job, const PicturePair& pair, std::span<const MosaicSpec> mosaics) {
  std::vector<Stroke> strokes;
  for (const MosaicSpec& mosaic : mosaics) ANYNPU_TRY(add_mosaic(mosaic, pair.from, &strokes));
  return add_strokes(job, pair, std::move(strokes));
}

}  // namespace anynpu::media
