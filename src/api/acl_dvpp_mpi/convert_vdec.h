// SPDX-License-Identifier: Apache-2.0
// Conversion of the vendor's structs for decoder channels. No other file reads or writes their
// fields.
#pragma once

#include "acl/dvpp/hi_dvpp.h"
#include "service/media/vdec_channel.h"

namespace anynpu::mpi {

media::VdecAttr attr_of(const hi_vdec_chn_attr& attr);
void give(const media::VdecAttr& attr, hi_vdec_chn_attr* to);

// A channel of pictures reads pic_param, others video_param.
media::VdecParam param_of(const hi_vdec_chn_param& param, media::CodecType codec);
void give(const media::VdecParam& param, media::CodecType codec, hi_vdec_chn_param* to);
// Settings that the program never wrote get the type of the channel.
void give(const media::Record& protocol, media::CodecType codec, hi_vdec_protocol_param* to);

media::VdecPacket packet_of(const hi_vdec_stream& stream);
void give(const media::VdecPacket& packet, hi_vdec_stream* to);
media::PictureSpec spec_of(const hi_vdec_pic_info& picture);

void give(const media::VdecPicture& picture, hi_video_frame_info* to);
void give(const media::VdecPicture& picture, hi_vdec_supplement_info* to);
void give(const media::VdecStatus& status, hi_vdec_chn_status* to);

}  // namespace anynpu::mpi
