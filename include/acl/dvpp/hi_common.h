/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, frames and files as all units describe them. */
#ifndef ACL_DVPP_HI_COMMON_H_
#define ACL_DVPP_HI_COMMON_H_

#include "acl/dvpp/hi_errno.h"
#include "acl/dvpp/hi_payload_type.h"
#include "acl/dvpp/hi_pixel_format.h"
#include "acl/dvpp/hi_types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  HI_DATA_BIT_WIDTH_8 = 0,
  HI_DATA_BIT_WIDTH_10 = 1,
  HI_DATA_BIT_WIDTH_12 = 2,
  HI_DATA_BIT_WIDTH_14 = 3,
  HI_DATA_BIT_WIDTH_16 = 4,
  HI_DATA_BIT_WIDTH_BUTT = 5,
} hi_data_bit_width;

typedef enum {
  HI_VIDEO_FORMAT_LINEAR = 0,
  HI_VIDEO_FORMAT_TILE_64x16 = 1,
  HI_VIDEO_FORMAT_BUTT = 2,
} hi_video_format;

typedef enum {
  HI_COMPRESS_MODE_NONE = 0,
  HI_COMPRESS_MODE_SEG = 1,
  HI_COMPRESS_MODE_TILE = 2,
  HI_COMPRESS_MODE_HFBC = 3,
  HI_COMPRESS_MODE_LINE = 4,
  HI_COMPRESS_MODE_FRAME = 5,
  HI_COMPRESS_MODE_BUTT = 6,
} hi_compress_mode;

typedef enum {
  HI_COLOR_GAMUT_BT601 = 0,
  HI_COLOR_GAMUT_BT709 = 1,
  HI_COLOR_GAMUT_BT2020 = 2,
  HI_COLOR_GAMUT_USER = 3,
  HI_COLOR_GAMUT_BUTT = 4,
} hi_color_gamut;

typedef enum {
  HI_DYNAMIC_RANGE_SDR8 = 0,
  HI_DYNAMIC_RANGE_SDR10 = 1,
  HI_DYNAMIC_RANGE_HDR10 = 2,
  HI_DYNAMIC_RANGE_HLG = 3,
  HI_DYNAMIC_RANGE_SLF = 4,
  HI_DYNAMIC_RANGE_XDR = 5,
  HI_DYNAMIC_RANGE_BUTT = 6,
} hi_dynamic_range;

typedef enum {
  HI_VIDEO_FIELD_TOP = 1,
  HI_VIDEO_FIELD_BOTTOM = 2,
  HI_VIDEO_FIELD_INTERLACED = 3,
  HI_VIDEO_FIELD_FRAME = 4,
  HI_VIDEO_FIELD_BUTT = 5,
} hi_video_field;

typedef enum {
  HI_VIDEO_OUT_ORDER_DISPLAY = 0,
  HI_VIDEO_OUT_ORDER_DEC = 1,
  HI_VIDEO_OUT_ORDER_BUTT = 2,
} hi_video_out_order;

typedef enum {
  HI_JPEG_RAW_FORMAT_YUV444 = 0,
  HI_JPEG_RAW_FORMAT_YUV422 = 1,
  HI_JPEG_RAW_FORMAT_YUV420 = 2,
  HI_JPEG_RAW_FORMAT_YUV440 = 3,
  HI_JPEG_RAW_FORMAT_YUV400 = 4,
  HI_JPEG_RAW_FORMAT_YUV411 = 5,
  HI_JPEG_RAW_FORMAT_MAX = 100,
} hi_jpeg_raw_format;

typedef enum {
  HI_PNG_COLOR_FORMAT_GRAY = 0,
  HI_PNG_COLOR_FORMAT_RGB = 2,
  HI_PNG_COLOR_FORMAT_CLUT = 3,
  HI_PNG_COLOR_FORMAT_AGRAY = 4,
  HI_PNG_COLOR_FORMAT_ARGB = 6,
  HI_PNG_COLOR_FORMAT_BUTT = 256,
} hi_png_color_format;

typedef enum {
  HI_CSC_MATRIX_BT601_WIDE = 0,
  HI_CSC_MATRIX_BT601_NARROW = 1,
  HI_CSC_MATRIX_BT709_WIDE = 2,
  HI_CSC_MATRIX_BT709_NARROW = 3,
  HI_CSC_MATRIX_BT2020_WIDE = 4,
  HI_CSC_MATRIX_BT2020_NARROW = 5,
  HI_CSC_MATRIX_USER = 100,
  HI_CSC_MATRIX_BUTT = 101,
} hi_csc_matrix;

typedef enum {
  HI_OP_MODE_AUTO = 0,
  HI_OP_MODE_MANUAL = 1,
} hi_op_mode;

typedef enum {
  HI_VIDEO_DISPLAY_MODE_PREVIEW = 0,
  HI_VIDEO_DISPLAY_MODE_PLAYBACK = 1,
} hi_video_display_mode;

typedef enum {
  HI_MOD_VPC = 0,
  HI_MOD_VENC = 1,
  HI_MOD_VDEC = 2,
  HI_MOD_JPEGE = 3,
  HI_MOD_JPEGD = 4,
  HI_MOD_PNGD = 5,
  HI_MOD_ALL = 100,
  HI_MOD_BUTT = 255,
} hi_module_type;

typedef enum {
  HI_COORD_ABS = 0,
  HI_COORD_RATIO = 1,
} hi_coord;

