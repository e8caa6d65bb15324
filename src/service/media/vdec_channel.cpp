// SPDX-License-Identifier: Apache-2.0
#include "service/media/vdec_channel.h"

#include <algorithm>

#include "media/image.h"
#include "media/support.h"
#include "media/vdec_codes.h"
#include "service/media/wait.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kVdecPacket{"vdec", device::Engine::vdec};
constexpr uint32_t kMostWaitingPackets = 512;

Status check_vdec_attr(const VdecAttr& attr) {
  ANYNPU_TRY(check_support(attr.codec == CodecType::jpeg ? Unit::jpegd : Unit::vdec, Version::v2));
  if (attr.codec == CodecType::other)
    return fail(Code::invalid_argument,
                "the type is {}; expected 96 (H.264), 265 (H.265) or 26 (JPEG)", attr.type_number);
  if (attr.mode < kSendStream || attr.mode > kSendCompatible)
    return fail(Code::invalid_argument, "the mode is {}; expected 0 (stream) or 1 (frame)",
                attr.mode);
  return {};
}

}  // namespace

ChannelTable<VdecChannel>& vdec_channels() {
  static auto& all = *new ChannelTable<VdecChannel>("VDEC", 256);
  return all;
}

Result<std::shared_ptr<VdecChannel>> VdecChannel::open(const VdecAttr& attr) {
  ANYNPU_TRY(check_vdec_attr(attr));
  auto made = std::make_shared<VdecChannel>();
  made->attr_ = attr;
  made->status_.codec = attr.codec;
  ANYNPU_ASSIGN(made->stream_, ChannelStream::make());
  ANYNPU_TRY(made->open_session());
  return made;
}

Status VdecChannel::open_session() {
  sent_.clear();
  outputs_.clear();
  ordered_.clear();
  next_out_ = next_;
  if (is_jpeg()) return {};
  DecodeOptions options;
  options.type = attr_.codec == CodecType::h265 ? VideoType::h265 : VideoType::h264;
  options.width = attr_.width;
  options.height = attr_.height;
  options.reference_frames = attr_.reference_frames;
  ANYNPU_ASSIGN(session_, DecodeSession::open(options));
  ANYNPU_ASSIGN(VideoCodec * codec, video_codec());
  ANYNPU_ASSIGN(cutter_, codec->make_cutter(options.type));
  return {};
}

Status VdecChannel::send(const VdecPacket& packet, const PictureSpec& output,
                         int32_t milliseconds) {
  if (!started_)
    return fail(Code::bad_call_order,
                "the channel does not receive; call vdec_start_recv_stream first");
  auto sent = std::make_shared<Sent>(Sent{packet, output, {}, {}});
  if (packet.bytes > 0) {
    ANYNPU_ASSIGN(sent->bytes, device::check_host_range(packet.data, packet.bytes,
                                                        device::Access::read, "stream"));
    ANYNPU_ASSIGN(sent->memory, device::check_host_range(output.data, std::max(output.bytes, 1u),
                                                         device::Access::write, "vir_addr"));
  } else if (!packet.end_of_stream) {
    return fail(Code::invalid_argument, "the stream has no bytes and does not end here");
  }
  {
    std::unique_lock lock(mutex_);
    ANYNPU_TRY(wait_for_room(
        changed_, lock, milliseconds, [&] { return status_.waiting_packets < kMostWaitingPackets; },
        "the input buffer did not empty"));
    ++status_.waiting_packets;
    ++status_.received_packets;
    status_.waiting_bytes += packet.bytes;
  }
  return stream_->submit({kVdecPacket, sent->bytes.bytes},
                         [self = shared_from_this(), sent]() -> Status {
                           self->run(sent);
                           return {};
                         });
}

Result<VdecPicture> VdecChannel::fetch(int32_t milliseconds) {
  std::unique_lock lock(mutex_);
  ANYNPU_TRY(wait_until(
      changed_, lock, milliseconds, [&] { return !ready_.empty(); }, "no picture was decoded"));
  VdecPicture picture = ready_.front();
  ready_.pop_front();
  ++fetched_;
  if (ready_.empty()) ready_fd_.set(false);
  return picture;
}

Status VdecChannel::release() {
  const std::lock_guard lock(mutex_);
  if (fetched_ == 0)
    return fail(Code::invalid_argument, "no frame of this channel is to be released");
  --fetched_;
  return {};
}

Status VdecChannel::reset() {
  if (started_)
    return fail(Code::bad_call_order, "the channel receives; call vdec_stop_recv_stream first");
  ANYNPU_TRY(stream_->synchronize());
  ANYNPU_TRY(open_session());
  const std::lock_guard lock(mutex_);
  ready_.clear();
  ready_fd_.set(false);
  status_ = {};
  status_.codec = attr_.codec;
  return {};
}

VdecStatus VdecChannel::status() {
  const std::lock_guard lock(mutex_);
  VdecStatus now = status_;
  now.ready_pictures = static_cast<uint32_t>(ready_.size());
  now.started = started_;
  return now;
}

}  // namespace anynpu::media
