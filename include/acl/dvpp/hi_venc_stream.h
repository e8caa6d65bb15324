/* SPDX-License-Identifier: Apache-2.0 */
/* The output of the encoder: packets and their statistics. */
#ifndef ACL_DVPP_HI_VENC_STREAM_H_
#define ACL_DVPP_HI_VENC_STREAM_H_

#include "hi_media_common.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef hi_s32 hi_venc_chn;

#define HI_VENC_MAX_PACK_INFO_NUM 8
#define HI_VENC_MAX_MPF_NUM 2
#define HI_VENC_PRORES_MAX_ID_CHAR_NUM 4
#define HI_VENC_JPEG_QT_COEF_NUM 64
#define HI_VENC_QP_HIST_NUM 52
#define HI_VENC_MAX_SSE_NUM 8
#define HI_VENC_TEXTURE_THRESHOLD_SIZE 16

#define HI_ERR_VENC_INVALID_CHN_ID 0xA0088002U
#define HI_ERR_VENC_ILLEGAL_PARAM 0xA0088003U
#define HI_ERR_VENC_EXIST 0xA0088004U
#define HI_ERR_VENC_UNEXIST 0xA0088005U
#define HI_ERR_VENC_NULL_PTR 0xA0088006U
#define HI_ERR_VENC_NOT_CFG 0xA0088007U
#define HI_ERR_VENC_NOT_SUPPORT 0xA0088008U
#define HI_ERR_VENC_NOT_PERM 0xA0088009U
#define HI_ERR_VENC_NO_MEM 0xA008800CU
#define HI_ERR_VENC_NO_BUF 0xA008800DU
#define HI_ERR_VENC_BUF_EMPTY 0xA008800EU
#define HI_ERR_VENC_BUF_FULL 0xA008800FU
#define HI_ERR_VENC_SYS_NOT_READY 0xA0088010U
#define HI_ERR_VENC_BAD_ADDR 0xA0088011U
#define HI_ERR_VENC_BUSY 0xA0088012U
#define HI_ERR_VENC_SYS_ERROR 0xA0088015U

typedef enum {
  HI_VENC_H264_NALU_B_SLICE = 0,
  HI_VENC_H264_NALU_P_SLICE = 1,
  HI_VENC_H264_NALU_I_SLICE = 2,
  HI_VENC_H264_NALU_IDR_SLICE = 5,
  HI_VENC_H264_NALU_SEI = 6,
  HI_VENC_H264_NALU_SPS = 7,
  HI_VENC_H264_NALU_PPS = 8,
  HI_VENC_H264_NALU_BUTT = 9,
} hi_venc_h264_nalu_type;

typedef enum {
  HI_VENC_H265_NALU_B_SLICE = 0,
  HI_VENC_H265_NALU_P_SLICE = 1,
  HI_VENC_H265_NALU_I_SLICE = 2,
  HI_VENC_H265_NALU_IDR_SLICE = 19,
  HI_VENC_H265_NALU_VPS = 32,
  HI_VENC_H265_NALU_SPS = 33,
  HI_VENC_H265_NALU_PPS = 34,
  HI_VENC_H265_NALU_SEI = 39,
  HI_VENC_H265_NALU_ENHANCE = 64,
  HI_VENC_H265_NALU_BUTT = 65,
} hi_venc_h265_nalu_type;

typedef enum {
  HI_VENC_H264_REF_SLICE_FOR_1X = 1,
  HI_VENC_H264_REF_SLICE_FOR_2X = 2,
  HI_VENC_H264_REF_SLICE_FOR_4X = 5,
  HI_VENC_H264_REF_SLICE_FOR_BUTT = 6,
} hi_venc_h264_ref_slice_type;

typedef enum {
  HI_VENC_JPEG_PACK_ECS = 5,
  HI_VENC_JPEG_PACK_APP = 6,
  HI_VENC_JPEG_PACK_VDO = 7,
  HI_VENC_JPEG_PACK_PIC = 8,
  HI_VENC_JPEG_PACK_DCF = 9,
  HI_VENC_JPEG_PACK_DCF_PIC = 10,
  HI_VENC_JPEG_PACK_BUTT = 11,
} hi_venc_jpege_pack_type;

typedef enum {
  HI_VENC_PRORES_PACK_PIC = 1,
  HI_VENC_PRORES_PACK_BUTT = 2,
} hi_venc_prores_pack_type;

typedef enum {
  HI_VENC_BASE_IDR_SLICE = 0,
  HI_VENC_BASE_P_SLICE_REF_TO_IDR = 1,
  HI_VENC_BASE_P_SLICE_REF_BY_BASE = 2,
  HI_VENC_BASE_P_SLICE_REF_BY_ENHANCE = 3,
  HI_VENC_ENHANCE_P_SLICE_REF_BY_ENHANCE = 4,
  HI_VENC_ENHANCE_P_SLICE_NOT_FOR_REF = 5,
  HI_VENC_P_SLICE_BUTT = 6,
} hi_venc_ref_type;

