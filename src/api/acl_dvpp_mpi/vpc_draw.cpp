// SPDX-License-Identifier: Apache-2.0
// Drawing into pictures: the input with shapes over it is the output (acl.himpi.vpc_draw_cover and
// its kin). Colours are 0xRRGGBB, made YUV by the matrix of the channel.
#include <array>
#include <vector>

#include "api/acl_dvpp_mpi/vpc_call.h"
#include "pixel/draw.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

constexpr hi_u32 kMostShapes = 100;

Status check_color(hi_u32 color) {
  if (color <= 0xffffff) return {};
  return fail(Code::invalid_argument, "the colour is {:#x}; expected 0xRRGGBB", color);
}

Status check_thickness(hi_u32 thick) {
  if (thick >= 1 && thick <= 8192) return {};
  return fail(Code::invalid_argument, "the thickness is {}; expected 1 to 8192 pixels", thick);
}

Result<pixel::Spot> spot_of(const hi_point& point, const hi_vpc_pic_info& picture) {
  if (point.x < 0 || point.y < 0 || static_cast<hi_u32>(point.x) >= picture.picture_width ||
      static_cast<hi_u32>(point.y) >= picture.picture_height)
    return fail(Code::invalid_argument, "the point {},{} lies outside a picture of {}x{} pixels",
                point.x, point.y, picture.picture_width, picture.picture_height);
  return pixel::Spot{point.x, point.y};
}

Result<pixel::Rect> rect_of(const hi_rect& rect, const hi_vpc_pic_info& picture) {
  if (rect.x < 0 || rect.y < 0 || rect.width == 0 || rect.height == 0 ||
      uint64_t{rect.width} + static_cast<hi_u32>(rect.x) > picture.picture_width ||
      uint64_t{rect.height} + static_cast<hi_u32>(rect.y) > picture.picture_height)
    return fail(Code::invalid_argument,
                "the region of {}x{} pixels at {},{} is not inside a picture of {}x{} pixels",
                rect.width, rect.height, rect.x, rect.y, picture.picture_width,
                picture.picture_height);
  return pixel::Rect{static_cast<uint32_t>(rect.x), static_cast<uint32_t>(rect.y), rect.width,
                     rect.height};
}

// What one shape of a call does to a picture.
using Stroke = std::function<void(const pixel::Picture&)>;

Stroke painting(pixel::Shape shape, hi_u32 color, const pixel::ColorMatrix& matrix) {
  return [shape = std::move(shape), color, matrix](const pixel::Picture& to) {
    pixel::paint(to, shape, pixel::color_of(*to.format, color, matrix));
  };
}

Stroke line_of(pixel::Spot from, pixel::Spot to, hi_u32 thick, hi_u32 color,
               const pixel::ColorMatrix& matrix) {
  return [=](const pixel::Picture& picture) {
    pixel::paint(picture, pixel::line(from, to, thick, picture),
                 pixel::color_of(*picture.format, color, matrix));
  };
}

// One call: the strokes of `count` shapes, in their order. `add(shape, matrix, &strokes)` checks
// one.
template <typename Param, typename Shape, typename Add>
hi_s32 draw(const char* function, hi_vpc_chn chn, const Param* param, Shape* Param::*shapes,
            hi_u32* task_id, hi_s32 milli_sec, Add add) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(param, "the parameters"));
    if (param->count < 1 || param->count > kMostShapes)
      return fail(Code::invalid_argument, "{} shapes; expected 1 to {}", param->count, kMostShapes);
    ANYNPU_TRY(check_pointer(param->*shapes, "the shapes"));
    std::vector<Stroke> strokes;
    for (hi_u32 i = 0; i < param->count; ++i)
      ANYNPU_TRY(add((param->*shapes)[i], job.matrix(), &strokes));
    return job.add_work(spec_of(param->src), spec_of(param->dst), VpcJob::Size::same,
                        [strokes](const pixel::Picture& from, const pixel::Picture& to) {
                          pixel::convert(from, to, pixel::color_matrix(0));  // a copy
                          for (const Stroke& stroke : strokes) stroke(to);
                        });
  });
}

}  // namespace

hi_s32 hi_mpi_vpc_draw_cover(hi_vpc_chn chn, const hi_cover_param* cover_param, hi_u32* task_id,
                             hi_s32 milli_sec) {
  const auto add = [&](const hi_cover& cover, const pixel::ColorMatrix& matrix,
                       std::vector<Stroke>* strokes) -> Status {
    ANYNPU_TRY(check_color(cover.color));
    if (cover.type == HI_COVER_RECT) {
      ANYNPU_ASSIGN(const auto rect, rect_of(cover.rect, cover_param->src));
      strokes->push_back(painting(pixel::rectangle(rect), cover.color, matrix));
      return {};
    }
    if (cover.type != HI_COVER_QUAD)
      return fail(Code::invalid_argument,
                  "the cover is of type {}; expected 0 (rectangle) or 1 (quadrangle)", cover.type);
    std::array<pixel::Spot, 4> corners;
    for (size_t i = 0; i < 4; ++i) {
      ANYNPU_ASSIGN(corners[i], spot_of(cover.quad.point[i], cover_param->src));
    }
    if (cover.quad.is_solid) {
      strokes->push_back(painting(pixel::quadrangle(corners), cover.color, matrix));
      return {};
    }
    ANYNPU_TRY(check_thickness(cover.quad.thick));
    for (size_t i = 0; i < 4; ++i)
      strokes->push_back(
          line_of(corners[i], corners[(i + 1) % 4], cover.quad.thick, cover.color, matrix));
    return {};
  };
  return draw(__func__, chn, cover_param, &hi_cover_param::cover, task_id, milli_sec, add);
}

hi_s32 hi_mpi_vpc_draw_line(hi_vpc_chn chn, const hi_line_param* line_param, hi_u32* task_id,
                            hi_s32 milli_sec) {
  const auto add = [&](const hi_line& line, const pixel::ColorMatrix& matrix,
                       std::vector<Stroke>* strokes) -> Status {
    ANYNPU_TRY(check_color(line.color));
    ANYNPU_TRY(check_thickness(line.thick));
    ANYNPU_ASSIGN(const auto from, spot_of(line.start_point, line_param->src));
    ANYNPU_ASSIGN(const auto to, spot_of(line.end_point, line_param->src));
    strokes->push_back(line_of(from, to, line.thick, line.color, matrix));
    return {};
  };
  return draw(__func__, chn, line_param, &hi_line_param::line, task_id, milli_sec, add);
}

hi_s32 hi_mpi_vpc_draw_mosaic(hi_vpc_chn chn, const hi_mosaic_param* mosaic_param, hi_u32* task_id,
                              hi_s32 milli_sec) {
  const auto add = [&](const hi_mosaic& mosaic, const pixel::ColorMatrix&,
                       std::vector<Stroke>* strokes) -> Status {
    if (mosaic.blk_size < HI_BLK_SIZE_4 || mosaic.blk_size > HI_BLK_SIZE_128)
      return fail(Code::invalid_argument,
                  "blk_size is {}; expected 0 (blocks of 4 pixels) to 5 (of 128)", mosaic.blk_size);
    ANYNPU_ASSIGN(const auto rect, rect_of(mosaic.rect, mosaic_param->src));
    strokes->push_back([rect, side = 4u << mosaic.blk_size](const pixel::Picture& to) {
      pixel::pixelate(to, rect, side);
    });
    return {};
  };
  return draw(__func__, chn, mosaic_param, &hi_mosaic_param::mosaic, task_id, milli_sec, add);
}
