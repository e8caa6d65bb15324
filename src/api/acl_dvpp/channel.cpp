// SPDX-License-Identifier: Apache-2.0
// Channels for pictures (acl.media.dvpp_create_channel and similar).
#include "api/acl_dvpp/params.h"
#include "service/media/picture_calls.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;
using media::ChannelDesc;

namespace {

// The parameters by number.
constexpr Param<ChannelDesc> kChannelParams[] = {
    param<&ChannelDesc::matrix>("colour matrix", 0, pixel::kColorMatrices - 1),
    param<&ChannelDesc::mode>("mode", 1, media::kAllModes),
    read_only<&ChannelDesc::id>("channel id"),
    param<&ChannelDesc::height>("channel height", 0, 8192),
    param<&ChannelDesc::width>("channel width", 0, 8192),
    param<&ChannelDesc::precision>("precision mode", 0, ACL_YUVOUT_ALIGN_DOWN_COMPAT),
};

}  // namespace

acldvppChannelDesc* acldvppCreateChannelDesc(void) {
  return create<acldvppChannelDesc*, ChannelDesc>(__func__);
}

aclError acldvppDestroyChannelDesc(acldvppChannelDesc* channelDesc) {
  return destroy<ChannelDesc>(__func__, channelDesc);
}

aclError acldvppSetChannelDescMode(acldvppChannelDesc* channelDesc, uint32_t mode) {
  return on_object<ChannelDesc>(__func__, channelDesc,
                                [&](ChannelDesc& desc) { return desc.set_mode(mode); });
}

ANYNPU_API_VALUES(acldvppSetChannelDescParam, acldvppGetChannelDescParam, acldvppChannelDesc,
                  acldvppChannelDescParamType, ChannelDesc, kChannelParams)

uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc* channelDesc) {
  return get<ChannelDesc, uint64_t>(__func__, channelDesc, &ChannelDesc::id);
}

aclError acldvppCreateChannel(acldvppChannelDesc* channelDesc) {
  return on_object<ChannelDesc>(__func__, channelDesc, media::open_picture_channel);
}

aclError acldvppDestroyChannel(acldvppChannelDesc* channelDesc) {
  return on_object<ChannelDesc>(__func__, channelDesc,
                                [](ChannelDesc& desc) { return desc.channel->close(); });
}