typedef enum {
  HI_VENC_PIC_RECV_SINGLE = 0,
  HI_VENC_PIC_RECV_MULTI = 1,
  HI_VENC_PIC_RECV_BUTT = 2,
} hi_venc_pic_recv_mode;

/* As the guide spells it (5.4.7). */
#define HI_VENC_PIC_REC_SINGLE HI_VENC_PIC_RECV_SINGLE

typedef enum {
  HI_VENC_PRORES_FRAME_RATE_UNKNOWN = 0,
  HI_VENC_PRORES_FRAME_RATE_23_976 = 1,
  HI_VENC_PRORES_FRAME_RATE_24 = 2,
  HI_VENC_PRORES_FRAME_RATE_25 = 3,
  HI_VENC_PRORES_FRAME_RATE_29_97 = 4,
  HI_VENC_PRORES_FRAME_RATE_30 = 5,
  HI_VENC_PRORES_FRAME_RATE_50 = 6,
  HI_VENC_PRORES_FRAME_RATE_59_94 = 7,
  HI_VENC_PRORES_FRAME_RATE_60 = 8,
  HI_VENC_PRORES_FRAME_RATE_100 = 9,
  HI_VENC_PRORES_FRAME_RATE_119_88 = 10,
  HI_VENC_PRORES_FRAME_RATE_120 = 11,
  HI_VENC_PRORES_FRAME_RATE_BUTT = 12,
} hi_venc_prores_frame_rate;

typedef enum {
  HI_VENC_PRORES_ASPECT_RATIO_UNKNOWN = 0,
  HI_VENC_PRORES_ASPECT_RATIO_SQUARE = 1,
  HI_VENC_PRORES_ASPECT_RATIO_4_3 = 2,
  HI_VENC_PRORES_ASPECT_RATIO_16_9 = 3,
  HI_VENC_PRORES_ASPECT_RATIO_BUTT = 4,
} hi_venc_prores_aspect_ratio;

typedef enum {
  HI_VENC_RC_MODE_H264_CBR = 1,
  HI_VENC_RC_MODE_H264_VBR = 2,
  HI_VENC_RC_MODE_H264_AVBR = 3,
  HI_VENC_RC_MODE_H264_QVBR = 4,
  HI_VENC_RC_MODE_H264_CVBR = 5,
  HI_VENC_RC_MODE_H264_FIXQP = 6,
  HI_VENC_RC_MODE_H264_QPMAP = 7,
  HI_VENC_RC_MODE_MJPEG_CBR = 8,
  HI_VENC_RC_MODE_MJPEG_VBR = 9,
  HI_VENC_RC_MODE_MJPEG_FIXQP = 10,
  HI_VENC_RC_MODE_H265_CBR = 11,
  HI_VENC_RC_MODE_H265_VBR = 12,
  HI_VENC_RC_MODE_H265_AVBR = 13,
  HI_VENC_RC_MODE_H265_QVBR = 14,
  HI_VENC_RC_MODE_H265_CVBR = 15,
  HI_VENC_RC_MODE_H265_FIXQP = 16,
  HI_VENC_RC_MODE_H265_QPMAP = 17,
  HI_VENC_RC_MODE_BUTT = 18,
} hi_venc_rc_mode;

typedef enum {
  HI_VENC_RC_QPMAP_MODE_MEAN_QP = 0,
  HI_VENC_RC_QPMAP_MODE_MIN_QP = 1,
  HI_VENC_RC_QPMAP_MODE_MAX_QP = 2,
  HI_VENC_RC_QPMAP_MODE_BUTT = 3,
} hi_venc_rc_qpmap_mode;

typedef enum {
  HI_VENC_GOP_MODE_NORMAL_P = 0,
  HI_VENC_GOP_MODE_DUAL_P = 1,
  HI_VENC_GOP_MODE_SMART_P = 2,
  HI_VENC_GOP_MODE_ADV_SMART_P = 3,
  HI_VENC_GOP_MODE_BIPRED_B = 4,
  HI_VENC_GOP_MODE_LOW_DELAY_B = 5,
  HI_VENC_GOP_MODE_BUTT = 6,
} hi_venc_gop_mode;

typedef enum {
  HI_VENC_MOD_VENC = 1,
  HI_VENC_MOD_H264 = 2,
  HI_VENC_MOD_H265 = 3,
  HI_VENC_MOD_JPEG = 4,
  HI_VENC_MOD_RC = 5,
  HI_VENC_MOD_BUTT = 6,
} hi_venc_mod_type;

typedef enum {
  HI_VENC_SCENE_0 = 0,
  HI_VENC_SCENE_1 = 1,
  HI_VENC_SCENE_2 = 2,
  HI_VENC_SCENE_BUTT = 3,
} hi_venc_scene_mode;

typedef enum {
  INTRA_REFRESH_ROW = 0,
  INTRA_REFRESH_COLUMN = 1,
  INTRA_REFRESH_BUTT = 2,
} hi_venc_intra_refresh_mode;

typedef enum {
  VENC_FRAME_TYPE_NONE = 1,
  VENC_FRAME_TYPE_IDR = 2,
  VENC_FRAME_TYPE_PSKIP = 3,
  VENC_FRAME_TYPE_BUTT = 4,
} hi_venc_frame_type;

