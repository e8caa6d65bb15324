// SPDX-License-Identifier: Apache-2.0
#include "service/media/decode_channel.h"

#include <algorithm>

#include "base/log.h"
#include "media/support.h"
#include "media/vdec_codes.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kDecodePacket{"vdec", device::Engine::vdec};
std::atomic<int> open_decoders{0};

DecodeOptions decode_options(const DecoderDesc& desc) {
  DecodeOptions options;
  options.type = desc.stream_format == 0 ? VideoType::h265 : VideoType::h264;
  options.width = desc.width;
  options.height = desc.height;
  options.reference_frames = desc.reference_frames;
  return options;
}

// The bytes and the output that a call names.
Result<DecodeChannel::Packet> packet_for(const DecodeCall& call) {
  ANYNPU_ASSIGN(auto input, resolve<PacketDesc>(call.packet));
  DecodeChannel::Packet packet;
  packet.handle = call.packet;
  packet.user_data = call.user_data;
  packet.end_of_stream = input->eos != 0;
  if (input->bytes > 0 || !packet.end_of_stream) {
    if (input->bytes == 0)
      return fail(Code::invalid_argument, "the input has no bytes: {}",
                  describe_vdec_code(0x1000d));
    ANYNPU_ASSIGN(const auto input_bytes, device::check_host_range(input->data, input->bytes,
                                                                   device::Access::read, "input"));
    packet.bytes.assign(input_bytes.address, input_bytes.address + input_bytes.bytes);
  }
  if (call.skipped || (call.picture == 0 && packet.end_of_stream)) return packet;
  ANYNPU_ASSIGN(auto picture, resolve<PictureDesc>(call.picture));
  packet.output_handle = call.picture;
  packet.output = picture.share();
  packet.spec = *picture;
  if (!packet.bytes.empty()) {
    ANYNPU_ASSIGN(packet.memory,
                  device::check_host_range(picture->data, std::max(picture->bytes, 1u),
                                           device::Access::write, "output"));
  }
  return packet;
}

}  // namespace

Result<std::shared_ptr<DecodeChannel>> DecodeChannel::open(const DecoderDesc& desc,
                                                           DecodeCallback callback) {
  if (open_decoders.fetch_add(1) >= kMostChannels) {
    open_decoders.fetch_sub(1);
    return fail(Code::limit_exceeded, "{} decoders are open already: {}", kMostChannels,
                describe_vdec_code(vdec::kInit));
  }
  auto made = std::make_shared<DecodeChannel>();  // counts down when it goes
  made->callback_ = std::move(callback);
  made->format_ = static_cast<int32_t>(desc.format);
  made->matrix_ = desc.matrix;
  ANYNPU_ASSIGN(made->session_, DecodeSession::open(decode_options(desc)));
  ANYNPU_ASSIGN(made->channel_, CallbackChannel::open(desc.thread));
  if (desc.bit_depth != 0) warn_without_effect("VDEC", "the bit depth (pictures have eight bits)");
  return made;
}

DecodeChannel::~DecodeChannel() { open_decoders.fetch_sub(1); }

uint32_t DecodeChannel::write(Packet& packet, const DecodedFrame& frame) const {
  if (packet.output == nullptr) return vdec::kOk;
  auto place = place_frame(frame, &packet.spec);
  if (!place.ok()) {
    ANYNPU_LOG(error, "video decoder: {}", place.status().message());
    return vdec::kOutputSize;
  }
  return write_frame(frame, place->view, pixel::color_matrix(matrix_)).ok() ? vdec::kOk
                                                                            : vdec::kDecodeFailed;
}

void DecodeChannel::deliver(const DecodeSession::Results& results) {
  for (const auto& result : results) {
    const auto at = packets_.find(result.id);
    if (at == packets_.end()) continue;
    const std::shared_ptr<Packet> packet = at->second;
    packets_.erase(at);
    if (packet->output != nullptr) {
      if (result.width != 0) static_cast<PictureSpec&>(*packet->output) = packet->spec;
      packet->output->ret_code = result.code == vdec::kOk ? 0 : 1;
    }
    channel_->call([packet, code = result.code, callback = callback_] {
      Status failure;
      if (code != vdec::kOk)
        failure =
            fail(Code::task_failed, "the frame was not decoded: {}", describe_vdec_code(code));
      callback(failure, packet->handle, packet->output_handle, packet->user_data);
    });
  }
}

void DecodeChannel::run(uint64_t id, const std::shared_ptr<Packet>& packet) {
  if (!packet->bytes.empty()) {
    packets_.emplace(id, packet);
    deliver(session_->decode(packet->bytes, id, [this, packet](const DecodedFrame& frame) {
      return write(*packet, frame);
    }));
  }
  if (packet->end_of_stream) deliver(session_->drain());
}

Status DecodeChannel::wait_for_end(bool has_bytes) {
  const Status waited = channel_->wait();
  if (waited.ok() || !has_bytes) return waited;
  ANYNPU_LOG(error, "video decoder: {}", waited.message());  // the packet itself was taken
  return {};
}

Status DecodeChannel::send(Packet packet) {
  auto shared = std::make_shared<Packet>(std::move(packet));
  shared->spec.format = format_;
  const bool has_bytes = !shared->bytes.empty(), end_of_stream = shared->end_of_stream;
  ANYNPU_TRY(channel_->submit(
      kDecodePacket, shared->bytes.size(),
      [self = shared_from_this(), shared, id = next_.fetch_add(1)] { self->run(id, shared); }));
  return end_of_stream ? wait_for_end(has_bytes) : Status();
}

Status DecodeChannel::close() {
  const Status drained = channel_->submit(
      kDecodePacket, 0, [self = shared_from_this()] { self->deliver(self->session_->drain()); });
  ANYNPU_TRY(channel_->close());
  return drained;
}

Status create_decoder(Handle desc, DecodeCallback (*callback_of)(void* function)) {
  ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(desc));
  ANYNPU_TRY(check_support(Unit::vdec, Version::v1));
  if (pin->channel)
    return fail(Code::already_exists, "the channel exists already; destroy it first");
  if (pin->callback == nullptr)
    return fail(Code::invalid_argument, "{}; set one with vdec_set_channel_desc_callback",
                describe_vdec_code(0x1000b));
  ANYNPU_TRY(check_format(static_cast<int32_t>(pin->format), kVdecRules, "output").status());
  ANYNPU_ASSIGN(pin->channel, DecodeChannel::open(*pin, callback_of(pin->callback)));
  return {};
}

Status destroy_decoder(Handle desc) {
  std::shared_ptr<DecodeChannel> channel;
  {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(desc));
    if (pin->channel) ANYNPU_TRY(pin->channel->may_close());
    channel = std::exchange(pin->channel, nullptr);
  }
  if (!channel)
    return fail(Code::bad_call_order, "the channel is not there: never created, or destroyed");
  return channel->close();
}

Status destroy_decoder_desc(Handle desc) {
  {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(desc));
    if (pin->channel)
      return fail(Code::bad_call_order,
                  "the channel is still there; call vdec_destroy_channel first");
  }
  return remove_handle<DecoderDesc>(desc);
}

Status send_packet(const DecodeCall& call) {
  std::shared_ptr<DecodeChannel> channel;
  {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(call.desc));
    channel = pin->channel;
  }
  if (!channel)
    return fail(Code::bad_call_order, "the channel is not there; call vdec_create_channel first");
  if (call.config != 0) ANYNPU_TRY(resolve<DecodeConfig>(call.config).status());
  ANYNPU_ASSIGN(auto packet, packet_for(call));
  return channel->send(std::move(packet));
}

}  // namespace anynpu::media