typedef enum {
  HI_ASPECT_RATIO_NONE = 0,
  HI_ASPECT_RATIO_AUTO = 1,
  HI_ASPECT_RATIO_MANUAL = 2,
} hi_aspect_ratio_type;

typedef enum {
  VB_REMAP_MODE_NONE = 0,
  VB_REMAP_MODE_NOCACHE = 1,
  VB_REMAP_MODE_CACHED = 2,
} hi_vb_remap_mode;

typedef struct {
  hi_u32 width;
  hi_u32 height;
} hi_size;

typedef struct {
  hi_double csc_matrix_r0_c0;
  hi_double csc_matrix_r0_c1;
  hi_double csc_matrix_r0_c2;
  hi_double csc_matrix_r1_c0;
  hi_double csc_matrix_r1_c1;
  hi_double csc_matrix_r1_c2;
  hi_double csc_matrix_r2_c0;
  hi_double csc_matrix_r2_c1;
  hi_double csc_matrix_r2_c2;
  hi_double csc_bias_r0;
  hi_double csc_bias_r1;
  hi_double csc_bias_r2;
} hi_coefficient;

typedef struct {
  hi_coefficient yuv_to_rgb_coefficient;
  hi_coefficient rgb_to_yuv_coefficient;
} hi_csc_coefficient;

typedef struct {
  hi_u64 misc_info_phys_addr;
  hi_u64 jpeg_dcf_phys_addr;
  hi_u64 isp_info_phys_addr;
  hi_u64 low_delay_phys_addr;
  hi_u64 bnr_rnt_phys_addr;
  hi_u64 motion_data_phys_addr;
  hi_u64 frame_dng_phys_addr;
  hi_u64 offset;
  hi_void* misc_info_virt_addr;
  hi_void* jpeg_dcf_virt_addr;
  hi_void* isp_info_virt_addr;
  hi_void* low_delay_virt_addr;
  hi_void* bnr_mot_virt_addr;
  hi_void* motion_data_virt_addr;
  hi_void* frame_dng_virt_addr;
} hi_video_supplement;

typedef struct {
  hi_u32 width;
  hi_u32 height;
  hi_video_field field;
  hi_pixel_format pixel_format;
  hi_video_format video_format;
  hi_compress_mode compress_mode;
  hi_dynamic_range dynamic_range;
  hi_color_gamut color_gamut;
  hi_u32 header_stride[HI_MAX_COLOR_COMPONENT];
  hi_u32 width_stride[HI_MAX_COLOR_COMPONENT];
  hi_u32 height_stride[HI_MAX_COLOR_COMPONENT];
  hi_u64 header_phys_addr[HI_MAX_COLOR_COMPONENT];
  hi_u64 phys_addr[HI_MAX_COLOR_COMPONENT];
  hi_void* header_virt_addr[HI_MAX_COLOR_COMPONENT];
  hi_void* virt_addr[HI_MAX_COLOR_COMPONENT];
  hi_u32 time_ref;
  hi_u64 pts;
  hi_u64 user_data[HI_MAX_USER_DATA_NUM];
  hi_u32 frame_flag;
  hi_video_supplement supplement;
} hi_video_frame;

typedef struct {
  hi_video_frame v_frame;
  hi_u32 pool_id;
  hi_mod_id mod_id;
} hi_video_frame_info;

typedef struct {
  hi_u32 width;
  hi_u32 height;
} hi_video_size;

typedef struct {
  hi_u32 width;
  hi_u32 height;
  hi_u32 width_stride;
  hi_u32 height_stride;
  hi_u32 img_buf_size;
  hi_jpeg_raw_format pixel_format;
  hi_png_color_format png_pixel_format;
  hi_pixel_format img_pixel_format;
  hi_u32 reserved[4];
} hi_img_info;

typedef struct {
  hi_u32 width;
  hi_u32 height;
  hi_u32 align;
  hi_data_bit_width bit_width;
  hi_pixel_format pixel_format;
  hi_compress_mode compress_mode;
} hi_pic_buf_attr;

typedef struct {
  hi_payload_type type;
  hi_u8* addr;
  hi_u32 len;
  hi_u64 pts;
  hi_s32 reserved[2];
} hi_img_stream;

typedef struct {
  hi_void* picture_address;
  hi_u32 picture_buffer_size;
  hi_u32 picture_width;
  hi_u32 picture_height;
  hi_u32 picture_width_stride;
  hi_u32 picture_height_stride;
  hi_pixel_format picture_format;
} hi_pic_info;

typedef struct {
  hi_s32 x;
  hi_s32 y;
  hi_u32 width;
  hi_u32 height;
} hi_rect;

typedef struct {
  hi_bool enable;
  hi_rect rect;
} hi_crop_info;

typedef struct {
  hi_mod_id mod_id;
  hi_s32 dev_id;
  hi_s32 chn_id;
} hi_mpp_chn;

typedef struct {
  hi_s32 src_frame_rate;
  hi_s32 dst_frame_rate;
} hi_frame_rate_ctrl;

typedef struct {
  hi_s32 x;
  hi_s32 y;
} hi_point;

typedef struct {
  hi_u32 width;
  hi_u32 height;
  hi_pixel_format pixel_format;
  hi_u64 reserved[2];
} hi_img_base_info;

typedef struct {
  hi_u32 width_stride;
  hi_u32 height_stride;
  hi_u64 img_buf_size;
  hi_u64 reserved[2];
} hi_img_align_info;

#ifdef __cplusplus
}
#endif

#endif
