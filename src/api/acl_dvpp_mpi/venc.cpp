// SPDX-License-Identifier: Apache-2.0
// Encoding (acl.himpi.venc_*).
#include "api/acl_dvpp_mpi/venc.h"

#include "api/acl_dvpp_mpi/venc_idle.h"
#include "base/align.h"
#include "media/image.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

template <typename Do>
hi_s32 on_venc(const char* function, hi_venc_chn chn, Do&& act) {
  return mpi::enter(function, Module::venc, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, venc_channels().find(chn));
    return act(*channel);
  });
}

template <typename T>
hi_s32 get_setting(const char* function, hi_venc_chn chn, T VencSettings::*field, T* to) {
  return on_venc(function, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(to, "the output"));
    const std::lock_guard lock(channel.settings_mutex);
    *to = channel.settings.*field;
    return {};
  });
}

// Takes effect with the next picture; what the encoder refuses is refused here.
template <typename T>
hi_s32 set_setting(const char* function, hi_venc_chn chn, T VencSettings::*field, const T* from) {
  return on_venc(function, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(from, "the input"));
    const std::lock_guard lock(channel.settings_mutex);
    VencSettings changed = channel.settings;
    changed.*field = *from;
    if (!channel.is_jpeg()) ANYNPU_TRY(options_of(changed).status());
    IdleSettings(*from).warn();
    channel.settings = changed;
    channel.renew();
    return {};
  });
}

std::mutex mod_mutex;
hi_venc_mod_param mod_params[HI_VENC_MOD_BUTT] = {};

Status check_mod(const hi_venc_mod_param* param) {
  ANYNPU_TRY(mpi::check_pointer(param, "mod_param"));
  if (param->mod_type >= HI_VENC_MOD_VENC && param->mod_type < HI_VENC_MOD_BUTT) return {};
  return fail(Code::invalid_argument, "the module is {}; expected 1 to 5", param->mod_type);
}

}  // namespace

hi_s32 hi_mpi_venc_create_chn(hi_venc_chn chn, const hi_venc_chn_attr* attr) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    return venc_channels().create(chn, [&] { return VencChannel::make(*attr); });
  });
}

hi_s32 hi_mpi_venc_destroy_chn(hi_venc_chn chn) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, venc_channels().remove(chn));
    return channel->finish();
  });
}

hi_s32 hi_mpi_venc_start_chn(hi_venc_chn chn, const hi_venc_start_param* recv_param) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(recv_param, "recv_param"));
    return channel.start(recv_param->recv_pic_num);
  });
}

hi_s32 hi_mpi_venc_stop_chn(hi_venc_chn chn) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status { return channel.stop(); });
}

hi_s32 hi_mpi_venc_send_frame(hi_venc_chn chn, const hi_video_frame_info* frame, hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    if (channel.is_jpeg() && channel.settings.attr.venc_attr.buf_size == 0)
      return fail(Code::bad_call_order,
                  "the channel has no buffer (buf_size 0); call venc_send_jpege_frame");
    return channel.send(*frame, nullptr, milli_sec);
  });
}

hi_s32 hi_mpi_venc_send_frame_ex(hi_venc_chn chn, const hi_user_frame_info* frame,
                                 hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    if (frame->user_rc_info.qp_map_valid || frame->user_rc_info.skip_weight_valid ||
        frame->user_roi_map.valid)
      return fail(Code::unsupported_feature,
                  "maps of QP, weights and regions for a frame are not supported; send it without");
    const hi_venc_frame_type type = frame->user_rc_info.frame_type;
    if (type == VENC_FRAME_TYPE_PSKIP)
      return fail(Code::unsupported_feature,
                  "frame_type is {} (a frame that repeats the one before); {} (any) and {} (a key "
                  "frame) are supported",
                  type, VENC_FRAME_TYPE_NONE, VENC_FRAME_TYPE_IDR);
    return channel.send(frame->user_frame, nullptr, milli_sec, type == VENC_FRAME_TYPE_IDR);
  });
}

