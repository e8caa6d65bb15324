/* SPDX-License-Identifier: Apache-2.0 */
/* Work on pictures. Calls are queued; hi_mpi_vpc_get_process_result waits for one. */
#ifndef ACL_DVPP_HI_DVPP_VPC_H_
#define ACL_DVPP_HI_DVPP_VPC_H_

#include "hi_vpc_types.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_batch_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info** source_pic, hi_u32 pic_num,
    hi_vpc_crop_resize_border_region* crop_resize_make_border_info, hi_u32* count, hi_u32* task_id,
    hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_batch_crop_resize_paste(
    hi_vpc_chn chn, const hi_vpc_pic_info** source_pic, hi_u32 pic_num,
    hi_vpc_crop_resize_paste_region* crop_resize_paste_info, hi_u32* count, hi_u32* task_id,
    hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_blur(hi_vpc_chn chn, const hi_blur_param* blur_param,
                                           hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_calc_hist(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                                hi_vpc_histogram_config* hist_config,
                                                hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_calc_hist_v2(hi_vpc_chn chn,
                                                   const hi_vpc_pic_info* source_pic,
                                                   hi_vpc_histogram_config* hist_config,
                                                   hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_convert_color(hi_vpc_chn chn,
                                                    const hi_vpc_pic_info* source_pic,
                                                    hi_vpc_pic_info* dest_pic, hi_u32* task_id,
                                                    hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_convert_color_to_yuv420(hi_vpc_chn chn,
                                                              const hi_vpc_pic_info* source_pic,
                                                              hi_vpc_pic_info* dest_pic,
                                                              hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_convert_color_v2(hi_vpc_chn chn,
                                                       const hi_vpc_pic_info* source_pic,
                                                       hi_vpc_pic_info* dest_pic, hi_csc_conf* conf,
                                                       hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_copy_make_border(hi_vpc_chn chn,
                                                       const hi_vpc_pic_info* source_pic,
                                                       hi_vpc_pic_info* dest_pic,
                                                       hi_vpc_make_border_info make_border_info,
                                                       hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_create_chn(hi_vpc_chn chn, const hi_vpc_chn_attr* attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_crop(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                           hi_vpc_crop_region_info* crop_info, hi_u32 count,
                                           hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_crop_resize(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                                  hi_vpc_crop_resize_region* crop_resize_info,
                                                  hi_u32 count, hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_vpc_crop_resize_make_border(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                   hi_vpc_crop_resize_border_region* crop_resize_make_border_info,
                                   hi_u32 count, hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_vpc_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                             hi_vpc_crop_resize_paste_region* crop_resize_paste_info, hi_u32 count,
                             hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_crop_resize_resize_paste(
    hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
    hi_vpc_crop_resize_resize_paste_region* crop_resize_resize_paste_info, hi_u32 count,
    hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_destroy_chn(hi_vpc_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_dilate(hi_vpc_chn chn, const hi_blur_param* dilate_param,
                                             hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_draw_cover(hi_vpc_chn chn, const hi_cover_param* cover_param,
                                                 hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_draw_line(hi_vpc_chn chn, const hi_line_param* line_param,
                                                hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_draw_mosaic(hi_vpc_chn chn,
                                                  const hi_mosaic_param* mosaic_param,
                                                  hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_draw_osd(hi_vpc_chn chn, hi_osd_param* osd_param,
                                               hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_equalize_hist(hi_vpc_chn chn,
                                                    const hi_vpc_pic_info* source_pic,
                                                    hi_vpc_pic_info* dest_pic,
                                                    const hi_vpc_lut_remap* lut_remap,
                                                    hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_erode(hi_vpc_chn chn, const hi_blur_param* erode_param,
                                            hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_filter2d(hi_vpc_chn chn,
                                               const hi_filter_2d_param* filter_2d_param,
                                               hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_flip(hi_vpc_chn chn, hi_flip_param* flip_param,
                                           hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_vpc_gaussian_blur(hi_vpc_chn chn, const hi_gaussian_blur_param* gaussian_blur_param,
                         hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_affine_lut(hi_point_pair_info* point_pair_info,
                                                     hi_u32 interpolation, hi_remap_lut* remap_lut);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_affine_transform(hi_point_pair_info* point_pair_info,
                                                           hi_transform_matrix* matrix);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_lut_mem_size(hi_u32 width, hi_u32 height,
                                                       hi_u32* lut_size);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_perspective_lut(hi_point_pair_info* point_pair_info,
                                                          hi_u32 interpolation,
                                                          hi_remap_lut* remap_lut);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_process_result(hi_vpc_chn chn, hi_u32 task_id,
                                                         hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_remap_lut(hi_map_param* map_param,
                                                    hi_remap_lut* remap_lut);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_rotation_matrix(hi_float_point center_point,
                                                          hi_double angle, hi_double scale,
                                                          hi_transform_matrix* matrix);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_lut_remap(hi_vpc_chn chn,
                                                hi_warp_transform_param* transform_param,
                                                hi_remap_lut* remap_lut, hi_u32* task_id,
                                                hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_median_blur(hi_vpc_chn chn,
                                                  const hi_median_blur_param* median_blur_param,
                                                  hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_pyrdown(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                              hi_vpc_pic_info* dest_pic, hi_u32 filter_level,
                                              hi_s8 gaussian_filter[][5], hi_u16 divisor,
                                              hi_vpc_make_border_info make_border_info,
                                              hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_resize(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                             hi_vpc_pic_info* dest_pic, hi_double fx, hi_double fy,
                                             hi_u32 interpolation, hi_u32* task_id,
                                             hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_rotate(hi_vpc_chn chn, const hi_rotate_param* rotate_param,
                                             hi_u32* task_id, hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_set_chn_opt_attr(hi_vpc_chn chn, const hi_opt_attr* opt_attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_set_chn_workspace(hi_vpc_chn chn,
                                                        hi_vpc_workspace_param* workspace_param,
                                                        hi_u32 param_cnt);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_sys_create_chn(hi_vpc_chn* chnl, const hi_vpc_chn_attr* attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_warp_affine(hi_vpc_chn chn, hi_transform_matrix* matrix,
                                                  hi_warp_transform_param* transform_param,
                                                  hi_u32* task_id, hi_s32 milli_sec);

ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_set_roundview_stitching_param(
    hi_vpc_chn chn, const hi_roundview_stitching_param* stitch_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_get_roundview_stitching_param(
    hi_vpc_chn chn, hi_roundview_stitching_param* stitch_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_vpc_roundview_stitching(
    hi_vpc_chn chn, hi_roundview_stitching_pic_param* roundview_stitching_pic_param,
    hi_u32* task_id, hi_s32 milli_sec);

#ifdef __cplusplus
}
#endif

#endif
