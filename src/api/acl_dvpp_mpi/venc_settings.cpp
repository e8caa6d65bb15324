// SPDX-License-Identifier: Apache-2.0
// Settings of encoder channels (acl.himpi.venc_set_* and venc_get_*).
#include "api/acl_dvpp_mpi/venc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

template <typename T>
hi_s32 get_setting(const char* function, hi_venc_chn chn, T* to, hi_u32 region = 0) {
  return on_venc(function, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(to, "the output"));
    ANYNPU_ASSIGN(const auto record, channel.record(group_of(to), region));
    if (!give_record(record, to)) give_new(channel.settings(), to);
    return {};
  });
}

template <typename T>
hi_s32 set_setting(const char* function, hi_venc_chn chn, const T* from) {
  return on_venc(function, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(from, "the input"));
    return channel.change(change_of(*from, channel.settings().attr.rate.mode_number));
  });
}

}  // namespace

hi_s32 hi_mpi_venc_get_mod_param(hi_venc_mod_param* mod_param) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(mod_param, "mod_param"));
    return give_module(mod_param);
  });
}

hi_s32 hi_mpi_venc_set_mod_param(const hi_venc_mod_param* mod_param) {
  return mpi::enter(__func__, Module::venc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(mod_param, "mod_param"));
    return set_module(*mod_param);
  });
}

hi_s32 hi_mpi_venc_get_scene_mode(hi_venc_chn chn, hi_venc_scene_mode* scene_mode) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(scene_mode, "the output"));
    *scene_mode = static_cast<hi_venc_scene_mode>(channel.settings().scene);
    return {};
  });
}

hi_s32 hi_mpi_venc_set_scene_mode(hi_venc_chn chn, hi_venc_scene_mode scene_mode) {
  return on_venc(__func__, chn,
                 [&](VencChannel& channel) { return channel.set_scene(scene_mode); });
}

hi_s32 hi_mpi_venc_get_jpeg_param(hi_venc_chn chn, hi_venc_jpeg_param* jpeg_param) {
  return get_setting(__func__, chn, jpeg_param);
}

hi_s32 hi_mpi_venc_set_jpeg_param(hi_venc_chn chn, const hi_venc_jpeg_param* jpeg_param) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(jpeg_param, "jpeg_param"));
    return channel.change_jpeg(change_of(*jpeg_param, 0));
  });
}

hi_s32 hi_mpi_venc_get_roi_attr(hi_venc_chn chn, hi_u32 idx, hi_venc_roi_attr* roi_attr) {
  return get_setting(__func__, chn, roi_attr, idx);
}

hi_s32 hi_mpi_venc_set_roi_attr(hi_venc_chn chn, const hi_venc_roi_attr* roi_attr) {
  return on_venc(__func__, chn, [&](VencChannel& channel) -> Status {
    ANYNPU_TRY(mpi::check_pointer(roi_attr, "roi_attr"));
    return channel.change(region_change_of(*roi_attr));
  });
}

#define SETTING(setter, getter, type)                                                             \
  hi_s32 setter(hi_venc_chn chn, const type* value) { return set_setting(__func__, chn, value); } \
  hi_s32 getter(hi_venc_chn chn, type* value) { return get_setting(__func__, chn, value); }
SETTING(hi_mpi_venc_set_chn_attr, hi_mpi_venc_get_chn_attr, hi_venc_chn_attr)
SETTING(hi_mpi_venc_set_chn_param, hi_mpi_venc_get_chn_param, hi_venc_chn_param)
SETTING(hi_mpi_venc_set_cu_pred, hi_mpi_venc_get_cu_pred, hi_venc_cu_prediction)
SETTING(hi_mpi_venc_set_h264_vui, hi_mpi_venc_get_h264_vui, hi_venc_h264_vui)
SETTING(hi_mpi_venc_set_h265_vui, hi_mpi_venc_get_h265_vui, hi_venc_h265_vui)
SETTING(hi_mpi_venc_set_intra_refresh, hi_mpi_venc_get_intra_refresh, hi_venc_intra_refresh)
SETTING(hi_mpi_venc_set_jpeg_huffman_param, hi_mpi_venc_get_jpeg_huffman_param,
        hi_venc_jpeg_huffman_param)
SETTING(hi_mpi_venc_set_rc_param, hi_mpi_venc_get_rc_param, hi_venc_rc_param)
SETTING(hi_mpi_venc_set_ref_param, hi_mpi_venc_get_ref_param, hi_venc_ref_param)
SETTING(hi_mpi_venc_set_slice_split, hi_mpi_venc_get_slice_split, hi_venc_slice_split)
SETTING(hi_mpi_venc_set_streamcopy_param, hi_mpi_venc_get_streamcopy_param,
        hi_venc_streamcopy_param)
#undef SETTING
