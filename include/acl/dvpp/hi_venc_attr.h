/* SPDX-License-Identifier: Apache-2.0 */
/* The attributes of an encoder, for all codecs. */
#ifndef ACL_DVPP_HI_VENC_ATTR_H_
#define ACL_DVPP_HI_VENC_ATTR_H_

#include "hi_venc_stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
  hi_bool rcn_ref_share_buf_en;
  hi_u32 frame_buf_ratio;
} hi_venc_h264_attr;

typedef struct {
  hi_bool rcn_ref_share_buf_en;
  hi_u32 frame_buf_ratio;
} hi_venc_h265_attr;

typedef struct {
  hi_u8 large_thumbnail_num;
  hi_video_size large_thumbnail_size[HI_VENC_MAX_MPF_NUM];
} hi_venc_mpf_cfg;

typedef struct {
  hi_bool dcf_en;
  hi_venc_mpf_cfg mpf_cfg;
  hi_venc_pic_recv_mode recv_mode;
} hi_venc_jpeg_attr;

typedef struct {
  hi_char identifier[HI_VENC_PRORES_MAX_ID_CHAR_NUM];
  hi_venc_prores_frame_rate frame_rate_code;
  hi_venc_prores_aspect_ratio aspect_ratio;
} hi_venc_prores_attr;

typedef struct {
  hi_payload_type type;
  hi_u32 max_pic_width;
  hi_u32 max_pic_height;
  hi_u32 buf_size;
  hi_u32 profile;
  hi_bool is_by_frame;
  hi_u32 pic_width;
  hi_u32 pic_height;
  union {
    hi_venc_h264_attr h264_attr;
    hi_venc_h265_attr h265_attr;
    hi_venc_jpeg_attr jpeg_attr;
    hi_venc_prores_attr prores_attr;
  };
} hi_venc_attr;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 bit_rate;
} hi_venc_h264_cbr;

typedef hi_venc_h264_cbr hi_venc_h265_cbr;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 max_bit_rate;
} hi_venc_h264_vbr;

typedef hi_venc_h264_vbr hi_venc_h265_vbr;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 max_bit_rate;
  hi_u32 short_term_stats_time;
  hi_u32 long_term_stats_time;
  hi_u32 long_term_max_bit_rate;
  hi_u32 long_term_min_bit_rate;
} hi_venc_h264_cvbr;

typedef hi_venc_h264_cvbr hi_venc_h265_cvbr;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 max_bit_rate;
} hi_venc_h264_avbr;

typedef hi_venc_h264_avbr hi_venc_h265_avbr;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
} hi_venc_h264_qpmap;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 target_bit_rate;
} hi_venc_h264_qvbr;

typedef hi_venc_h264_qvbr hi_venc_h265_qvbr;

typedef struct {
  hi_u32 gop;
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_venc_rc_qpmap_mode qpmap_mode;
} hi_venc_h265_qpmap;

typedef struct {
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 qfactor;
} hi_venc_mjpeg_fixqp;

typedef struct {
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 bit_rate;
} hi_venc_mjpeg_cbr;

typedef struct {
  hi_u32 stats_time;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 max_bit_rate;
} hi_venc_mjpeg_vbr;

typedef struct {
  hi_u32 gop;
  hi_u32 src_frame_rate;
  hi_u32 dst_frame_rate;
  hi_u32 i_qp;
  hi_u32 p_qp;
  hi_u32 b_qp;
} hi_venc_h264_fixqp;

typedef hi_venc_h264_fixqp hi_venc_h265_fixqp;

typedef struct {
  hi_venc_rc_mode rc_mode;
  union {
    hi_venc_h264_cbr h264_cbr;
    hi_venc_h264_vbr h264_vbr;
    hi_venc_h264_avbr h264_avbr;
    hi_venc_h264_qvbr h264_qvbr;
    hi_venc_h264_cvbr h264_cvbr;
    hi_venc_h264_fixqp h264_fixqp;
    hi_venc_h264_qpmap h264_qpmap;
    hi_venc_mjpeg_cbr mjpeg_cbr;
    hi_venc_mjpeg_vbr mjpeg_vbr;
    hi_venc_mjpeg_fixqp mjpeg_fixqp;
    hi_venc_h265_cbr h265_cbr;
    hi_venc_h265_vbr h265_vbr;
    hi_venc_h265_avbr h265_avbr;
    hi_venc_h265_qvbr h265_qvbr;
    hi_venc_h265_cvbr h265_cvbr;
    hi_venc_h265_fixqp h265_fixqp;
    hi_venc_h265_qpmap h265_qpmap;
  };
} hi_venc_rc_attr;

typedef struct {
  hi_s32 ip_qp_delta;
} hi_venc_gop_normal_p;

typedef struct {
  hi_u32 sp_interval;
  hi_s32 sp_qp_delta;
  hi_s32 ip_qp_delta;
} hi_venc_gop_dual_p;

typedef struct {
  hi_u32 bg_interval;
  hi_s32 bg_qp_delta;
  hi_s32 vi_qp_delta;
} hi_venc_gop_smart_p;

typedef struct {
  hi_u32 bg_interval;
  hi_s32 bg_qp_delta;
  hi_s32 vi_qp_delta;
} hi_venc_gop_adv_smart_p;

typedef struct {
  hi_u32 b_frame_num;
  hi_s32 b_qp_delta;
  hi_s32 ip_qp_delta;
} hi_venc_gop_bipred_b;

typedef struct {
  hi_venc_gop_mode gop_mode;
  union {
    hi_venc_gop_normal_p normal_p;
    hi_venc_gop_dual_p dual_p;
    hi_venc_gop_smart_p smart_p;
    hi_venc_gop_adv_smart_p adv_smart_p;
    hi_venc_gop_bipred_b bipred_b;
  };
} hi_venc_gop_attr;

typedef struct {
  hi_venc_attr venc_attr;
  hi_venc_rc_attr rc_attr;
  hi_venc_gop_attr gop_attr;
} hi_venc_chn_attr;

typedef struct {
  hi_s32 recv_pic_num;
} hi_venc_start_param;

#ifdef __cplusplus
}
#endif

#endif