typedef struct {
  hi_bool enable;
  hi_u64 sse_val;
} hi_venc_sse_info;

typedef union {
  hi_venc_h264_nalu_type h264_type;
  hi_venc_jpege_pack_type jpeg_type;
  hi_venc_h265_nalu_type h265_type;
  hi_venc_prores_pack_type prores_type;
} hi_venc_data_type;

typedef struct {
  hi_venc_data_type pack_type;
  hi_u32 pack_offset;
  hi_u32 pack_len;
} hi_venc_pack_info;

typedef struct {
  union {
    hi_u64 phys_addr;
    hi_u64 input_addr;
  };
  hi_u8* addr;
  hi_u32 len;
  hi_u64 pts;
  hi_bool is_frame_end;
  hi_venc_data_type data_type;
  hi_u32 offset;
  hi_u32 data_num;
  hi_venc_pack_info pack_info[HI_VENC_MAX_PACK_INFO_NUM];
} hi_venc_pack;

typedef struct {
  hi_u32 pic_bytes;
  hi_u32 inter16x16_mb_num;
  hi_u32 inter8x8_mb_num;
  hi_u32 intra16_mb_num;
  hi_u32 intra8_mb_num;
  hi_u32 intra4_mb_num;
  hi_venc_ref_type ref_type;
  hi_u32 update_attr_cnt;
  hi_u32 start_qp;
  hi_u32 mean_qp;
  hi_bool is_p_skip;
} hi_venc_h264_stream_info;

typedef struct {
  hi_u32 pic_bytes;
  hi_u32 inter64x64_cu_num;
  hi_u32 inter32x32_cu_num;
  hi_u32 inter16x16_cu_num;
  hi_u32 inter8x8_cu_num;
  hi_u32 intra32x32_cu_num;
  hi_u32 intra16x16_cu_num;
  hi_u32 intra8x8_cu_num;
  hi_u32 intra4x4_cu_num;
  hi_venc_ref_type ref_type;
  hi_u32 update_attr_cnt;
  hi_u32 start_qp;
  hi_u32 mean_qp;
  hi_bool is_p_skip;
} hi_venc_h265_stream_info;

typedef struct {
  hi_u32 pic_bytes;
  hi_u32 update_attr_cnt;
  hi_u32 qfactor;
} hi_venc_jpeg_stream_info;

typedef struct {
  hi_u32 pic_bytes;
  hi_u32 update_attr_cnt;
} hi_venc_prores_stream_info;

typedef struct {
  hi_u32 residual_bits;
  hi_u32 head_bits;
  hi_u32 madi_val;
  hi_u32 madp_val;
  hi_double psnr_val;
  hi_u32 sse_lcu_cnt;
  hi_u64 sse_sum;
  hi_venc_sse_info sse_info[HI_VENC_MAX_SSE_NUM];
  hi_u32 qp_hist[HI_VENC_QP_HIST_NUM];
  hi_u32 move_scene16x16_num;
  hi_u32 move_scene_bits;
} hi_venc_h264_adv_stream_info;

typedef struct {
  hi_u32 residual_bits;
  hi_u32 head_bits;
  hi_u32 madi_val;
  hi_u32 madp_val;
  hi_double psnr_val;
  hi_u32 sse_lcu_cnt;
  hi_u64 sse_sum;
  hi_venc_sse_info sse_info[HI_VENC_MAX_SSE_NUM];
  hi_u32 qp_hist[HI_VENC_QP_HIST_NUM];
  hi_u32 move_scene32x32_num;
  hi_u32 move_scene_bits;
} hi_venc_h265_adv_stream_info;

typedef struct {
  hi_venc_pack* pack;
  hi_u32 pack_cnt;
  hi_u32 seq;
  union {
    hi_venc_h264_stream_info h264_info;
    hi_venc_jpeg_stream_info jpeg_info;
    hi_venc_h265_stream_info h265_info;
    hi_venc_prores_stream_info prores_info;
  };
  union {
    hi_venc_h264_adv_stream_info h264_adv_info;
    hi_venc_h265_adv_stream_info h265_adv_info;
  };
} hi_venc_stream;

typedef struct {
  hi_venc_ref_type ref_type;
  hi_u32 pic_bytes;
  hi_u32 pic_cnt;
  hi_u32 start_qp;
  hi_u32 mean_qp;
  hi_bool is_p_skip;
  hi_u32 residual_bits;
  hi_u32 head_bits;
  hi_u32 madi_val;
  hi_u32 madp_val;
  hi_u64 sse_sum;
  hi_u32 sse_lcu_cnt;
  hi_double psnr_val;
} hi_venc_stream_info;

typedef struct {
  hi_u32 left_pics;
  hi_u32 left_stream_bytes;
  hi_u32 left_stream_frames;
  hi_u32 cur_packs;
  hi_u32 left_recv_pics;
  hi_u32 left_enc_pics;
  hi_bool is_jpeg_snap_end;
  hi_u64 release_pic_pts;
  hi_venc_stream_info stream_info;
} hi_venc_chn_status;

#ifdef __cplusplus
}
#endif

#endif
