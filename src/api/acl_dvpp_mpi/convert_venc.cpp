// SPDX-License-Identifier: Apache-2.0
// Frames and packets of encoder channels.
#include "api/acl_dvpp_mpi/convert_venc.h"

#include "media/image.h"

namespace anynpu::mpi {
namespace {

hi_venc_data_type type_of(uint32_t unit) {
  hi_venc_data_type type{};
  type.h264_type = static_cast<hi_venc_h264_nalu_type>(unit);
  return type;
}

void give_pack(const media::VencPacket& packet, const media::VencPack& pack, hi_venc_pack* to) {
  *to = {};
  to->addr = pack.data;
  to->input_addr = packet.input;
  to->len = pack.bytes;
  to->pts = packet.pts;
  to->is_frame_end = pack.last ? HI_TRUE : HI_FALSE;
  to->data_type = type_of(pack.type);
  if (packet.codec == media::CodecType::jpeg) to->data_type.jpeg_type = HI_VENC_JPEG_PACK_PIC;
  for (const media::VencPack::Unit& unit : pack.units) {
    if (to->data_num == HI_VENC_MAX_PACK_INFO_NUM) break;
    to->pack_info[to->data_num++] = {type_of(unit.type), unit.offset, unit.bytes};
  }
}

}  // namespace

int32_t pictures_of(const hi_venc_start_param& param) { return param.recv_pic_num; }

media::VencFrame frame_of(const hi_video_frame_info& frame) {
  const hi_video_frame& v = frame.v_frame;
  media::VencFrame out;
  out.spec.data = v.virt_addr[0];
  out.spec.format = v.pixel_format;
  out.spec.width = v.width;
  out.spec.height = v.height;
  out.spec.width_stride = v.width_stride[0];
  out.spec.height_stride = v.height_stride[0];
  out.pts = v.pts;
  return out;
}

Result<media::VencFrame> frame_of(const hi_user_frame_info& frame) {
  const hi_user_rc_info& rate = frame.user_rc_info;
  if (rate.qp_map_valid || rate.skip_weight_valid || frame.user_roi_map.valid)
    return fail(Code::unsupported_feature,
                "maps of QP, weights and regions for a frame are not supported; send it without");
  if (rate.frame_type == VENC_FRAME_TYPE_PSKIP)
    return fail(Code::unsupported_feature,
                "frame_type is {} (a frame that repeats the one before); {} (any) and {} (a key "
                "frame) are supported",
                rate.frame_type, VENC_FRAME_TYPE_NONE, VENC_FRAME_TYPE_IDR);
  media::VencFrame out = frame_of(frame.user_frame);
  out.key = rate.frame_type == VENC_FRAME_TYPE_IDR;
  return out;
}

OutputMemory memory_of(const hi_img_stream& stream) { return {stream.addr, stream.len}; }

Result<uint32_t> jpeg_bytes_of(const hi_video_frame_info& frame) {
  return media::jpeg_encoded_bytes(frame_of(frame).spec);
}

uint32_t room_of(const hi_venc_stream& stream) { return stream.pack ? stream.pack_cnt : 0; }

const uint8_t* first_pack_of(const hi_venc_stream& stream) {
  return room_of(stream) > 0 ? stream.pack[0].addr : nullptr;
}

void give(const media::VencPacket& packet, hi_venc_stream* to) {
  to->pack_cnt = 0;
  for (const media::VencPack& pack : packet.packs)
    give_pack(packet, pack, &to->pack[to->pack_cnt++]);
  to->seq = packet.number;
  if (packet.codec == media::CodecType::jpeg) {
    to->jpeg_info.pic_bytes = packet.bytes;
    to->jpeg_info.qfactor = packet.quality;
    return;
  }
  const auto ref = packet.key ? HI_VENC_BASE_IDR_SLICE : HI_VENC_BASE_P_SLICE_REF_BY_BASE;
  if (packet.codec == media::CodecType::h264) {
    to->h264_info.pic_bytes = packet.bytes;
    to->h264_info.ref_type = ref;
  } else {
    to->h265_info.pic_bytes = packet.bytes;
    to->h265_info.ref_type = ref;
  }
}

void give(const media::VencStatus& status, hi_venc_chn_status* to) {
  *to = {};
  to->left_pics = to->left_enc_pics = status.waiting_pictures;
  to->left_recv_pics = status.pictures_to_come;
  to->left_stream_frames = status.ready_packets;
  to->left_stream_bytes = status.ready_bytes;
  to->cur_packs = status.next_packs;
  to->is_jpeg_snap_end = status.all_encoded ? HI_TRUE : HI_FALSE;
  to->stream_info.pic_bytes = status.next_bytes;
  to->stream_info.pic_cnt = status.fetched_packets;
}

}  // namespace anynpu::mpi
