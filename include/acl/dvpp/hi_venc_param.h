/* SPDX-License-Identifier: Apache-2.0 */
/* How an encoder is tuned. */
#ifndef ACL_DVPP_HI_VENC_PARAM_H_
#define ACL_DVPP_HI_VENC_PARAM_H_

#include "hi_dvpp_vb.h"
#include "hi_venc_attr.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  hi_u32 one_stream_buf;
  hi_u32 mini_buf_mode;
  hi_u32 low_power_mode;
  hi_vb_src vb_src;
  hi_bool qp_hist_en;
  hi_u32 max_user_data_len;
} hi_venc_h264_mod_param;

typedef struct {
  hi_u32 one_stream_buf;
  hi_u32 mini_buf_mode;
  hi_u32 low_power_mode;
  hi_vb_src vb_src;
  hi_bool qp_hist_en;
  hi_u32 max_user_data_len;
} hi_venc_h265_mod_param;

typedef struct {
  hi_u32 one_stream_buf;
  hi_u32 mini_buf_mode;
  hi_u32 clear_stream_buf;
  hi_u32 dering_mode;
} hi_venc_jpeg_mod_param;

typedef struct {
  hi_u32 buf_cache;
  hi_u32 frame_buf_recycle;
} hi_venc_venc_mod_param;

typedef struct {
  hi_venc_mod_type mod_type;
  union {
    hi_venc_venc_mod_param venc_mod_param;
    hi_venc_h264_mod_param h264_mod_param;
    hi_venc_h265_mod_param h265_mod_param;
    hi_venc_jpeg_mod_param jpeg_mod_param;
  };
} hi_venc_mod_param;

typedef struct {
  hi_u32 qfactor;
  hi_u8 y_qt[HI_VENC_JPEG_QT_COEF_NUM];
  hi_u8 cb_qt[HI_VENC_JPEG_QT_COEF_NUM];
  hi_u8 cr_qt[HI_VENC_JPEG_QT_COEF_NUM];
  hi_u32 mcu_per_ecs;
  hi_bool ecs_output_en;
} hi_venc_jpeg_param;

typedef struct {
  hi_u8 dc_bits[16];
  hi_u8 dc_value[12];
} hi_venc_huffman_dc_table;

typedef struct {
  hi_u8 ac_bits[16];
  hi_u8 ac_value[162];
} hi_venc_huffman_ac_table;

typedef struct {
  hi_venc_huffman_dc_table dc_tables[3];
  hi_venc_huffman_ac_table ac_tables[3];
  hi_u32 reserved[2];
} hi_venc_jpeg_huffman_param;

typedef struct {
  hi_bool color_to_grey_en;
  hi_u32 priority;
  hi_u32 max_stream_cnt;
  hi_u32 poll_wake_up_frame_cnt;
  hi_crop_info crop_info;
  hi_frame_rate_ctrl frame_rate;
} hi_venc_chn_param;

typedef struct {
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
} hi_venc_h264_cbr_param;

typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
} hi_venc_h264_vbr_param;

typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_s32 min_still_percent;
  hi_u32 max_still_qp;
  hi_u32 min_still_psnr;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_u32 min_qp_delta;
  hi_u32 motion_sensitivity;
  hi_bool save_bitrate_en;
} hi_venc_h264_avbr_param;

typedef struct {
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_s32 max_bit_percent;
  hi_s32 min_bit_percent;
  hi_s32 max_psnr_fluctuate;
  hi_s32 min_psnr_fluctuate;
} hi_venc_h264_qvbr_param;

typedef struct {
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_u32 min_qp_delta;
  hi_u32 max_qp_delta;
  hi_u32 extra_bit_percent;
  hi_u32 long_term_stats_time_unit;
  hi_bool save_bitrate_en;
} hi_venc_h264_cvbr_param;

typedef struct {
  hi_u32 max_qfactor;
  hi_u32 min_qfactor;
} hi_venc_mjpeg_cbr_param;

typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_qfactor;
  hi_u32 min_qfactor;
} hi_venc_mjpeg_vbr_param;

