// SPDX-License-Identifier: Apache-2.0
// Channels for pictures (acl.media.dvpp_create_channel and its kin).
#include <atomic>
#include <cstring>

#include "api/acl_dvpp/params.h"
#include "device/runtime.h"
#include "media/support.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

constexpr uint32_t kAllModes =
    DVPP_CHNMODE_VPC | DVPP_CHNMODE_JPEGD | DVPP_CHNMODE_JPEGE | DVPP_CHNMODE_PNGD;

Status check_mode(uint32_t mode) {
  if (mode != 0 && (mode & ~kAllModes) == 0) return {};
  return fail(Code::invalid_argument,
              "the mode is {:#x}; expected a sum of 1 (VPC), 2 (JPEGD), 4 (JPEGE) and 8 (PNGD)",
              mode);
}

std::atomic<uint64_t> next_id{1};

// The parameters by number.
constexpr Param<ChannelDesc> kChannelParams[] = {
    param<&ChannelDesc::matrix>("colour matrix", 0, pixel::kColorMatrices - 1),
    param<&ChannelDesc::mode>("mode", 1, kAllModes),
    read_only<&ChannelDesc::id>("channel id"),
    param<&ChannelDesc::height>("channel height", 0, 8192),
    param<&ChannelDesc::width>("channel width", 0, 8192),
    param<&ChannelDesc::precision>("precision mode", 0, ACL_YUVOUT_ALIGN_DOWN_COMPAT),
};

}  // namespace

acldvppChannelDesc* acldvppCreateChannelDesc(void) {
  return create<acldvppChannelDesc*, ChannelDesc>(__func__);
}

aclError acldvppDestroyChannelDesc(const acldvppChannelDesc* channelDesc) {
  return destroy<ChannelDesc>(__func__, channelDesc);
}

aclError acldvppSetChannelDescMode(acldvppChannelDesc* channelDesc, uint32_t mode) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<ChannelDesc>(to_handle(channelDesc)));
    ANYNPU_TRY(check_mode(mode));
    pin->mode = mode;
    return {};
  });
}

ANYNPU_API_VALUES(acldvppSetChannelDescParam, acldvppGetChannelDescParam, acldvppChannelDesc,
                  acldvppChannelDescParamType, ChannelDesc, kChannelParams)

uint64_t acldvppGetChannelDescChannelId(const acldvppChannelDesc* channelDesc) {
  return get<ChannelDesc, uint64_t>(__func__, channelDesc, &ChannelDesc::id);
}

aclError acldvppCreateChannel(acldvppChannelDesc* channelDesc) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<ChannelDesc>(to_handle(channelDesc)));
    ANYNPU_TRY(device::Runtime::instance().current().status());
    ANYNPU_TRY(media::check_support(media::Unit::vpc, media::Version::v1));
    ANYNPU_TRY(pin->channel->open());
    pin->id = next_id.fetch_add(1);
    if (pin->precision != ACL_YUVOUT_ALIGN_DOWN)
      media::warn_without_effect("JPEGD", "the precision mode");
    return {};
  });
}

aclError acldvppDestroyChannel(acldvppChannelDesc* channelDesc) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<ChannelDesc>(to_handle(channelDesc)));
    return pin->channel->close();
  });
}
