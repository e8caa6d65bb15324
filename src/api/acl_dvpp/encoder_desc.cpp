// SPDX-License-Identifier: Apache-2.0
// Settings of video encoder channels: each by its own function, and by number.
#include "api/acl_dvpp/params.h"
#include "api/acl_dvpp/video.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

constexpr Param<EncoderDesc> kEncoderParams[] = {
    {"thread", nullptr, 0, 0},
    {"callback", nullptr, 0, 0},
    {"picture format", &EncoderDesc::format, PIXEL_FORMAT_YUV_SEMIPLANAR_420,
     PIXEL_FORMAT_YVU_SEMIPLANAR_420},
    {"stream format", &EncoderDesc::stream_format, H265_MAIN_LEVEL, H264_HIGH_LEVEL},
    {"picture width", &EncoderDesc::width, 16, 8192},
    {"picture height", &EncoderDesc::height, 16, 8192},
    {"key frame interval", &EncoderDesc::key_interval, 1, 65535},
    {"buffer address", nullptr, 0, 0},
    {"buffer size", &EncoderDesc::buffer_size, 0, UINT32_MAX},
    {"rate control mode", &EncoderDesc::rate_mode, 0, 2},
    {"frame rate of the source", &EncoderDesc::source_rate, 1, 240},
    {"largest bit rate (kbit/s)", &EncoderDesc::max_bit_rate, 10, 80000},
    {"proportion of I to P frames", &EncoderDesc::i_to_p, 1, 100},
};

}  // namespace

aclvencChannelDesc* aclvencCreateChannelDesc(void) {
  return create<aclvencChannelDesc*, EncoderDesc>(__func__);
}

aclError aclvencSetChannelDescEnType(aclvencChannelDesc* channelDesc,
                                     acldvppStreamFormat streamFormat) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 3, streamFormat);
}

aclError aclvencSetChannelDescPicFormat(aclvencChannelDesc* channelDesc,
                                        acldvppPixelFormat picFormat) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 2, picFormat);
}

aclError aclvencSetChannelDescPicWidth(aclvencChannelDesc* channelDesc, uint32_t picWidth) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 4, picWidth);
}

aclError aclvencSetChannelDescPicHeight(aclvencChannelDesc* channelDesc, uint32_t picHeight) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 5, picHeight);
}

aclError aclvencSetChannelDescKeyFrameInterval(aclvencChannelDesc* channelDesc,
                                               uint32_t keyFrameInterval) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 6, keyFrameInterval);
}

aclError aclvencSetChannelDescBufSize(aclvencChannelDesc* channelDesc, uint32_t bufSize) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 8, bufSize);
}

aclError aclvencSetChannelDescRcMode(aclvencChannelDesc* channelDesc, uint32_t rcMode) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 9, rcMode);
}

aclError aclvencSetChannelDescSrcRate(aclvencChannelDesc* channelDesc, uint32_t srcRate) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 10, srcRate);
}

aclError aclvencSetChannelDescMaxBitRate(aclvencChannelDesc* channelDesc, uint32_t maxBitRate) {
  return set_checked<EncoderDesc>(__func__, channelDesc, kEncoderParams, 11, maxBitRate);
}

aclError aclvencSetChannelDescThreadId(aclvencChannelDesc* channelDesc, uint64_t threadId) {
  return set<EncoderDesc>(__func__, channelDesc, &EncoderDesc::thread, threadId);
}

aclError aclvencSetChannelDescCallback(aclvencChannelDesc* channelDesc, aclvencCallback callback) {
  return set<EncoderDesc>(__func__, channelDesc, &EncoderDesc::callback, callback);
}

aclError aclvencSetChannelDescBufAddr(aclvencChannelDesc* channelDesc, void* bufAddr) {
  return set<EncoderDesc>(__func__, channelDesc, &EncoderDesc::buffer, bufAddr);
}

