// SPDX-License-Identifier: Apache-2.0
// Conversion of the vendor's structs for VPC calls. No other file reads or writes their fields.
// Functions that take a pointer refuse null.
#pragma once

#include <vector>

#include "acl/dvpp/hi_dvpp.h"
#include "service/media/vpc_channel.h"
#include "service/media/vpc_draw.h"
#include "service/media/vpc_filters.h"
#include "service/media/vpc_regions.h"
#include "service/media/vpc_warp.h"

namespace anynpu::mpi {

media::PictureSpec spec_of(const hi_vpc_pic_info& picture);
media::CoverSpec shape_of(const hi_cover& cover);
media::LineSpec shape_of(const hi_line& line);
media::MosaicSpec shape_of(const hi_mosaic& mosaic);
// Two pictures of a call: "source_pic" and "dest_pic".
Result<media::PicturePair> pair_of(const hi_vpc_pic_info* from, const hi_vpc_pic_info* to);
// Two pictures inside the parameters of a call.
template <typename Param>
media::PicturePair pair_of(const Param& param) {
  return {spec_of(param.src), spec_of(param.dst)};
}

// Regions of one picture.
struct Regions {
  media::PictureSpec from;
  std::vector<media::RegionSpec> regions;
};
Result<Regions> regions_of(const hi_vpc_pic_info* from, const hi_vpc_crop_region_info* regions,
                           hi_u32 count);
Result<Regions> regions_of(const hi_vpc_pic_info* from, const hi_vpc_crop_resize_region* regions,
                           hi_u32 count);
Result<Regions> regions_of(const hi_vpc_pic_info* from,
                           const hi_vpc_crop_resize_paste_region* regions, hi_u32 count);
Result<Regions> regions_of(const hi_vpc_pic_info* from,
                           const hi_vpc_crop_resize_resize_paste_region* regions, hi_u32 count);
Result<Regions> regions_of(const hi_vpc_pic_info* from,
                           const hi_vpc_crop_resize_border_region* regions, hi_u32 count);

media::BorderSpec border_of(const hi_vpc_make_border_info& border);
// Where the input lies in the output.
struct BorderOffset {
  uint32_t left, top;
};
BorderOffset offset_of(const hi_vpc_make_border_info& border);
uint32_t alpha_of(const hi_csc_conf& conf);
// The memory of the counts, which lie in the order that add_histogram writes.
void* counts_of(hi_vpc_histogram_config* histogram);
pixel::Lookup lookup_of(const hi_vpc_lut_remap& table);
Result<std::vector<media::PictureSpec>> levels_of(const hi_vpc_pic_info* levels, hi_u32 count);

media::MorphSpec morph_of(const hi_blur_param& param);
media::GaussianSpec gaussian_of(const hi_gaussian_blur_param& param);
media::FilterSpec filter_of(const hi_filter_2d_param& param);
uint32_t side_of(const hi_median_blur_param& param);
int32_t mode_of(const hi_flip_param& param);
int32_t turn_of(const hi_rotate_param& param);

Result<std::vector<media::CoverSpec>> shapes_of(const hi_cover_param* param);
Result<std::vector<media::LineSpec>> shapes_of(const hi_line_param* param);
Result<std::vector<media::MosaicSpec>> shapes_of(const hi_mosaic_param* param);

media::PointPairs points_of(const hi_point_pair_info& points);
media::PointPairs::FloatPoint point_of(const hi_float_point& point);
Result<media::AffineMatrix> matrix_of(const hi_transform_matrix& matrix);
void give(const media::AffineMatrix& matrix, hi_transform_matrix* to);
media::WarpSpec warp_of(const hi_warp_transform_param& param);
Result<media::WarpTable> table_of(const hi_remap_lut* lut);
struct WarpMaps {
  const void *xs, *ys;
  uint32_t bytes;
};
WarpMaps maps_of(const hi_map_param& param);

// A matrix by number, or the program's own.
Result<media::ChannelMatrix> matrix_of(hi_csc_matrix number, const hi_csc_coefficient* own);
void give(const media::ChannelMatrix& matrix, hi_csc_matrix* number, hi_csc_coefficient* values);
Status check_workspaces(const hi_vpc_workspace_param* workspaces, hi_u32 count);

}  // namespace anynpu::mpi
