// SPDX-License-Identifier: Apache-2.0
// Settings of video encoder channels: each by its own function, and by number.
#include "api/acl_dvpp/params.h"
#include "service/media/encode_channel.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::EncodeConfig;
using media::EncoderDesc;

namespace {

constexpr Param<EncoderDesc> kEncoderParams[] = {
    param<&EncoderDesc::thread>("thread"),
    param<&EncoderDesc::callback>("callback"),
    param<&EncoderDesc::format>("picture format", PIXEL_FORMAT_YUV_SEMIPLANAR_420,
                                PIXEL_FORMAT_YVU_SEMIPLANAR_420),
    param<&EncoderDesc::stream_format>("stream format", H265_MAIN_LEVEL, H264_HIGH_LEVEL),
    param<&EncoderDesc::width>("picture width", 16, 8192),
    param<&EncoderDesc::height>("picture height", 16, 8192),
    param<&EncoderDesc::key_interval>("key frame interval", 1, 65535),
    param<&EncoderDesc::buffer>("buffer address"),
    param<&EncoderDesc::buffer_size>("buffer size"),
    param<&EncoderDesc::rate_mode>("rate control mode", 0, 2),
    param<&EncoderDesc::source_rate>("frame rate of the source", 1, 240),
    param<&EncoderDesc::max_bit_rate>("largest bit rate (kbit/s)", 10, 80000),
    param<&EncoderDesc::i_to_p>("proportion of I to P frames", 1, 100),
};

}  // namespace

aclvencChannelDesc* aclvencCreateChannelDesc(void) {
  return create<aclvencChannelDesc*, EncoderDesc>(__func__);
}

#define VALUE(setter, getter, type, number) \
  ANYNPU_API_VALUE(setter, getter, aclvencChannelDesc, EncoderDesc, kEncoderParams, type, number)
VALUE(aclvencSetChannelDescThreadId, aclvencGetChannelDescThreadId, uint64_t, 0)
VALUE(aclvencSetChannelDescCallback, aclvencGetChannelDescCallback, aclvencCallback, 1)
VALUE(aclvencSetChannelDescPicFormat, aclvencGetChannelDescPicFormat, acldvppPixelFormat, 2)
VALUE(aclvencSetChannelDescEnType, aclvencGetChannelDescEnType, acldvppStreamFormat, 3)
VALUE(aclvencSetChannelDescPicWidth, aclvencGetChannelDescPicWidth, uint32_t, 4)
VALUE(aclvencSetChannelDescPicHeight, aclvencGetChannelDescPicHeight, uint32_t, 5)
VALUE(aclvencSetChannelDescKeyFrameInterval, aclvencGetChannelDescKeyFrameInterval, uint32_t, 6)
VALUE(aclvencSetChannelDescBufAddr, aclvencGetChannelDescBufAddr, void*, 7)
VALUE(aclvencSetChannelDescBufSize, aclvencGetChannelDescBufSize, uint32_t, 8)
VALUE(aclvencSetChannelDescRcMode, aclvencGetChannelDescRcMode, uint32_t, 9)
VALUE(aclvencSetChannelDescSrcRate, aclvencGetChannelDescSrcRate, uint32_t, 10)
VALUE(aclvencSetChannelDescMaxBitRate, aclvencGetChannelDescMaxBitRate, uint32_t, 11)
#undef VALUE
ANYNPU_API_VALUES(aclvencSetChannelDescParam, aclvencGetChannelDescParam, aclvencChannelDesc,
                  aclvencChannelDescParamType, EncoderDesc, kEncoderParams)

uint32_t aclvencGetChannelDescChannelId(const aclvencChannelDesc* channelDesc) {
  return get<EncoderDesc, uint32_t>(__func__, channelDesc, &EncoderDesc::channel_id);
}

aclvencFrameConfig* aclvencCreateFrameConfig(void) {
  return create<aclvencFrameConfig*, EncodeConfig>(__func__);
}

aclError aclvencDestroyFrameConfig(aclvencFrameConfig* config) {
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
