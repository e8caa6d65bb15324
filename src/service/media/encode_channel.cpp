// SPDX-License-Identifier: Apache-2.0
#include "service/media/encode_channel.h"

#include "base/align.h"
#include "base/log.h"
#include "device/host_view.h"
#include "device/runtime.h"
#include "media/support.h"

namespace anynpu::media {
namespace {

constinit device::TaskKind kEncodePicture{"venc", device::Engine::venc};

VideoEncoderOptions options_of_desc(const EncoderDesc& desc) {
  VideoEncoderOptions options;
  options.type = desc.stream_format == 0 ? VideoType::h265 : VideoType::h264;
  constexpr const char* profiles[] = {"main", "baseline", "main", "high"};
  options.profile = profiles[desc.stream_format];
  options.width = desc.width;
  options.height = desc.height;
  options.frame_rate = desc.source_rate;
  options.gop = desc.key_interval;
  options.rate = desc.rate_mode == 1 ? RateControl::variable_bits : RateControl::constant_bits;
  options.kbps = desc.max_bit_rate;
  options.i_to_p = desc.i_to_p;
  return options;
}

Result<std::unique_ptr<VideoEncoder>> make_video_encoder(const VideoEncoderOptions& options) {
  ANYNPU_ASSIGN(VideoCodec * codec, video_codec());
  return codec->make_encoder(options);
}

}  // namespace

Result<std::shared_ptr<EncodeChannel>> EncodeChannel::open(const EncoderDesc& desc,
                                                           EncodeCallback callback) {
  auto made = std::make_shared<EncodeChannel>();
  made->callback_ = std::move(callback);
  made->shape_.format = static_cast<int32_t>(desc.format);
  made->shape_.width = desc.width;
  made->shape_.height = desc.height;
  made->buffer_ = desc.buffer;
  made->buffer_size_ = desc.buffer_size;
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  made->device_ = context->device();
  made->options_ = options_of_desc(desc);
  ANYNPU_ASSIGN(made->encoder_, make_video_encoder(made->options_));
  ANYNPU_ASSIGN(made->channel_, CallbackChannel::open(desc.thread));
  return made;
}

Result<CheckedPicture> EncodeChannel::check(PictureSpec spec) const {
  if ((spec.width != 0 && spec.width != shape_.width) ||
      (spec.height != 0 && spec.height != shape_.height))
    return fail(Code::invalid_argument, "the picture has {}x{} pixels, the channel {}x{}",
                spec.width, spec.height, shape_.width, shape_.height);
  spec.width = shape_.width;
  spec.height = shape_.height;
  spec.format = shape_.format;
  const uint32_t wide = round_up(spec.width, 16);
  const uint32_t high = round_up(spec.height, 2);
  if (spec.height_stride == 0) spec.height_stride = high;
  if (spec.width_stride == 0)
    spec.width_stride =
        uint64_t{wide} * spec.height_stride * 3 / 2 <= spec.bytes ? wide : round_up(spec.width, 2);
  return check_picture(spec, kVencRules, "input", device::Access::read);
}

Result<void*> EncodeChannel::memory_for(size_t bytes) {
  if (buffer_ != nullptr && buffer_size_ >= bytes) {
    ANYNPU_TRY(
        device::check_host_range(buffer_, bytes, device::Access::write, "the channel's buffer")
            .status());
    return buffer_;
  }
  return device::allocate_device(*device_, bytes, {});
}

Status EncodeChannel::store(const EncodedPacket& packet, PacketDesc& desc) {
  ANYNPU_ASSIGN(desc.data, memory_for(packet.bytes.size()));
  ANYNPU_TRY(device::copy_bytes(desc.data, packet.bytes.data(), packet.bytes.size()));
  desc.bytes = static_cast<uint32_t>(packet.bytes.size());
  return {};
}

void EncodeChannel::call(const Picture& picture, std::shared_ptr<PacketDesc> packet) {
  const bool own = packet->data != nullptr && packet->data != buffer_;
  channel_->call([picture, packet = std::move(packet), own, callback = callback_] {
    const Handle handle = HandleTable::instance().insert(packet);
    callback(picture.handle, handle, picture.user_data);
    HandleTable::instance().remove<PacketDesc>(handle);
    if (own) (void)device::free_device(packet->data);
  });
}

void EncodeChannel::deliver(const EncodedPacket& packet) {
  const auto at = pictures_.find(packet.id);
  if (at == pictures_.end()) return;
  const Picture picture = at->second;
  pictures_.erase(at);
  auto desc = std::make_shared<PacketDesc>();
  if (const Status status = store(packet, *desc); !status.ok()) {
    ANYNPU_LOG(error, "video encoder: {}", status.message());
    desc->ret_code = 1;
  }
  call(picture, std::move(desc));
}

Status EncodeChannel::encode_with_encoder(uint64_t id, const Picture& picture) {
  if (encoder_ == nullptr) {
    ANYNPU_ASSIGN(encoder_, make_video_encoder(options_));
  }
  return encoder_->encode(picture.view.view, id, picture.force_key,
                          [&](const EncodedPacket& packet) { deliver(packet); });
}

void EncodeChannel::encode(uint64_t id, const Picture& picture) {
  pictures_.emplace(id, picture);
  const Status status = encode_with_encoder(id, picture);
  if (status.ok()) return;
  ANYNPU_LOG(error, "video encoder: {}", status.message());
  if (pictures_.erase(id) == 0) return;
  auto failed = std::make_shared<PacketDesc>();
  failed->ret_code = 1;
  call(picture, std::move(failed));
}

Status EncodeChannel::send(Picture picture) {
  const uint64_t bytes = picture.view.memory.bytes;
  auto shared = std::make_shared<Picture>(std::move(picture));
  return channel_->submit(
      kEncodePicture, bytes,
      [self = shared_from_this(), shared, id = next_.fetch_add(1)] { self->encode(id, *shared); });
}

Status EncodeChannel::finish() {
  return channel_->submit(kEncodePicture, 0, [self = shared_from_this()] {
    if (self->encoder_ == nullptr) return;
    const Status status =
        self->encoder_->flush([&](const EncodedPacket& packet) { self->deliver(packet); });
    if (!status.ok()) ANYNPU_LOG(error, "video encoder: {}", status.message());
    self->encoder_.reset();
  });
}

Status EncodeChannel::end() {
  ANYNPU_TRY(finish());
  return channel_->wait();
}

Status EncodeChannel::close() {
  const Status finished = finish();
  ANYNPU_TRY(channel_->close());
  return finished;
}

Status create_encoder(Handle desc, EncodeCallback (*callback_of)(void* function)) {
  ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(desc));
  ANYNPU_TRY(check_support(Unit::venc, Version::v1));
  if (pin->channel)
    return fail(Code::already_exists, "the channel exists already; destroy it first");
  if (pin->callback == nullptr)
    return fail(Code::invalid_argument,
                "the channel has no callback; set one with venc_set_channel_desc_callback");
  if (pin->width == 0 || pin->height == 0 || pin->key_interval == 0)
    return fail(Code::invalid_argument,
                "picture width, height and key frame interval are {}, {} and {}; set all of them "
                "first",
                pin->width, pin->height, pin->key_interval);
  ANYNPU_ASSIGN(pin->channel, EncodeChannel::open(*pin, callback_of(pin->callback)));
  return {};
}

