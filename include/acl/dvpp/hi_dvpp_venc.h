/* SPDX-License-Identifier: Apache-2.0 */
/* Encoding of H.264, H.265 and JPEG. */
#ifndef ACL_DVPP_HI_DVPP_VENC_H_
#define ACL_DVPP_HI_DVPP_VENC_H_

#include "hi_venc_param.h"

#ifdef __cplusplus
extern "C" {
#endif

ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_close_fd(hi_venc_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_compact_jpeg_tables(hi_venc_chn chn, hi_u32 table_type,
                                                           hi_bool enable);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_create_chn(hi_venc_chn chn, const hi_venc_chn_attr* attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_destroy_chn(hi_venc_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_chn_attr(hi_venc_chn chn, hi_venc_chn_attr* chn_attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_chn_param(hi_venc_chn chn, hi_venc_chn_param* chn_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_cu_pred(hi_venc_chn chn, hi_venc_cu_prediction* cu_pred);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_fd(hi_venc_chn chn);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_h264_vui(hi_venc_chn chn, hi_venc_h264_vui* h264_vui);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_h265_vui(hi_venc_chn chn, hi_venc_h265_vui* h265_vui);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_intra_refresh(hi_venc_chn chn,
                                                         hi_venc_intra_refresh* intra_refresh);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_venc_get_jpeg_huffman_param(hi_venc_chn chn, hi_venc_jpeg_huffman_param* jpeg_huffman_data);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_jpeg_param(hi_venc_chn chn,
                                                      hi_venc_jpeg_param* jpeg_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_jpege_predicted_size(
    const hi_video_frame_info* frame, const hi_venc_jpeg_param* jpeg_param, hi_u32* size);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_mod_param(hi_venc_mod_param* mod_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_qpmap_size(hi_payload_type type, hi_u32 width,
                                                      hi_u32 height);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_qpmap_stride(hi_u32 width);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_rc_param(hi_venc_chn chn, hi_venc_rc_param* rc_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_ref_param(hi_venc_chn chn, hi_venc_ref_param* ref_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_roi_attr(hi_venc_chn chn, hi_u32 idx,
                                                    hi_venc_roi_attr* roi_attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_scene_mode(hi_venc_chn chn,
                                                      hi_venc_scene_mode* scene_mode);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_slice_split(hi_venc_chn chn,
                                                       hi_venc_slice_split* slice_split);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_get_stream(hi_venc_chn chn, hi_venc_stream* stream,
                                                  hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_venc_get_streamcopy_param(hi_venc_chn chn, hi_venc_streamcopy_param* streamcopy_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_query_status(hi_venc_chn chn, hi_venc_chn_status* status);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_release_stream(hi_venc_chn chn, hi_venc_stream* stream);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_request_idr(hi_venc_chn chn, hi_bool instant);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_send_frame(hi_venc_chn chn, const hi_video_frame_info* frame,
                                                  hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_send_frame_ex(hi_venc_chn chn,
                                                     const hi_user_frame_info* frame,
                                                     hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_send_jpege_frame(hi_venc_chn chn,
                                                        const hi_video_frame_info* frame,
                                                        const hi_img_stream* jpege_stream,
                                                        hi_s32 milli_sec);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_chn_attr(hi_venc_chn chn,
                                                    const hi_venc_chn_attr* chn_attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_chn_param(hi_venc_chn chn,
                                                     const hi_venc_chn_param* chn_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_cu_pred(hi_venc_chn chn,
                                                   const hi_venc_cu_prediction* cu_pred);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_h264_vui(hi_venc_chn chn,
                                                    const hi_venc_h264_vui* h264_vui);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_h265_vui(hi_venc_chn chn,
                                                    const hi_venc_h265_vui* h265_vui);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_venc_set_intra_refresh(hi_venc_chn chn, const hi_venc_intra_refresh* intra_refresh);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_jpeg_huffman_param(
    hi_venc_chn chn, const hi_venc_jpeg_huffman_param* jpeg_huffman_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_jpeg_param(hi_venc_chn chn,
                                                      const hi_venc_jpeg_param* jpeg_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_mod_param(const hi_venc_mod_param* mod_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_rc_param(hi_venc_chn chn,
                                                    const hi_venc_rc_param* rc_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_ref_param(hi_venc_chn chn,
                                                     const hi_venc_ref_param* ref_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_roi_attr(hi_venc_chn chn,
                                                    const hi_venc_roi_attr* roi_attr);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_scene_mode(hi_venc_chn chn,
                                                      hi_venc_scene_mode scene_mode);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_set_slice_split(hi_venc_chn chn,
                                                       const hi_venc_slice_split* slice_split);
ACL_FUNC_VISIBILITY hi_s32
hi_mpi_venc_set_streamcopy_param(hi_venc_chn chn, const hi_venc_streamcopy_param* streamcopy_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_start_chn(hi_venc_chn chn,
                                                 const hi_venc_start_param* recv_param);
ACL_FUNC_VISIBILITY hi_s32 hi_mpi_venc_stop_chn(hi_venc_chn chn);

#ifdef __cplusplus
}
#endif

#endif