acldvppStreamFormat aclvencGetChannelDescEnType(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, acldvppStreamFormat>(__func__, channelDesc, &EncoderDesc::stream_format);
}

acldvppPixelFormat aclvencGetChannelDescPicFormat(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, acldvppPixelFormat>(__func__, channelDesc, &EncoderDesc::format);
}

uint32_t aclvencGetChannelDescPicWidth(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::width);
}

uint32_t aclvencGetChannelDescPicHeight(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::height);
}

uint32_t aclvencGetChannelDescKeyFrameInterval(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::key_interval);
}

uint32_t aclvencGetChannelDescBufSize(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::buffer_size);
}

uint32_t aclvencGetChannelDescRcMode(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::rate_mode);
}

uint32_t aclvencGetChannelDescSrcRate(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::source_rate);
}

uint32_t aclvencGetChannelDescMaxBitRate(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::max_bit_rate);
}

uint64_t aclvencGetChannelDescThreadId(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint64_t>(__func__, channelDesc, &EncoderDesc::thread);
}

aclvencCallback aclvencGetChannelDescCallback(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, aclvencCallback>(__func__, channelDesc, &EncoderDesc::callback);
}

void* aclvencGetChannelDescBufAddr(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, void*>(__func__, channelDesc, &EncoderDesc::buffer);
}

uint32_t aclvencGetChannelDescChannelId(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::channel_id);
}

aclvencFrameConfig* aclvencCreateFrameConfig(void) {
  return create<aclvencFrameConfig*, EncodeConfig>(__func__);
}

aclError aclvencDestroyFrameConfig(const aclvencFrameConfig* config) {
  return destroy<EncodeConfig>(__func__, config);
}

aclError aclvencSetFrameConfigForceIFrame(aclvencFrameConfig* config, uint8_t forceIFrame) {
  return set<EncodeConfig>(__func__, config, &EncodeConfig::force_key, forceIFrame);
}

aclError aclvencSetFrameConfigEos(aclvencFrameConfig* config, uint8_t eos) {
  return set<EncodeConfig>(__func__, config, &EncodeConfig::eos, eos);
}

uint8_t aclvencGetFrameConfigForceIFrame(const aclvencFrameConfig* config) {
  return get<EncodeConfig, uint8_t>(__func__, config, &EncodeConfig::force_key);
}

uint8_t aclvencGetFrameConfigEos(const aclvencFrameConfig* config) {
  return get<EncodeConfig, uint8_t>(__func__, config, &EncodeConfig::eos);
}

aclError aclvencSetChannelDescParam(aclvencChannelDesc* channelDesc,
                                    aclvencChannelDescParamType paramType, size_t length,
                                    const void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(to_handle(channelDesc)));
    if (paramType == ACL_VENC_THREAD_ID_UINT64) return take_param(length, param, &pin->thread);
    if (paramType == ACL_VENC_CALLBACK_PTR) return take_param(length, param, &pin->callback);
    if (paramType == ACL_VENC_BUF_ADDR_PTR) return take_param(length, param, &pin->buffer);
    return set_param<EncoderDesc>(*pin, kEncoderParams, paramType, length, param);
  });
}

aclError aclvencGetChannelDescParam(const aclvencChannelDesc* channelDesc,
                                    aclvencChannelDescParamType paramType, size_t length,
                                    size_t* paramRetSize, void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(to_handle(channelDesc)));
    if (paramType == ACL_VENC_THREAD_ID_UINT64)
      return give_param(pin->thread, length, paramRetSize, param);
    if (paramType == ACL_VENC_CALLBACK_PTR)
      return give_param(pin->callback, length, paramRetSize, param);
    if (paramType == ACL_VENC_BUF_ADDR_PTR)
      return give_param(pin->buffer, length, paramRetSize, param);
    return get_param<EncoderDesc>(*pin, kEncoderParams, paramType, length, paramRetSize, param);
  });
}
