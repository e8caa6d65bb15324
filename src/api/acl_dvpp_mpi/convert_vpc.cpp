// SPDX-License-Identifier: Apache-2.0
#include "api/acl_dvpp_mpi/convert_vpc.h"

#include <cstring>

#include "api/acl_dvpp_mpi/mpi.h"

namespace anynpu::mpi {
namespace {

media::RegionSpec::Area area_of(const hi_vpc_crop_region& r) {
  return {r.left_offset, r.top_offset, r.crop_width, r.crop_height};
}

media::VpcJob::Scale scale_of(const hi_vpc_resize_info& size) {
  return {size.resize_width, size.resize_height, size.interpolation};
}

media::BorderSpec border_of(hi_vpc_bord_type type, const hi_vpc_scalar& value) {
  media::BorderSpec border;
  border.kind = type;
  std::copy_n(value.val, 4, border.value);
  return border;
}

template <typename Region>
media::RegionSpec cropped(const Region& r) {
  media::RegionSpec spec;
  spec.to = spec_of(r.dest_pic_info);
  spec.crop = area_of(r.crop_region);
  return spec;
}

template <typename Region>
media::RegionSpec pasted(const Region& r, const hi_vpc_resize_info& size) {
  media::RegionSpec spec = cropped(r);
  spec.resize = scale_of(size);
  spec.left = r.dest_left_offset;
  spec.top = r.dest_top_offset;
  return spec;
}

media::RegionSpec region_of(const hi_vpc_crop_region_info& r) { return cropped(r); }

media::RegionSpec region_of(const hi_vpc_crop_resize_region& r) {
  media::RegionSpec spec = cropped(r);
  spec.resize = scale_of(r.resize_info);
  return spec;
}

media::RegionSpec region_of(const hi_vpc_crop_resize_paste_region& r) {
  return pasted(r, r.resize_info);
}

media::RegionSpec region_of(const hi_vpc_crop_resize_resize_paste_region& r) {
  media::RegionSpec spec = pasted(r, r.resize_info2);
  spec.first = scale_of(r.resize_info1);
  return spec;
}

media::RegionSpec region_of(const hi_vpc_crop_resize_border_region& r) {
  media::RegionSpec spec = pasted(r, r.resize_info);
  spec.border = border_of(r.border_type, r.scalar_value);
  return spec;
}

template <typename Region>
Result<Regions> convert_regions(const hi_vpc_pic_info* from, const Region* regions, hi_u32 count) {
  ANYNPU_TRY(check_pointer(from, "source_pic"));
  ANYNPU_TRY(check_pointer(regions, "the list of regions"));
  ANYNPU_TRY(media::check_region_count(count));
  Regions out;
  out.from = spec_of(*from);
  for (hi_u32 i = 0; i < count; ++i) out.regions.push_back(region_of(regions[i]));
  return out;
}

pixel::Spot spot_of(const hi_point& point) { return {point.x, point.y}; }

media::DrawRect rect_of(const hi_rect& rect) { return {rect.x, rect.y, rect.width, rect.height}; }

}  // namespace

media::CoverSpec shape_of(const hi_cover& cover) {
  media::CoverSpec spec;
  spec.type = cover.type;
  spec.color = cover.color;
  if (cover.type == HI_COVER_RECT) {
    spec.rect = rect_of(cover.rect);
    return spec;
  }
  for (size_t i = 0; i < 4; ++i) spec.corners[i] = spot_of(cover.quad.point[i]);
  spec.solid = cover.quad.is_solid != HI_FALSE;
  spec.thickness = cover.quad.thick;
  return spec;
}

media::LineSpec shape_of(const hi_line& line) {
  return {spot_of(line.start_point), spot_of(line.end_point), line.thick, line.color};
}

media::MosaicSpec shape_of(const hi_mosaic& mosaic) {
  return {rect_of(mosaic.rect), mosaic.blk_size};
}

namespace {

template <typename Spec, typename Param, typename Shape>
Result<std::vector<Spec>> convert_shapes(const Param* param, Shape* Param::*shapes) {
  ANYNPU_TRY(check_pointer(param, "the parameters"));
  ANYNPU_TRY(media::check_shape_count(param->count));
  ANYNPU_TRY(check_pointer(param->*shapes, "the shapes"));
  std::vector<Spec> specs;
  for (hi_u32 i = 0; i < param->count; ++i) specs.push_back(shape_of((param->*shapes)[i]));
  return specs;
}

hi_coefficient coefficients_of(const pixel::Matrix& m) {
  return {m.m[0], m.m[1], m.m[2], m.m[3],    m.m[4],    m.m[5],
          m.m[6], m.m[7], m.m[8], m.bias[0], m.bias[1], m.bias[2]};
}

pixel::Matrix matrix_of(const hi_coefficient& c) {
  return {{c.csc_matrix_r0_c0, c.csc_matrix_r0_c1, c.csc_matrix_r0_c2, c.csc_matrix_r1_c0,
           c.csc_matrix_r1_c1, c.csc_matrix_r1_c2, c.csc_matrix_r2_c0, c.csc_matrix_r2_c1,
           c.csc_matrix_r2_c2},
          {c.csc_bias_r0, c.csc_bias_r1, c.csc_bias_r2}};
}

}  // namespace

media::PictureSpec spec_of(const hi_vpc_pic_info& p) {
  return {p.picture_address, p.picture_buffer_size,  p.picture_format,       p.picture_width,
          p.picture_height,  p.picture_width_stride, p.picture_height_stride};
}

Result<media::PicturePair> pair_of(const hi_vpc_pic_info* from, const hi_vpc_pic_info* to) {
  ANYNPU_TRY(check_pointer(from, "source_pic"));
  ANYNPU_TRY(check_pointer(to, "dest_pic"));
  return media::PicturePair{spec_of(*from), spec_of(*to)};
}

Result<Regions> regions_of(const hi_vpc_pic_info* from, const hi_vpc_crop_region_info* regions,
                           hi_u32 count) {
  return convert_regions(from, regions, count);
}
Result<Regions> regions_of(const hi_vpc_pic_info* from, const hi_vpc_crop_resize_region* regions,
                           hi_u32 count) {
  return convert_regions(from, regions, count);
}
Result<Regions> regions_of(const hi_vpc_pic_info* from,
                           const hi_vpc_crop_resize_paste_region* regions, hi_u32 count) {
  return convert_regions(from, regions, count);
}
Result<Regions> regions_of(const hi_vpc_pic_info* from,
                           const hi_vpc_crop_resize_resize_paste_region* regions, hi_u32 count) {
  return convert_regions(from, regions, count);
}
Result<Regions> regions_of(const hi_vpc_pic_info* from,
                           const hi_vpc_crop_resize_border_region* regions, hi_u32 count) {
  return convert_regions(from, regions, count);
}

media::BorderSpec border_of(const hi_vpc_make_border_info& border) {
  return border_of(border.border_type, border.scalar_value);
}

BorderOffset offset_of(const hi_vpc_make_border_info& border) { return {border.left, border.top}; }

uint32_t alpha_of(const hi_csc_conf& conf) { return conf.alpha; }

void* counts_of(hi_vpc_histogram_config* histogram) {
  static_assert(sizeof *histogram == sizeof(pixel::Histogram::count));
  static_assert(offsetof(hi_vpc_histogram_config, histogram_y_or_r) == 0);
  return histogram;
}

pixel::Lookup lookup_of(const hi_vpc_lut_remap& table) {
  pixel::Lookup lookup;
  std::memcpy(lookup.value[0], table.map_value_y_or_r, 256);
  std::memcpy(lookup.value[1], table.map_value_u_or_g, 256);
  std::memcpy(lookup.value[2], table.map_value_v_or_b, 256);
  return lookup;
}

Result<std::vector<media::PictureSpec>> levels_of(const hi_vpc_pic_info* levels, hi_u32 count) {
  ANYNPU_TRY(check_pointer(levels, "dest_pic"));
  ANYNPU_TRY(media::check_level_count(count));
  std::vector<media::PictureSpec> specs;
  for (hi_u32 i = 0; i < count; ++i) specs.push_back(spec_of(levels[i]));
  return specs;
}

media::MorphSpec morph_of(const hi_blur_param& param) {
  const hi_blur_config& c = param.blur_cfg;
  return {{c.kernel_size.width, c.kernel_size.height, c.anchor.x, c.anchor.y},
          c.morph_shapes,
          c.iterations,
          border_of(c.border_type, c.scalar_value)};
}

media::GaussianSpec gaussian_of(const hi_gaussian_blur_param& param) {
  const hi_gaussian_blur_config& c = param.gaussian_blur_cfg;
  return {{c.kernel_size.width, c.kernel_size.height, -1, -1},
          c.sigma_x,
          c.sigma_y,
          border_of(c.border_type, c.scalar_value)};
}

media::FilterSpec filter_of(const hi_filter_2d_param& param) {
  const hi_filter_2d_config& c = param.filter_2d_cfg;
  media::FilterSpec filter;
  filter.kernel = {c.kernel_size.width, c.kernel_size.height, c.anchor.x, c.anchor.y};
  for (int i = 0; i < 25; ++i) filter.weights[i / 5][i % 5] = c.filter[i / 5][i % 5];
  filter.delta = c.delta;
  filter.border = border_of(c.border_type, c.scalar_value);
  return filter;
}

uint32_t side_of(const hi_median_blur_param& param) { return param.median_blur_cfg.kernel_size; }
int32_t mode_of(const hi_flip_param& param) { return param.flip_mode; }
int32_t turn_of(const hi_rotate_param& param) { return param.angle; }

Result<std::vector<media::CoverSpec>> shapes_of(const hi_cover_param* param) {
  return convert_shapes<media::CoverSpec>(param, &hi_cover_param::cover);
}
Result<std::vector<media::LineSpec>> shapes_of(const hi_line_param* param) {
  return convert_shapes<media::LineSpec>(param, &hi_line_param::line);
}
Result<std::vector<media::MosaicSpec>> shapes_of(const hi_mosaic_param* param) {
  return convert_shapes<media::MosaicSpec>(param, &hi_mosaic_param::mosaic);
}

media::PointPairs::FloatPoint point_of(const hi_float_point& point) { return {point.x, point.y}; }

media::PointPairs points_of(const hi_point_pair_info& points) {
  media::PointPairs pairs;
  for (size_t i = 0; i < 4; ++i) {
    pairs.from[i] = point_of(points.src_point[i]);
    pairs.to[i] = point_of(points.dest_point[i]);
  }
  pairs.from_count = points.src_point_count;
  pairs.to_count = points.dest_point_count;
  return pairs;
}

Result<media::AffineMatrix> matrix_of(const hi_transform_matrix& matrix) {
  if (matrix.matrix_type != HI_MATRIX_2_PLUS_3)
    return fail(Code::invalid_argument, "the matrix type is {}; expected 0 (two rows of three)",
                matrix.matrix_type);
  media::AffineMatrix out;
  for (int i = 0; i < 6; ++i) out[i] = matrix.matrix[i / 3][i % 3];
  return out;
}

void give(const media::AffineMatrix& matrix, hi_transform_matrix* to) {
  *to = {};
  to->matrix_type = HI_MATRIX_2_PLUS_3;
  for (int i = 0; i < 6; ++i) to->matrix[i / 3][i % 3] = matrix[i];
}

media::WarpSpec warp_of(const hi_warp_transform_param& param) {
  const hi_transform_config& c = param.transform_config;
  return {pair_of(param), c.interpolation, border_of(c.border_type, c.scalar_value)};
}

Result<media::WarpTable> table_of(const hi_remap_lut* lut) {
  ANYNPU_TRY(check_pointer(lut, "remap_lut"));
  return media::WarpTable{lut->lut, lut->lut_size, lut->dest_pic_width, lut->dest_pic_height};
}

WarpMaps maps_of(const hi_map_param& param) { return {param.map1, param.map2, param.map_size}; }

Result<media::ChannelMatrix> matrix_of(hi_csc_matrix number, const hi_csc_coefficient* own) {
  media::ChannelMatrix matrix;
  matrix.number = static_cast<uint32_t>(number);
  if (number != HI_CSC_MATRIX_USER) return matrix;
  ANYNPU_TRY(check_pointer(own, "csc_coefficient"));
  matrix.number = media::ChannelMatrix::kOwn;
  matrix.matrix.to_rgb = matrix_of(own->yuv_to_rgb_coefficient);
  matrix.matrix.to_yuv = matrix_of(own->rgb_to_yuv_coefficient);
  return matrix;
}

void give(const media::ChannelMatrix& matrix, hi_csc_matrix* number, hi_csc_coefficient* values) {
  *number = static_cast<hi_csc_matrix>(matrix.number);
  values->yuv_to_rgb_coefficient = coefficients_of(matrix.matrix.to_rgb);
  values->rgb_to_yuv_coefficient = coefficients_of(matrix.matrix.to_yuv);
}

Status check_workspaces(const hi_vpc_workspace_param* workspaces, hi_u32 count) {
  ANYNPU_TRY(check_pointer(workspaces, "workspace_param"));
  for (hi_u32 i = 0; i < count; ++i)
    if (workspaces[i].func != REMAP && workspaces[i].func != AFFINE)
      return fail(Code::invalid_argument, "the function is {}; expected 0 (remap) or 1 (affine)",
                  workspaces[i].func);
  return {};
}

}  // namespace anynpu::mpi
