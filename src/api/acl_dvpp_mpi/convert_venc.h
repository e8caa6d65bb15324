// SPDX-License-Identifier: Apache-2.0
// Conversion of the vendor's structs for encoder channels. No other file reads or writes their
// fields.
#pragma once

#include "acl/dvpp/hi_dvpp.h"
#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/venc_idle.h"
#include "service/media/venc_channel.h"

namespace anynpu::mpi {

// The structure of a new channel, with the type that the guide's sample writes corrected.
hi_venc_chn_attr with_payload_type(const hi_venc_chn_attr& attr);
media::VencAttr attr_of(const hi_venc_chn_attr& attr);

// Settings that have an effect.
void apply(const hi_venc_chn_attr& from, media::VencSettings& to);
void apply(const hi_venc_chn_param& from, media::VencSettings& to);
void apply(const hi_venc_rc_param& from, media::VencSettings& to);
void apply(const hi_venc_h264_vui& from, media::VencSettings& to);
void apply(const hi_venc_h265_vui& from, media::VencSettings& to);
void apply(const hi_venc_intra_refresh& from, media::VencSettings& to);
void apply(const hi_venc_slice_split& from, media::VencSettings& to);
void apply(const hi_venc_jpeg_param& from, media::VencSettings& to);
void apply(const hi_venc_jpeg_huffman_param& from, media::VencSettings& to);
void apply(const hi_venc_roi_attr& from, media::VencSettings& to);
inline void apply(const hi_venc_ref_param&, media::VencSettings&) {}
inline void apply(const hi_venc_cu_prediction&, media::VencSettings&) {}
inline void apply(const hi_venc_streamcopy_param&, media::VencSettings&) {}

// The defaults that a getter returns if the program never set the struct.
void give_new(const media::VencSettings& settings, hi_venc_chn_param* to);
void give_new(const media::VencSettings& settings, hi_venc_jpeg_param* to);
template <typename T>
void give_new(const media::VencSettings&, T* to) {
  *to = {};
}

// Which group of settings a structure is.
inline media::VencGroup group_of(const hi_venc_chn_attr*) { return media::VencGroup::attr; }
inline media::VencGroup group_of(const hi_venc_chn_param*) { return media::VencGroup::channel; }
inline media::VencGroup group_of(const hi_venc_rc_param*) { return media::VencGroup::rate; }
inline media::VencGroup group_of(const hi_venc_ref_param*) { return media::VencGroup::reference; }
inline media::VencGroup group_of(const hi_venc_h264_vui*) {
  return media::VencGroup::h264_usability;
}
inline media::VencGroup group_of(const hi_venc_h265_vui*) {
  return media::VencGroup::h265_usability;
}
inline media::VencGroup group_of(const hi_venc_cu_prediction*) {
  return media::VencGroup::cu_prediction;
}
inline media::VencGroup group_of(const hi_venc_intra_refresh*) {
  return media::VencGroup::intra_refresh;
}
inline media::VencGroup group_of(const hi_venc_slice_split*) { return media::VencGroup::slices; }
inline media::VencGroup group_of(const hi_venc_streamcopy_param*) {
  return media::VencGroup::stream_copy;
}
inline media::VencGroup group_of(const hi_venc_jpeg_param*) { return media::VencGroup::jpeg; }
inline media::VencGroup group_of(const hi_venc_jpeg_huffman_param*) {
  return media::VencGroup::huffman;
}
inline media::VencGroup group_of(const hi_venc_roi_attr*) { return media::VencGroup::region; }

// `rate_mode` is the channel's: it says which member of hi_venc_rc_param counts.
template <typename T>
media::VencChange change_of(const T& value, int32_t rate_mode) {
  return {group_of(&value), 0, [value](media::VencSettings& s) { apply(value, s); },
          record_of(value), IdleSettings::names_in(value, rate_mode)};
}
media::VencChange region_change_of(const hi_venc_roi_attr& region);

int32_t pictures_of(const hi_venc_start_param& param);
media::VencFrame frame_of(const hi_video_frame_info& frame);
Result<media::VencFrame> frame_of(const hi_user_frame_info& frame);
struct OutputMemory {
  void* data;
  uint32_t bytes;
};
OutputMemory memory_of(const hi_img_stream& stream);
// Bytes that a JPEG picture of the frame takes at most.
Result<uint32_t> jpeg_bytes_of(const hi_video_frame_info& frame);

// Packs that a structure has room for, and the address of its first one.
uint32_t room_of(const hi_venc_stream& stream);
const uint8_t* first_pack_of(const hi_venc_stream& stream);
void give(const media::VencPacket& packet, hi_venc_stream* to);
void give(const media::VencStatus& status, hi_venc_chn_status* to);

Status set_module(const hi_venc_mod_param& param);
Status give_module(hi_venc_mod_param* param);

}  // namespace anynpu::mpi
