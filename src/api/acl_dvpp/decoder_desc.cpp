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

#define VALUE(setter, getter, type, number) \
  ANYNPU_API_VALUE(setter, getter, aclvdecChannelDesc, DecoderDesc, kDecoderParams, type, number)
#define FIELD(setter, getter, type, field) \
  ANYNPU_API_FIELD(setter, getter, aclvdecChannelDesc, DecoderDesc, type, field)
VALUE(aclvdecSetChannelDescOutMode, aclvdecGetChannelDescOutMode, uint32_t, 1)
VALUE(aclvdecSetChannelDescChannelId, aclvdecGetChannelDescChannelId, uint32_t, 4)
VALUE(aclvdecSetChannelDescEnType, aclvdecGetChannelDescEnType, acldvppStreamFormat, 5)
VALUE(aclvdecSetChannelDescOutPicFormat, aclvdecGetChannelDescOutPicFormat, acldvppPixelFormat, 6)
VALUE(aclvdecSetChannelDescOutPicWidth, aclvdecGetChannelDescOutPicWidth, uint32_t, 7)
VALUE(aclvdecSetChannelDescOutPicHeight, aclvdecGetChannelDescOutPicHeight, uint32_t, 8)
VALUE(aclvdecSetChannelDescRefFrameNum, aclvdecGetChannelDescRefFrameNum, uint32_t, 9)
VALUE(aclvdecSetChannelDescBitDepth, aclvdecGetChannelDescBitDepth, uint32_t, 10)
FIELD(aclvdecSetChannelDescThreadId, aclvdecGetChannelDescThreadId, uint64_t, thread)
FIELD(aclvdecSetChannelDescCallback, aclvdecGetChannelDescCallback, aclvdecCallback, callback)
#undef VALUE
#undef FIELD

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
