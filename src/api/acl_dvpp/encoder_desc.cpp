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

#define VALUE(setter, getter, type, number) \
  ANYNPU_API_VALUE(setter, getter, aclvencChannelDesc, EncoderDesc, kEncoderParams, type, number)
#define FIELD(setter, getter, type, field) \
  ANYNPU_API_FIELD(setter, getter, aclvencChannelDesc, EncoderDesc, type, field)
VALUE(aclvencSetChannelDescPicFormat, aclvencGetChannelDescPicFormat, acldvppPixelFormat, 2)
VALUE(aclvencSetChannelDescEnType, aclvencGetChannelDescEnType, acldvppStreamFormat, 3)
VALUE(aclvencSetChannelDescPicWidth, aclvencGetChannelDescPicWidth, uint32_t, 4)
VALUE(aclvencSetChannelDescPicHeight, aclvencGetChannelDescPicHeight, uint32_t, 5)
VALUE(aclvencSetChannelDescKeyFrameInterval, aclvencGetChannelDescKeyFrameInterval, uint32_t, 6)
VALUE(aclvencSetChannelDescBufSize, aclvencGetChannelDescBufSize, uint32_t, 8)
VALUE(aclvencSetChannelDescRcMode, aclvencGetChannelDescRcMode, uint32_t, 9)
VALUE(aclvencSetChannelDescSrcRate, aclvencGetChannelDescSrcRate, uint32_t, 10)
VALUE(aclvencSetChannelDescMaxBitRate, aclvencGetChannelDescMaxBitRate, uint32_t, 11)
FIELD(aclvencSetChannelDescThreadId, aclvencGetChannelDescThreadId, uint64_t, thread)
FIELD(aclvencSetChannelDescCallback, aclvencGetChannelDescCallback, aclvencCallback, callback)
FIELD(aclvencSetChannelDescBufAddr, aclvencGetChannelDescBufAddr, void*, buffer)
#undef VALUE
#undef FIELD

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