typedef struct {
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_cbr_param;

typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_vbr_param;

typedef struct {
  hi_s32 chg_pos;
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_s32 min_still_percent;
  hi_u32 max_still_qp;
  hi_u32 min_still_psnr;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_u32 min_qp_delta;
  hi_u32 motion_sensitivity;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_avbr_param;

typedef struct {
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_s32 max_bit_percent;
  hi_s32 min_bit_percent;
  hi_s32 max_psnr_fluctuate;
  hi_s32 min_psnr_fluctuate;
} hi_venc_h265_qvbr_param;

typedef struct {
  hi_u32 max_i_proportion;
  hi_u32 min_i_proportion;
  hi_s32 max_reencode_times;
  hi_bool qpmap_en;
  hi_venc_rc_qpmap_mode qpmap_mode;
  hi_u32 max_qp;
  hi_u32 min_qp;
  hi_u32 max_i_qp;
  hi_u32 min_i_qp;
  hi_u32 min_qp_delta;
  hi_u32 max_qp_delta;
  hi_u32 extra_bit_percent;
  hi_u32 long_term_stats_time_unit;
} hi_venc_h265_cvbr_param;

typedef struct {
  hi_bool detect_scene_chg_en;
  hi_bool adapt_insert_idr_frame_en;
} hi_venc_scene_chg_detect;

typedef struct {
  hi_u32 threshold_i[HI_VENC_TEXTURE_THRESHOLD_SIZE];
  hi_u32 threshold_p[HI_VENC_TEXTURE_THRESHOLD_SIZE];
  hi_u32 threshold_b[HI_VENC_TEXTURE_THRESHOLD_SIZE];
  hi_u32 direction;
  hi_u32 row_qp_delta;
  hi_s32 first_frame_start_qp;
  hi_venc_scene_chg_detect scene_chg_detect;
  union {
    hi_venc_h264_cbr_param h264_cbr_param;
    hi_venc_h264_vbr_param h264_vbr_param;
    hi_venc_h264_avbr_param h264_avbr_param;
    hi_venc_h264_qvbr_param h264_qvbr_param;
    hi_venc_h264_cvbr_param h264_cvbr_param;
    hi_venc_h265_cbr_param h265_cbr_param;
    hi_venc_h265_vbr_param h265_vbr_param;
    hi_venc_h265_avbr_param h265_avbr_param;
    hi_venc_h265_qvbr_param h265_qvbr_param;
    hi_venc_h265_cvbr_param h265_cvbr_param;
    hi_venc_mjpeg_cbr_param mjpeg_cbr_param;
    hi_venc_mjpeg_vbr_param mjpeg_vbr_param;
  };
} hi_venc_rc_param;

typedef struct {
  hi_u32 base;
  hi_u32 enhance;
  hi_bool pred_en;
} hi_venc_ref_param;

typedef struct {
  hi_u32 idx;
  hi_bool enable;
  hi_bool is_abs_qp;
  hi_s32 qp;
  hi_rect rect;
} hi_venc_roi_attr;

typedef struct {
  hi_u8 timing_info_present_flag;
  hi_u8 fixed_frame_rate_flag;
  hi_u32 num_units_in_tick;
  hi_u32 time_scale;
} hi_venc_vui_h264_time_info;

typedef struct {
  hi_u8 aspect_ratio_info_present_flag;
  hi_u8 aspect_ratio_idc;
  hi_u8 overscan_info_present_flag;
  hi_u8 overscan_appropriate_flag;
  hi_u16 sar_width;
  hi_u16 sar_height;
} hi_venc_vui_aspect_ratio;

typedef struct {
  hi_u8 video_signal_type_present_flag;
  hi_u8 video_format;
  hi_u8 video_full_range_flag;
  hi_u8 colour_description_present_flag;
  hi_u8 colour_primaries;
  hi_u8 transfer_characteristics;
  hi_u8 matrix_coefficients;
} hi_venc_vui_video_signal;

typedef struct {
  hi_u8 bitstream_restriction_flag;
} hi_venc_vui_bitstream_restric;

typedef struct {
  hi_venc_vui_aspect_ratio vui_aspect_ratio;
  hi_venc_vui_h264_time_info vui_time_info;
  hi_venc_vui_video_signal vui_video_signal;
  hi_venc_vui_bitstream_restric vui_bitstream_restric;
} hi_venc_h264_vui;

typedef struct {
  hi_u32 timing_info_present_flag;
  hi_u32 num_units_in_tick;
  hi_u32 time_scale;
  hi_u32 num_ticks_poc_diff_one_minus1;
} hi_venc_vui_h265_time_info;

typedef struct {
  hi_venc_vui_aspect_ratio vui_aspect_ratio;
  hi_venc_vui_h265_time_info vui_time_info;
  hi_venc_vui_video_signal vui_video_signal;
  hi_venc_vui_bitstream_restric vui_bitstream_restric;
} hi_venc_h265_vui;

typedef struct {
  hi_op_mode pred_mode;
  hi_u32 intra32_cost;
  hi_u32 intra16_cost;
  hi_u32 intra8_cost;
  hi_u32 intra4_cost;
  hi_u32 inter64_cost;
  hi_u32 inter32_cost;
  hi_u32 inter16_cost;
  hi_u32 inter8_cost;
} hi_venc_cu_prediction;

typedef struct {
  hi_bool refresh_enable;
  hi_venc_intra_refresh_mode intra_refresh_mode;
  hi_u32 refresh_num;
  hi_u32 req_i_qp;
} hi_venc_intra_refresh;

typedef struct {
  hi_bool split_enable;
  hi_u32 split_mode;
  hi_u32 split_size;
  hi_bool slice_output_en;
  hi_u32 reserved[2];
} hi_venc_slice_split;

typedef struct {
  hi_bool qp_map_valid;
  hi_bool skip_weight_valid;
  hi_u32 blk_start_qp;
  hi_u64 qp_map_phy_addr;
  hi_u64 skip_weight_phy_addr;
  hi_venc_frame_type frame_type;
} hi_user_rc_info;

typedef struct {
  hi_bool valid;
  hi_u64 phy_addr;
} hi_user_roi_map;

typedef struct {
  hi_video_frame_info user_frame;
  hi_user_rc_info user_rc_info;
  hi_user_roi_map user_roi_map;
} hi_user_frame_info;

typedef struct {
  hi_bool copy_en;
  hi_u32 copy_interval;
} hi_venc_streamcopy_param;

#ifdef __cplusplus
}
#endif

#endif