hi_s32 hi_mpi_venc_send_jpege_frame(hi_venc_chn chn, const hi_video_frame_info* frame,
                                    hi_img_stream* jpege_stream, hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    ANYNPU_TRY(mpi::check_pointer(jpege_stream, "jpege_stream"));
    return channel.send(*frame, jpege_stream, milli_sec);
  });
}

hi_s32 hi_mpi_venc_get_stream(hi_venc_chn chn, hi_venc_stream* stream, hi_s32 milli_sec) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    return channel.get(stream, milli_sec);
  });
}

hi_s32 hi_mpi_venc_release_stream(hi_venc_chn chn, hi_venc_stream* stream) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    return channel.release(*stream);
  });
}

hi_s32 hi_mpi_venc_query_status(hi_venc_chn chn, hi_venc_chn_status* status) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(status, "status"));
    *status = channel.status();
    return {};
  });
}

hi_s32 hi_mpi_venc_request_idr(hi_venc_chn chn, hi_bool instant) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    channel.request_key();
    return {};
  });
}

hi_s32 hi_mpi_venc_get_fd(hi_venc_chn chn) {
  return acl::enter_value(__func__, hi_s32{-1}, [&]() -> Result<hi_s32> {
    ANYNPU_TRY(check_system());
    ANYNPU_ASSIGN(auto channel, venc_channels().find(chn));
    return channel->signal.fd();
  });
}

hi_s32 hi_mpi_venc_close_fd(hi_venc_chn chn) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    channel.signal.close();
    return {};
  });
}

hi_s32 hi_mpi_venc_get_jpege_predicted_size(const hi_video_frame_info* frame,
                                            const hi_venc_jpeg_param* jpeg_param, hi_u32* size) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(frame, "frame"));
    ANYNPU_TRY(mpi::check_pointer(jpeg_param, "jpeg_param"));
    ANYNPU_TRY(mpi::check_pointer(size, "size"));
    media::PictureSpec spec;
    spec.format = frame->v_frame.pixel_format;
    spec.width = frame->v_frame.width;
    spec.height = frame->v_frame.height;
    ANYNPU_ASSIGN(*size, media::jpeg_encoded_bytes(spec));
    return {};
  });
}

hi_s32 hi_mpi_venc_compact_jpeg_tables(hi_venc_chn chn, hi_u32 table_type, hi_bool enable) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    if (!channel.is_jpeg()) return fail(Code::bad_call_order, "the channel encodes video");
    return {};  // tables that are equal are written once in any case
  });
}

hi_s32 hi_mpi_venc_get_mod_param(hi_venc_mod_param* mod_param) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(check_mod(mod_param));
    const std::lock_guard lock(mod_mutex);
    const hi_venc_mod_type type = mod_param->mod_type;
    *mod_param = mod_params[type];
    mod_param->mod_type = type;
    return {};
  });
}

hi_s32 hi_mpi_venc_set_mod_param(const hi_venc_mod_param* mod_param) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(check_mod(mod_param));
    const std::lock_guard lock(mod_mutex);
    IdleSettings(*mod_param).warn();
    mod_params[mod_param->mod_type] = *mod_param;
    return {};
  });
}

hi_s32 hi_mpi_venc_get_scene_mode(hi_venc_chn chn, hi_venc_scene_mode* scene_mode) {
  return get_setting(__func__, chn, &VencSettings::scene, scene_mode);
}

hi_s32 hi_mpi_venc_set_scene_mode(hi_venc_chn chn, hi_venc_scene_mode scene_mode) {
  if (scene_mode < HI_VENC_SCENE_0 || scene_mode >= HI_VENC_SCENE_BUTT)
    return mpi::enter(__func__, Module::venc, [&]() -> Status {
      return fail(Code::invalid_argument, "the scene is {}; expected 0 to 2", scene_mode);
    });
  return set_setting(__func__, chn, &VencSettings::scene, &scene_mode);
}

