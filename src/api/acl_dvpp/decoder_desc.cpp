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

aclError aclvdecSetChannelDescChannelId(aclvdecChannelDesc* channelDesc, uint32_t channelId) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 4, channelId);
}

aclError aclvdecSetChannelDescEnType(aclvdecChannelDesc* channelDesc,
                                     acldvppStreamFormat streamFormat) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 5, streamFormat);
}

aclError aclvdecSetChannelDescOutPicFormat(aclvdecChannelDesc* channelDesc,
                                           acldvppPixelFormat outPicFormat) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 6, outPicFormat);
}

aclError aclvdecSetChannelDescOutPicWidth(aclvdecChannelDesc* channelDesc, uint32_t outPicWidth) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 7, outPicWidth);
}

aclError aclvdecSetChannelDescOutPicHeight(aclvdecChannelDesc* channelDesc, uint32_t outPicHeight) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 8, outPicHeight);
}

aclError aclvdecSetChannelDescRefFrameNum(aclvdecChannelDesc* channelDesc, uint32_t refFrameNum) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 9, refFrameNum);
}

aclError aclvdecSetChannelDescBitDepth(aclvdecChannelDesc* channelDesc, uint32_t bitDepth) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 10, bitDepth);
}

aclError aclvdecSetChannelDescOutMode(aclvdecChannelDesc* channelDesc, uint32_t outMode) {
  return set_checked<DecoderDesc>(__func__, channelDesc, kDecoderParams, 1, outMode);
}

aclError aclvdecSetChannelDescThreadId(aclvdecChannelDesc* channelDesc, uint64_t threadId) {
  return set<DecoderDesc>(__func__, channelDesc, &DecoderDesc::thread, threadId);
}

aclError aclvdecSetChannelDescCallback(aclvdecChannelDesc* channelDesc, aclvdecCallback callback) {
  return set<DecoderDesc>(__func__, channelDesc, &DecoderDesc::callback, callback);
}

uint32_t aclvdecGetChannelDescChannelId(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint32_t>(__func__, channelDesc, &DecoderDesc::channel_id);
}

acldvppStreamFormat aclvdecGetChannelDescEnType(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, acldvppStreamFormat>(__func__, channelDesc, &DecoderDesc::stream_format);
}

acldvppPixelFormat aclvdecGetChannelDescOutPicFormat(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, acldvppPixelFormat>(__func__, channelDesc, &DecoderDesc::format);
}

uint32_t aclvdecGetChannelDescOutPicWidth(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint32_t>(__func__, channelDesc, &DecoderDesc::width);
}

uint32_t aclvdecGetChannelDescOutPicHeight(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint32_t>(__func__, channelDesc, &DecoderDesc::height);
}

uint32_t aclvdecGetChannelDescRefFrameNum(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint32_t>(__func__, channelDesc, &DecoderDesc::reference_frames);
}

uint32_t aclvdecGetChannelDescBitDepth(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint32_t>(__func__, channelDesc, &DecoderDesc::bit_depth);
}

uint32_t aclvdecGetChannelDescOutMode(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint32_t>(__func__, channelDesc, &DecoderDesc::out_mode);
}

uint64_t aclvdecGetChannelDescThreadId(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, uint64_t>(__func__, channelDesc, &DecoderDesc::thread);
}

aclvdecCallback aclvdecGetChannelDescCallback(const aclvdecChannelDesc* channelDesc) {
  return get<DecoderDesc, aclvdecCallback>(__func__, channelDesc, &DecoderDesc::callback);
}

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
