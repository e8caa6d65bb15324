// SPDX-License-Identifier: Apache-2.0
// Settings of video decoder channels: each by its own function, and by number.
#include "api/acl_dvpp/params.h"
#include "api/acl_dvpp/video.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

constexpr Param<DecoderDesc> kDecoderParams[] = {
    {"colour matrix", &DecoderDesc::matrix, 0, pixel::kColorMatrices - 1},
    {"output mode", &DecoderDesc::out_mode, 0, 1},
    {"thread", nullptr, 0, 0},
    {"callback", nullptr, 0, 0},
    {"channel id", &DecoderDesc::channel_id, 0, 31},
    {"stream format", &DecoderDesc::stream_format, H265_MAIN_LEVEL, H264_HIGH_LEVEL},
    {"output format", &DecoderDesc::format, 0, UINT32_MAX},
    {"output width", &DecoderDesc::width, 0, 8192},
    {"output height", &DecoderDesc::height, 0, 8192},
    {"number of reference frames", &DecoderDesc::reference_frames, 0, 16},
    {"bit depth", &DecoderDesc::bit_depth, 0, 1},
};

}  // namespace

aclvdecChannelDesc* aclvdecCreateChannelDesc(void) {
  return create<aclvdecChannelDesc*, DecoderDesc>(__func__);
}

#define VALUE(name, type, number) \
  ANYNPU_CHANNEL_VALUE(aclvdec, DecoderDesc, kDecoderParams, name, type, number)
VALUE(OutMode, uint32_t, 1)
VALUE(ChannelId, uint32_t, 4)
VALUE(EnType, acldvppStreamFormat, 5)
VALUE(OutPicFormat, acldvppPixelFormat, 6)
VALUE(OutPicWidth, uint32_t, 7)
VALUE(OutPicHeight, uint32_t, 8)
VALUE(RefFrameNum, uint32_t, 9)
VALUE(BitDepth, uint32_t, 10)
#undef VALUE
ANYNPU_CHANNEL_FIELD(aclvdec, DecoderDesc, ThreadId, uint64_t, thread)
ANYNPU_CHANNEL_FIELD(aclvdec, DecoderDesc, Callback, aclvdecCallback, callback)

aclvdecFrameConfig* aclvdecCreateFrameConfig(void) {
  return create<aclvdecFrameConfig*, DecodeConfig>(__func__);
}

aclError aclvdecDestroyFrameConfig(const aclvdecFrameConfig* vdecFrameConfig) {
  return destroy<DecodeConfig>(__func__, vdecFrameConfig);
}

aclError aclvdecSetChannelDescParam(aclvdecChannelDesc* channelDesc,
                                    aclvdecChannelDescParamType paramType, size_t length,
                                    const void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(to_handle(channelDesc)));
    if (paramType == ACL_VDEC_THREAD_ID_UINT64) return take_param(length, param, &pin->thread);
    if (paramType == ACL_VDEC_CALLBACK_PTR) return take_param(length, param, &pin->callback);
    return set_param<DecoderDesc>(*pin, kDecoderParams, paramType, length, param);
  });
}

aclError aclvdecGetChannelDescParam(const aclvdecChannelDesc* channelDesc,
                                    aclvdecChannelDescParamType paramType, size_t length,
                                    size_t* paramRetSize, void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(to_handle(channelDesc)));
    if (paramType == ACL_VDEC_THREAD_ID_UINT64)
      return give_param(pin->thread, length, paramRetSize, param);
    if (paramType == ACL_VDEC_CALLBACK_PTR)
      return give_param(pin->callback, length, paramRetSize, param);
    return get_param<DecoderDesc>(*pin, kDecoderParams, paramType, length, paramRetSize, param);
  });
}