hi_s32 hi_mpi_venc_set_jpeg_param(hi_venc_chn chn, const hi_venc_jpeg_param* jpeg_param) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(jpeg_param, "jpeg_param"));
    if (jpeg_param->qfactor < 1 || jpeg_param->qfactor > 100)
      return fail(Code::invalid_argument, "qfactor is {}; expected 1 to 100", jpeg_param->qfactor);
    const std::lock_guard lock(channel.settings_mutex);
    IdleSettings(*jpeg_param).warn();
    channel.settings.jpeg = *jpeg_param;
    return {};
  });
}

hi_s32 hi_mpi_venc_get_roi_attr(hi_venc_chn chn, hi_u32 idx, hi_venc_roi_attr* roi_attr) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(roi_attr, "roi_attr"));
    if (idx >= 8) return fail(Code::invalid_argument, "the index is {}; expected 0 to 7", idx);
    const std::lock_guard lock(channel.settings_mutex);
    *roi_attr = channel.settings.roi[idx];
    return {};
  });
}

hi_s32 hi_mpi_venc_set_roi_attr(hi_venc_chn chn, const hi_venc_roi_attr* roi_attr) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(roi_attr, "roi_attr"));
    if (roi_attr->idx >= 8)
      return fail(Code::invalid_argument, "the index is {}; expected 0 to 7", roi_attr->idx);
    const std::lock_guard lock(channel.settings_mutex);
    VencSettings changed = channel.settings;
    changed.roi[roi_attr->idx] = *roi_attr;
    if (!channel.is_jpeg()) ANYNPU_TRY(options_of(changed).status());
    channel.settings = changed;
    channel.renew();
    return {};
  });
}

hi_u32 hi_mpi_venc_get_qpmap_stride(hi_u32 width) { return round_up(width, 256) / 16; }

hi_u32 hi_mpi_venc_get_qpmap_size(hi_payload_type type, hi_u32 width, hi_u32 height) {
  return round_up(width, 256) / 16 * (round_up(height, 16) / 16);
}

hi_s32 hi_mpi_venc_get_jpeg_param(hi_venc_chn chn, hi_venc_jpeg_param* jpeg_param) {
  return get_setting(__func__, chn, &VencSettings::jpeg, jpeg_param);
}

#define SETTING(setter, getter, type, field)                        \
  hi_s32 setter(hi_venc_chn chn, const type* value) {               \
    return set_setting(__func__, chn, &VencSettings::field, value); \
  }                                                                 \
  hi_s32 getter(hi_venc_chn chn, type* value) {                     \
    return get_setting(__func__, chn, &VencSettings::field, value); \
  }
SETTING(hi_mpi_venc_set_chn_attr, hi_mpi_venc_get_chn_attr, hi_venc_chn_attr, attr)
SETTING(hi_mpi_venc_set_chn_param, hi_mpi_venc_get_chn_param, hi_venc_chn_param, chn)
SETTING(hi_mpi_venc_set_cu_pred, hi_mpi_venc_get_cu_pred, hi_venc_cu_prediction, cu_pred)
SETTING(hi_mpi_venc_set_h264_vui, hi_mpi_venc_get_h264_vui, hi_venc_h264_vui, h264_vui)
SETTING(hi_mpi_venc_set_h265_vui, hi_mpi_venc_get_h265_vui, hi_venc_h265_vui, h265_vui)
SETTING(hi_mpi_venc_set_intra_refresh, hi_mpi_venc_get_intra_refresh, hi_venc_intra_refresh,
        refresh)
SETTING(hi_mpi_venc_set_jpeg_huffman_param, hi_mpi_venc_get_jpeg_huffman_param,
        hi_venc_jpeg_huffman_param, huffman)
SETTING(hi_mpi_venc_set_rc_param, hi_mpi_venc_get_rc_param, hi_venc_rc_param, rc)
SETTING(hi_mpi_venc_set_ref_param, hi_mpi_venc_get_ref_param, hi_venc_ref_param, ref)
SETTING(hi_mpi_venc_set_slice_split, hi_mpi_venc_get_slice_split, hi_venc_slice_split, slices)
SETTING(hi_mpi_venc_set_streamcopy_param, hi_mpi_venc_get_streamcopy_param,
        hi_venc_streamcopy_param, copy)
#undef SETTING
