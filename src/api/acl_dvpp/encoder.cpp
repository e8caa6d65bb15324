// SPDX-License-Identifier: Apache-2.0
// Video encoding (acl.media.venc_*).
#include "api/acl_dvpp/objects.h"
#include "service/media/encode_channel.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

media::EncodeCallback encode_callback_of(void* function) {
  return [function](Handle picture, Handle packet, void* user_data) {
    reinterpret_cast<aclvencCallback>(function)(from_handle<acldvppPicDesc*>(picture),
                                                from_handle<acldvppStreamDesc*>(packet), user_data);
  };
}

}  // namespace

aclError aclvencDestroyChannelDesc(aclvencChannelDesc* channelDesc) {
  return enter<When::before_init>(
      __func__, [&] { return media::destroy_encoder_desc(to_handle(channelDesc)); });
}

aclError aclvencCreateChannel(aclvencChannelDesc* channelDesc) {
  return enter(__func__,
               [&] { return media::create_encoder(to_handle(channelDesc), encode_callback_of); });
}

aclError aclvencDestroyChannel(aclvencChannelDesc* channelDesc) {
  return enter(__func__, [&] { return media::destroy_encoder(to_handle(channelDesc)); });
}

aclError aclvencSendFrame(aclvencChannelDesc* channelDesc, acldvppPicDesc* input, void* reserve,
                          aclvencFrameConfig* config, void* userData) {
  return enter(__func__, [&] {
    return media::send_picture(to_handle(channelDesc), to_handle(input), to_handle(config),
                               userData);
  });
}
