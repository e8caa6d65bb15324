// SPDX-License-Identifier: Apache-2.0
#include "service/media/bindings.h"

#include "base/log.h"
#include "service/media/vdec_channel.h"
#include "service/media/venc_channel.h"

namespace anynpu::media {
namespace {

Status check_pair(const ChannelName& from, const ChannelName& to) {
  if (from.unit == ChannelName::vdec && to.unit == ChannelName::venc) return {};
  return fail(Code::unsupported_feature,
              "unit {} to unit {}: a decoder (5) is bound to an encoder (8); for other units fetch "
              "the pictures and send them",
              from.unit, to.unit);
}

void send_to_encoder(int32_t channel, const VdecPicture& picture) {
  VencFrame frame;
  frame.spec = picture.spec;
  frame.pts = picture.packet.pts;
  auto encoder = venc_channels().find(channel);
  const Status sent = encoder.ok() ? (*encoder)->send(frame, 0) : encoder.status();
  if (!sent.ok()) ANYNPU_LOG(warning, "a decoded picture was dropped: {}", sent.message());
}

}  // namespace

Status bind_channels(const ChannelName& from, const ChannelName& to) {
  ANYNPU_TRY(check_pair(from, to));
  ANYNPU_ASSIGN(auto decoder, vdec_channels().find(from.channel));
  ANYNPU_ASSIGN(auto encoder, venc_channels().find(to.channel));
  if (!encoder->take_source(decoder))
    return fail(Code::already_exists, "encoder {} has a source already; unbind it first",
                to.channel);
  decoder->add_sink(to.channel, [channel = to.channel](const VdecPicture& picture) {
    send_to_encoder(channel, picture);
  });
  return {};
}

Status unbind_channels(const ChannelName& from, const ChannelName& to) {
  ANYNPU_TRY(check_pair(from, to));
  ANYNPU_ASSIGN(auto decoder, vdec_channels().find(from.channel));
  if (!decoder->remove_sink(to.channel))
    return fail(Code::not_found, "decoder {} is not bound to encoder {}", from.channel, to.channel);
  if (auto encoder = venc_channels().find(to.channel); encoder.ok()) (*encoder)->leave_source();
  return {};
}

}  // namespace anynpu::media
