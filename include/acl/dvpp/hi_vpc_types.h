/* SPDX-License-Identifier: Apache-2.0 */
/* Parameters of VPC calls. */
#ifndef ACL_DVPP_HI_VPC_TYPES_H_
#define ACL_DVPP_HI_VPC_TYPES_H_

#include "hi_media_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef hi_s32 hi_vpc_chn;

#define VPC_MAX_CHN_NUM 512

#define HI_ERR_VPC_INVALID_CHN_ID 0xA0078002U
#define HI_ERR_VPC_ILLEGAL_PARAM 0xA0078003U
#define HI_ERR_VPC_EXIST 0xA0078004U
#define HI_ERR_VPC_UNEXIST 0xA0078005U
#define HI_ERR_VPC_NULL_PTR 0xA0078006U
#define HI_ERR_VPC_NOT_CFG 0xA0078007U
#define HI_ERR_VPC_NOT_SUPPORT 0xA0078008U
#define HI_ERR_VPC_NOT_PERM 0xA0078009U
#define HI_ERR_VPC_NO_MEM 0xA007800CU
#define HI_ERR_VPC_NO_BUF 0xA007800DU
#define HI_ERR_VPC_BUF_EMPTY 0xA007800EU
#define HI_ERR_VPC_BUF_FULL 0xA007800FU
#define HI_ERR_VPC_SYS_NOT_READY 0xA0078010U
#define HI_ERR_VPC_BAD_ADDR 0xA0078011U
#define HI_ERR_VPC_BUSY 0xA0078012U
#define HI_ERR_VPC_SYS_ERROR 0xA0078015U

typedef enum {
  OVERLAP_HISTOGRAM = 0,
  GLOBAL_HISTOGRAM = 1,
} hi_stitching_histogram_type;

typedef enum {
  GAIN_NONE = 0,
  GAIN_LUT = 1,
} hi_stitching_gain_type;

typedef enum {
  HI_BORDER_CONSTANT = 0,
  HI_BORDER_REPLICATE = 1,
  HI_BORDER_REFLECT = 2,
  HI_BORDER_REFLECT_101 = 3,
  HI_BORDER_WRAP = 4,
} hi_vpc_bord_type;

typedef enum {
  HI_VPC_CHN_PRIORITY = 0,
  HI_VPC_CHN_TASK_OVERTIME = 1,
} hi_opt_attr_type;

typedef enum {
  MORPH_RECT = 0,
  MORPH_CROSS = 1,
  MORPH_ELLIPSE = 2,
  MORPH_MAX = 100,
} hi_morph_shapes;

typedef enum {
  HI_ROTATION_90 = 0,
  HI_ROTATION_180 = 1,
  HI_ROTATION_270 = 2,
} hi_rotation;

typedef enum {
  HI_OSD_INVERTED_COLOR_NONE = 0,
  HI_OSD_INVERTED_COLOR_RGB = 1,
  HI_OSD_INVERTED_COLOR_ALPHA = 2,
  HI_OSD_INVERTED_COLOR_ALL = 3,
} hi_osd_inverted_color;

typedef enum {
  REMAP = 0,
  AFFINE = 1,
} hi_workspace_func;

typedef enum {
  HI_MATRIX_2_PLUS_3 = 0,
  HI_MATRIX_3_PLUS_3 = 1,
  HI_MATRIX_3_PLUS_4 = 2,
} hi_matrix_type;

typedef enum {
  HI_FLIP_HOR = 0,
  HI_FLIP_VER = 1,
  HI_FLIP_BOTH = 2,
} hi_flip_mode;

typedef struct {
  hi_double val[4];
} hi_vpc_scalar;

typedef struct {
  hi_u32 top;
  hi_u32 bottom;
  hi_u32 left;
  hi_u32 right;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
} hi_vpc_make_border_info;

typedef struct {
  hi_void* picture_address;
  hi_u32 picture_buffer_size;
  hi_u32 picture_width;
  hi_u32 picture_height;
  hi_u32 picture_width_stride;
  hi_u32 picture_height_stride;
  hi_pixel_format picture_format;
} hi_vpc_pic_info;

typedef struct {
  hi_u32 top_offset;
  hi_u32 left_offset;
  hi_u32 crop_width;
  hi_u32 crop_height;
} hi_vpc_crop_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
} hi_vpc_crop_region_info;

typedef struct {
  hi_u32 resize_width;
  hi_u32 resize_height;
  hi_u32 interpolation;
} hi_vpc_resize_info;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info;
} hi_vpc_crop_resize_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info;
  hi_u32 dest_top_offset;
  hi_u32 dest_left_offset;
} hi_vpc_crop_resize_paste_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info;
  hi_u32 dest_top_offset;
  hi_u32 dest_left_offset;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
} hi_vpc_crop_resize_border_region;

typedef struct {
  hi_vpc_pic_info dest_pic_info;
  hi_vpc_crop_region crop_region;
  hi_vpc_resize_info resize_info1;
  hi_vpc_resize_info resize_info2;
  hi_u32 dest_top_offset;
  hi_u32 dest_left_offset;
  hi_u32 reserved[2];
} hi_vpc_crop_resize_resize_paste_region;

typedef struct {
  hi_opt_attr_type attr_type;
  hi_u32 len;
  hi_void* value;
} hi_opt_attr;

typedef struct {
  hi_s32 attr;
  hi_u32 pic_width;
  hi_u32 pic_height;
} hi_vpc_chn_attr;

