// SPDX-License-Identifier: Apache-2.0
// Settings of video decoder channels: each by its own function, and by number.
#include "api/acl_dvpp/params.h"
#include "service/media/decode_channel.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::DecodeConfig;
using media::DecoderDesc;

namespace {

constexpr Param<DecoderDesc> kDecoderParams[] = {
    param<&DecoderDesc::matrix>("colour matrix", 0, pixel::kColorMatrices - 1),
    param<&DecoderDesc::out_mode>("output mode", 0, 1),
    param<&DecoderDesc::thread>("thread"),
    param<&DecoderDesc::callback>("callback"),
    param<&DecoderDesc::channel_id>("channel id", 0, 31),
    param<&DecoderDesc::stream_format>("stream format", H265_MAIN_LEVEL, H264_HIGH_LEVEL),
    param<&DecoderDesc::format>("output format"),
    param<&DecoderDesc::width>("output width", 0, 8192),
    param<&DecoderDesc::height>("output height", 0, 8192),
    param<&DecoderDesc::reference_frames>("number of reference frames", 0, 16),
    param<&DecoderDesc::bit_depth>("bit depth", 0, 1),
};

}  // namespace

aclvdecChannelDesc* aclvdecCreateChannelDesc(void) {
  return create<aclvdecChannelDesc*, DecoderDesc>(__func__);
}

#define VALUE(setter, getter, type, number) \
  ANYNPU_API_VALUE(setter, getter, aclvdecChannelDesc, DecoderDesc, kDecoderParams, type, number)
VALUE(aclvdecSetChannelDescOutMode, aclvdecGetChannelDescOutMode, uint32_t, 1)
VALUE(aclvdecSetChannelDescThreadId, aclvdecGetChannelDescThreadId, uint64_t, 2)
VALUE(aclvdecSetChannelDescCallback, aclvdecGetChannelDescCallback, aclvdecCallback, 3)
VALUE(aclvdecSetChannelDescChannelId, aclvdecGetChannelDescChannelId, uint32_t, 4)
VALUE(aclvdecSetChannelDescEnType, aclvdecGetChannelDescEnType, acldvppStreamFormat, 5)
VALUE(aclvdecSetChannelDescOutPicFormat, aclvdecGetChannelDescOutPicFormat, acldvppPixelFormat, 6)
VALUE(aclvdecSetChannelDescOutPicWidth, aclvdecGetChannelDescOutPicWidth, uint32_t, 7)
VALUE(aclvdecSetChannelDescOutPicHeight, aclvdecGetChannelDescOutPicHeight, uint32_t, 8)
VALUE(aclvdecSetChannelDescRefFrameNum, aclvdecGetChannelDescRefFrameNum, uint32_t, 9)
VALUE(aclvdecSetChannelDescBitDepth, aclvdecGetChannelDescBitDepth, uint32_t, 10)
#undef VALUE
ANYNPU_API_VALUES(aclvdecSetChannelDescParam, aclvdecGetChannelDescParam, aclvdecChannelDesc,
                  aclvdecChannelDescParamType, DecoderDesc, kDecoderParams)

aclvdecFrameConfig* aclvdecCreateFrameConfig(void) {
  return create<aclvdecFrameConfig*, DecodeConfig>(__func__);
}

aclError aclvdecDestroyFrameConfig(aclvdecFrameConfig* vdecFrameConfig) {
  return destroy<DecodeConfig>(__func__, vdecFrameConfig);
}
