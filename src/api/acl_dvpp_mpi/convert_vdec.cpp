// SPDX-License-Identifier: Apache-2.0
#include "api/acl_dvpp_mpi/convert_vdec.h"

#include "api/acl_dvpp_mpi/convert_picture.h"
#include "api/acl_dvpp_mpi/convert_record.h"
#include "media/vdec_codes.h"

namespace anynpu::mpi {
namespace {

hi_bool bool_of(bool value) { return value ? HI_TRUE : HI_FALSE; }

// What a program sees in frame_flag.
hi_u32 flag_of(uint32_t code) {
  switch (code) {
    case media::vdec::kOk:
      return 0;
    case media::vdec::kNoPicture:
      return 2;
    case media::vdec::kReferenceFrames:
      return 3;
    case media::vdec::kFrameSize:
      return 4;
    default:
      return 1;
  }
}

}  // namespace

media::VdecAttr attr_of(const hi_vdec_chn_attr& attr) {
  media::VdecAttr out;
  out.codec = codec_of(attr.type);
  out.type_number = attr.type;
  out.mode = attr.mode;
  out.width = attr.pic_width;
  out.height = attr.pic_height;
  out.reference_frames = attr.video_attr.ref_frame_num;
  out.record = record_of(attr);
  return out;
}

void give(const media::VdecAttr& attr, hi_vdec_chn_attr* to) { give_record(attr.record, to); }

media::VdecParam param_of(const hi_vdec_chn_param& param, media::CodecType codec) {
  media::VdecParam out;
  out.display_frames = param.display_frame_num;
  if (codec == media::CodecType::jpeg) {
    out.format = param.pic_param.pixel_format;
    out.alpha = param.pic_param.alpha;
  } else {
    out.frames = param.video_param.dec_mode;
    out.order = param.video_param.out_order;
  }
  out.record = record_of(param);
  return out;
}

void give(const media::VdecParam& param, media::CodecType codec, hi_vdec_chn_param* to) {
  if (!give_record(param.record, to)) {
    *to = {};
    if (codec == media::CodecType::jpeg) {
      to->pic_param = {static_cast<hi_pixel_format>(param.format), param.alpha};
    }
  }
  to->type = payload_of(codec);
}

void give(const media::Record& protocol, media::CodecType codec, hi_vdec_protocol_param* to) {
  if (give_record(protocol, to)) return;
  *to = {};
  to->type = payload_of(codec);
}

media::VdecPacket packet_of(const hi_vdec_stream& stream) {
  media::VdecPacket packet;
  packet.data = stream.addr;
  packet.bytes = stream.len;
  packet.pts = stream.pts;
  packet.private_data = stream.private_data;
  packet.end_of_frame = stream.end_of_frame != HI_FALSE;
  packet.end_of_stream = stream.end_of_stream != HI_FALSE;
  packet.display = stream.need_display != HI_FALSE;
  return packet;
}

void give(const media::VdecPacket& packet, hi_vdec_stream* to) {
  *to = {};
  to->addr = packet.data;
  to->len = packet.bytes;
  to->pts = packet.pts;
  to->private_data = packet.private_data;
  to->end_of_frame = bool_of(packet.end_of_frame);
  to->end_of_stream = bool_of(packet.end_of_stream);
  to->need_display = bool_of(packet.display);
}

media::PictureSpec spec_of(const hi_vdec_pic_info& p) {
  return {reinterpret_cast<void*>(p.vir_addr),
          p.buffer_size,
          p.pixel_format,
          p.width,
          p.height,
          p.width_stride,
          p.height_stride};
}

void give(const media::VdecPicture& picture, hi_video_frame_info* to) {
  *to = {};
  to->mod_id = HI_ID_VDEC;
  hi_video_frame& v = to->v_frame;
  const media::PictureSpec& p = picture.spec;
  v.width = p.width;
  v.height = p.height;
  v.field = HI_VIDEO_FIELD_FRAME;
  v.pixel_format = static_cast<hi_pixel_format>(p.format);
  v.video_format = HI_VIDEO_FORMAT_LINEAR;
  v.compress_mode = HI_COMPRESS_MODE_NONE;
  v.width_stride[0] = v.width_stride[1] = p.width_stride;
  v.height_stride[0] = v.height_stride[1] = p.height_stride;
  auto* luma = static_cast<uint8_t*>(p.data);
  auto* chroma = luma ? luma + size_t{p.width_stride} * p.height_stride : nullptr;
  v.virt_addr[0] = luma;
  v.virt_addr[1] = chroma;
  v.phys_addr[0] = reinterpret_cast<hi_u64>(luma);
  v.phys_addr[1] = reinterpret_cast<hi_u64>(chroma);
  v.time_ref = 2 * picture.number;
  v.pts = picture.packet.pts;
  v.user_data[0] = picture.packet.private_data;
  v.frame_flag = flag_of(picture.code);
}

void give(const media::VdecPicture& picture, hi_vdec_supplement_info* to) {
  *to = {};
  to->type = payload_of(picture.codec);
  to->video_supplement_info.frame_type = static_cast<hi_vdec_frame_type>(picture.type);
}

void give(const media::VdecStatus& status, hi_vdec_chn_status* to) {
  *to = {};
  to->type = payload_of(status.codec);
  to->left_stream_bytes = status.waiting_bytes;
  to->left_stream_frames = status.waiting_packets;
  to->left_decoded_frames = status.ready_pictures;
  to->is_started = bool_of(status.started);
  to->recv_stream_frames = status.received_packets;
  to->dec_stream_frames = status.decoded_pictures;
  to->dec_err.set_ref_num_err = status.reference_errors;
  to->dec_err.set_pic_size_err = status.size_errors;
  to->dec_err.set_pic_buf_size_err = status.output_errors;
  to->dec_err.format_err = status.stream_errors;
  to->width = status.width;
  to->height = status.height;
  to->latest_frame_pts = status.pts;
}

}  // namespace anynpu::mpi
