// SPDX-License-Identifier: Apache-2.0
// Video decoding (acl.media.vdec_*).
#include "api/acl_dvpp/objects.h"
#include "service/media/decode_channel.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

// Calls the program's function; its thread can ask for the message of a picture that failed.
media::DecodeCallback decode_callback_of(void* function) {
  return [function](const Status& failure, Handle packet, Handle picture, void* user_data) {
    if (!failure.ok()) acl::report("aclvdecSendFrame", failure);
    reinterpret_cast<aclvdecCallback>(function)(from_handle<acldvppStreamDesc*>(packet),
                                                from_handle<acldvppPicDesc*>(picture), user_data);
  };
}

}  // namespace

aclError aclvdecDestroyChannelDesc(aclvdecChannelDesc* channelDesc) {
  return enter<When::before_init>(
      __func__, [&] { return media::destroy_decoder_desc(to_handle(channelDesc)); });
}

aclError aclvdecCreateChannel(aclvdecChannelDesc* channelDesc) {
  return enter(__func__,
               [&] { return media::create_decoder(to_handle(channelDesc), decode_callback_of); });
}

aclError aclvdecDestroyChannel(aclvdecChannelDesc* channelDesc) {
  return enter(__func__, [&] { return media::destroy_decoder(to_handle(channelDesc)); });
}

aclError aclvdecSendFrame(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input,
                          acldvppPicDesc* output, aclvdecFrameConfig* config, void* userData) {
  return enter(__func__, [&] {
    return media::send_packet({to_handle(channelDesc), to_handle(input), to_handle(output), false,
                               to_handle(config), userData});
  });
}

aclError aclvdecSendSkippedFrame(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input,
                                 aclvdecFrameConfig* config, void* userData) {
  return enter(__func__, [&] {
    return media::send_packet(
        {to_handle(channelDesc), to_handle(input), 0, true, to_handle(config), userData});
  });
}