Status destroy_encoder(Handle desc) {
  std::shared_ptr<EncodeChannel> channel;
  {
    ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(desc));
    if (pin->channel) ANYNPU_TRY(pin->channel->may_close());
    channel = std::exchange(pin->channel, nullptr);
  }
  if (!channel)
    return fail(Code::bad_call_order, "the channel is not there: never created, or destroyed");
  return channel->close();
}

Status destroy_encoder_desc(Handle desc) {
  {
    ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(desc));
    if (pin->channel)
      return fail(Code::bad_call_order,
                  "the channel is still there; call venc_destroy_channel first");
  }
  return remove_handle<EncoderDesc>(desc);
}

Status send_picture(Handle desc, Handle input, Handle config, void* user_data) {
  std::shared_ptr<EncodeChannel> channel;
  {
    ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(desc));
    channel = pin->channel;
  }
  if (!channel)
    return fail(Code::bad_call_order, "the channel is not there; call venc_create_channel first");
  ANYNPU_ASSIGN(auto settings, resolve<EncodeConfig>(config));
  if (input == 0 && settings->eos) return channel->end();
  ANYNPU_ASSIGN(auto picture, resolve<PictureDesc>(input));
  EncodeChannel::Picture sent;
  sent.handle = input;
  sent.user_data = user_data;
  sent.force_key = settings->force_key != 0;
  ANYNPU_ASSIGN(sent.view, channel->check(*picture));
  ANYNPU_TRY(channel->send(std::move(sent)));
  if (!settings->eos) return {};
  const Status ended = channel->end();
  if (!ended.ok())
    ANYNPU_LOG(error, "video encoder: {}", ended.message());  // the picture was taken
  return {};
}

}  // namespace anynpu::media