typedef struct {
  hi_u32 histogram_y_or_r[256];
  hi_u32 histogram_u_or_g[256];
  hi_u32 histogram_v_or_b[256];
} hi_vpc_histogram_config;

typedef struct {
  hi_u8 map_value_y_or_r[256];
  hi_u8 map_value_u_or_g[256];
  hi_u8 map_value_v_or_b[256];
} hi_vpc_lut_remap;

typedef struct {
  hi_u32 alpha;
  hi_u32 attr[4];
} hi_csc_conf;

typedef struct {
  hi_u32 kernel_size;
} hi_median_blur_config;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_median_blur_config median_blur_cfg;
} hi_median_blur_param;

typedef struct {
  hi_size kernel_size;
  hi_morph_shapes morph_shapes;
  hi_point anchor;
  hi_u32 iterations;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
} hi_blur_config;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_blur_config blur_cfg;
} hi_blur_param;

typedef struct {
  hi_size kernel_size;
  hi_double sigma_x;
  hi_double sigma_y;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
  hi_u32 reserved[2];
} hi_gaussian_blur_config;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_gaussian_blur_config gaussian_blur_cfg;
} hi_gaussian_blur_param;

typedef struct {
  hi_double filter[5][5];
  hi_size kernel_size;
  hi_point anchor;
  hi_double delta;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
  hi_u32 reserved[2];
} hi_filter_2d_config;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_filter_2d_config filter_2d_cfg;
} hi_filter_2d_param;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_rotation angle;
} hi_rotate_param;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_u32 count;
  hi_mosaic* mosaic;
} hi_mosaic_param;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_u32 count;
  hi_cover* cover;
} hi_cover_param;

typedef struct {
  hi_point start_point;
  hi_point end_point;
  hi_u32 thick;
  hi_u32 color;
} hi_line;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_u32 count;
  hi_line* line;
} hi_line_param;

typedef struct {
  hi_rect rect;
  hi_pixel_format pixel_format;
  hi_void* picture_address;
  hi_u32 stride;
  hi_u32 bg_alpha;
  hi_u32 fg_alpha;
  hi_osd_inverted_color osd_inverted_color;
} hi_osd;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_u32 count;
  hi_osd* osd;
  hi_u32 clut[16];
} hi_osd_param;

typedef struct {
  hi_float x;
  hi_float y;
} hi_float_point;

typedef struct {
  hi_float_point src_point[4];
  hi_u32 src_point_count;
  hi_float_point dest_point[4];
  hi_u32 dest_point_count;
} hi_point_pair_info;

typedef struct {
  hi_u32 interpolation;
  hi_vpc_bord_type border_type;
  hi_vpc_scalar scalar_value;
} hi_transform_config;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_transform_config transform_config;
} hi_warp_transform_param;

typedef struct {
  hi_matrix_type matrix_type;
  hi_float matrix[3][4];
} hi_transform_matrix;

typedef struct {
  hi_workspace_func func;
  hi_u32 max_source_pic_width;
  hi_u32 max_source_pic_height;
  hi_u32 max_dest_pic_width;
  hi_u32 max_dest_pic_height;
  hi_u64 reserved;
} hi_vpc_workspace_param;

typedef struct {
  hi_void* map1;
  hi_void* map2;
  hi_u32 map_size;
  hi_u32 src_pic_width;
  hi_u32 src_pic_height;
  hi_u32 dest_pic_width;
  hi_u32 dest_pic_height;
  hi_u64 reserved;
} hi_map_param;

typedef struct {
  hi_u32 src_pic_width;
  hi_u32 src_pic_height;
  hi_u32 dest_pic_width;
  hi_u32 dest_pic_height;
  hi_void* lut;
  hi_u32 lut_size;
  hi_u64 reserved;
} hi_remap_lut;

typedef struct {
  hi_vpc_pic_info src;
  hi_vpc_pic_info dst;
  hi_flip_mode flip_mode;
} hi_flip_param;

/* Surround view from several pictures: where each pixel of the result comes from. */
typedef struct {
  hi_u32 pic1_index;
  hi_u32 pic2_index;
  hi_float weight1;
  hi_float weight2;
  hi_float offset1_x;
  hi_float offset1_y;
  hi_float offset2_x;
  hi_float offset2_y;
} hi_stiching_ipm_table;

typedef struct {
  hi_u32 src_pic_width;
  hi_u32 src_pic_height;
  hi_u32 dest_pic_width;
  hi_u32 dest_pic_height;
  union {
    hi_u32 ipm_table_len;
    hi_u32 lut_table_len;
  };
  union {
    hi_stiching_ipm_table* ipm_table_address;
    hi_void* lut_table_address;
  };
} hi_stiching_ipm_param;

typedef struct {
  hi_u32 pic_index;
  hi_u32 overlap_pic_index;
  hi_vpc_histogram_config histogram_info;
} hi_stitching_histogram_param;

typedef struct {
  hi_stitching_histogram_type hist_type;
  hi_stitching_gain_type gain_type;
  hi_void* user_data;
  hi_s32 (*calulate_gain_callback)(hi_void*, hi_void*, hi_u32, hi_void*, hi_u32);
} hi_stitching_gain_param;

typedef struct {
  hi_stiching_ipm_param imp_conf;
  hi_stitching_gain_param gain_conf;
  hi_u32 reserved[7];
  hi_u32 stitch_table_type;
} hi_roundview_stitching_param;

typedef struct {
  hi_vpc_pic_info* dest_pic;
  hi_u32 count;
  hi_vpc_pic_info* source_pic;
} hi_roundview_stitching_pic_param;

#ifdef __cplusplus
}
#endif

#endif
