/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures, frames and files as all units describe them. */
#ifndef ACL_DVPP_HI_MEDIA_COMMON_H_
#define ACL_DVPP_HI_MEDIA_COMMON_H_

#include "hi_errno.h"
#include "hi_media_type.h"
#include "hi_payload_type.h"
#include "hi_pixel_format.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HI_MAX_COLOR_COMPONENT 3
#define HI_MAX_USER_DATA_NUM 2
#define ALIGN_NUM 8
#define DEFAULT_ALIGN 32

#ifndef ALIGN_UP
#define ALIGN_UP(x, a) ((((x) + ((a)-1)) / (a)) * (a))
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
  HI_COORD_ABS = 0,
  HI_COORD_RATIO = 1,
} hi_coord;

typedef enum {
  HI_ASPECT_RATIO_NONE = 0,
  HI_ASPECT_RATIO_AUTO = 1,
  HI_ASPECT_RATIO_MANUAL = 2,
} hi_aspect_ratio_type;

typedef enum {
  HI_BLK_SIZE_4 = 0,
  HI_BLK_SIZE_8 = 1,
  HI_BLK_SIZE_16 = 2,
  HI_BLK_SIZE_32 = 3,
  HI_BLK_SIZE_64 = 4,
  HI_BLK_SIZE_128 = 5,
} hi_blk_size;

typedef enum {
  HI_COVER_RECT = 0,
  HI_COVER_QUAD = 1,
} hi_cover_type;

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
  union {
    hi_u64 frame_dng_phys_addr;
    hi_u64 offset;
  };
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
  union {
    hi_jpeg_raw_format pixel_format;
    hi_png_color_format png_pixel_format;
    hi_pixel_format img_pixel_format;
  };
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
  hi_blk_size blk_size;
  hi_rect rect;
} hi_mosaic;

typedef struct {
  hi_bool is_solid;
  hi_u32 thick;
  hi_point point[4];
} hi_quad_cover;

typedef struct {
  hi_cover_type type;
  union {
    hi_rect rect;
    hi_quad_cover quad;
  };
  hi_u32 color;
} hi_cover;

typedef struct {
  hi_aspect_ratio_type mode;
  hi_u32 bg_color;
  hi_rect video_rect;
} hi_aspect_ratio;

typedef struct {
  hi_pixel_format pixel_format;
  hi_u32 width;
  hi_u32 height;
  hi_void* data;
} hi_bmp;

/* Memory of the media units, and the version of the library. */
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, void** dev_ptr, hi_u64 size);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_free(void* dev_ptr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_dvpp_get_version(hi_s32* major_version, hi_s32* minor_version,
                                                   hi_s32* patch_version);

#ifdef __cplusplus
}
#endif

#endif
