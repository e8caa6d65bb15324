// SPDX-License-Identifier: Apache-2.0
// Video encoding (acl.media.venc_*): pictures go in, packets come back through the callback. The
// memory of a packet belongs to the channel and is valid inside the callback.
#include <atomic>
#include <cstring>
#include <map>

#include "api/acl_dvpp/video.h"
#include "base/align.h"
#include "base/log.h"
#include "device/runtime.h"
#include "media/support.h"
#include "media/video_codec.h"
#include "service/media/callback_channel.h"

namespace anynpu::dvpp {

class Encoding : public std::enable_shared_from_this<Encoding> {
 public:
  static Result<std::shared_ptr<Encoding>> open(const EncoderDesc& desc);

  struct Picture {
    acldvppPicDesc* handle = nullptr;
    media::CheckedPicture view;
    void* user_data = nullptr;
    bool force_key = false;
  };
  Status send(Picture picture);
  Status finish();
  Status may_close() const { return channel_->may_close(); }
  Status close();
  // The channel's size and layout, for pictures that do not state their own.
  Result<media::CheckedPicture> check(media::PictureSpec spec) const;

 private:
  void encode(uint64_t id, const Picture& picture);
  void deliver(const media::EncodedPacket& packet);
  void call(const Picture& picture, std::shared_ptr<PacketDesc> packet);
  Result<void*> room_for(size_t bytes);

  aclvencCallback callback_ = nullptr;
  media::PictureSpec shape_;
  media::VideoEncoderOptions options_;
  void* buffer_ = nullptr;  // of the program
  uint32_t buffer_size_ = 0;
  std::shared_ptr<device::Device> device_;
  std::unique_ptr<media::VideoEncoder> encoder_;  // of the tasks; made anew after an end
  std::shared_ptr<media::CallbackChannel> channel_;
  std::map<uint64_t, Picture> pictures_;
  std::atomic<uint64_t> next_{0};
};

namespace {

constinit device::TaskKind kEncodeFrame{"venc", device::Engine::venc};

media::VideoEncoderOptions options_of(const EncoderDesc& desc) {
  media::VideoEncoderOptions options;
  options.type =
      desc.stream_format == H265_MAIN_LEVEL ? media::VideoType::h265 : media::VideoType::h264;
  constexpr const char* profiles[] = {"main", "baseline", "main", "high"};
  options.profile = profiles[desc.stream_format];
  options.width = desc.width;
  options.height = desc.height;
  options.frame_rate = desc.source_rate;
  options.gop = desc.key_interval;
  options.rate =
      desc.rate_mode == 1 ? media::RateControl::variable_bits : media::RateControl::constant_bits;
  options.kbps = desc.max_bit_rate;
  options.i_to_p = desc.i_to_p;
  return options;
}

Result<std::unique_ptr<media::VideoEncoder>> make_encoder(
    const media::VideoEncoderOptions& options) {
  ANYNPU_ASSIGN(media::VideoCodec * codec, media::video_codec());
  return codec->make_encoder(options);
}

}  // namespace

Result<std::shared_ptr<Encoding>> Encoding::open(const EncoderDesc& desc) {
  auto made = std::make_shared<Encoding>();
  made->callback_ = desc.callback;
  made->shape_.format = static_cast<int32_t>(desc.format);
  made->shape_.width = desc.width;
  made->shape_.height = desc.height;
  made->buffer_ = desc.buffer;
  made->buffer_size_ = desc.buffer_size;
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  made->device_ = context->device();
  made->options_ = options_of(desc);
  ANYNPU_ASSIGN(made->encoder_, make_encoder(made->options_));
  ANYNPU_ASSIGN(made->channel_, media::CallbackChannel::open(desc.thread));
  return made;
}

Result<media::CheckedPicture> Encoding::check(media::PictureSpec spec) const {
  if ((spec.width != 0 && spec.width != shape_.width) ||
      (spec.height != 0 && spec.height != shape_.height)) {
    return fail(Code::invalid_argument, "the picture has {}x{} pixels, the channel {}x{}",
                spec.width, spec.height, shape_.width, shape_.height);
  }
  spec.width = shape_.width;
  spec.height = shape_.height;
  spec.format = shape_.format;
  const uint32_t wide = round_up(spec.width, 16);
  const uint32_t high = round_up(spec.height, 2);
  if (spec.height_stride == 0) spec.height_stride = high;
  if (spec.width_stride == 0)
    spec.width_stride =
        uint64_t{wide} * spec.height_stride * 3 / 2 <= spec.bytes ? wide : round_up(spec.width, 2);
  return check_picture(spec, media::kVencRules, "input", device::Access::read);
}

Result<void*> Encoding::room_for(size_t bytes) {
  if (buffer_ != nullptr && buffer_size_ >= bytes) {
    ANYNPU_TRY(device::check_range(buffer_, bytes, device::Access::write, "the channel's buffer")
                   .status());
    return buffer_;
  }
  return device::allocate_device(*device_, bytes, {});
}

void Encoding::call(const Picture& picture, std::shared_ptr<PacketDesc> packet) {
  const bool own = packet->data != nullptr && packet->data != buffer_;
  channel_->call([picture, packet = std::move(packet), own, callback = callback_] {
    const Handle handle = HandleTable::instance().insert(packet);
    callback(picture.handle, acl::from_handle<acldvppStreamDesc*>(handle), picture.user_data);
    HandleTable::instance().remove<PacketDesc>(handle);
    if (own) (void)device::free_device(packet->data);
  });
}

void Encoding::deliver(const media::EncodedPacket& packet) {
  const auto at = pictures_.find(packet.id);
  if (at == pictures_.end()) return;
  const Picture picture = at->second;
  pictures_.erase(at);
  auto desc = std::make_shared<PacketDesc>();
  auto room = room_for(packet.bytes.size());
  if (room.ok()) {
    std::memcpy(*room, packet.bytes.data(), packet.bytes.size());
    desc->data = *room;
    desc->bytes = static_cast<uint32_t>(packet.bytes.size());
  } else {
    ANYNPU_LOG(error, "video encoder: {}", room.status().message());
    desc->ret_code = 1;
  }
  call(picture, std::move(desc));
}

void Encoding::encode(uint64_t id, const Picture& picture) {
  pictures_.emplace(id, picture);
  const auto encode = [&]() -> Status {
    if (encoder_ == nullptr) {
      ANYNPU_ASSIGN(encoder_, make_encoder(options_));
    }
    return encoder_->encode(picture.view.view, id, picture.force_key,
                            [&](const media::EncodedPacket& p) { deliver(p); });
  };
  const Status status = encode();
  if (status.ok()) return;
  ANYNPU_LOG(error, "video encoder: {}", status.message());
  if (pictures_.erase(id) == 0) return;
  auto failed = std::make_shared<PacketDesc>();
  failed->ret_code = 1;
  call(picture, std::move(failed));
}

Status Encoding::send(Picture picture) {
  const uint64_t bytes = picture.view.memory.bytes;
  auto shared = std::make_shared<Picture>(std::move(picture));
  return channel_->submit(
      kEncodeFrame, bytes,
      [self = shared_from_this(), shared, id = next_.fetch_add(1)] { self->encode(id, *shared); });
}

Status Encoding::finish() {
  return channel_->submit(kEncodeFrame, 0, [self = shared_from_this()] {
    if (self->encoder_ == nullptr) return;
    const Status status =
        self->encoder_->flush([&](const media::EncodedPacket& p) { self->deliver(p); });
    if (!status.ok()) ANYNPU_LOG(error, "video encoder: {}", status.message());
    self->encoder_.reset();
  });
}

Status Encoding::close() {
  const Status finished = finish();
  ANYNPU_TRY(channel_->close());
  return finished;
}

}  // namespace anynpu::dvpp

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

aclError aclvencDestroyChannelDesc(const aclvencChannelDesc* channelDesc) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    {
      ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(to_handle(channelDesc)));
      if (pin->channel)
        return fail(Code::bad_call_order,
                    "the channel is still there; call venc_destroy_channel first");
    }
    return remove_object<EncoderDesc>(channelDesc);
  });
}

aclError aclvencCreateChannel(aclvencChannelDesc* channelDesc) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(to_handle(channelDesc)));
    ANYNPU_TRY(media::check_support(media::Unit::venc, media::Version::v1));
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
    ANYNPU_ASSIGN(pin->channel, Encoding::open(*pin));
    return {};
  });
}

aclError aclvencDestroyChannel(aclvencChannelDesc* channelDesc) {
  return enter(__func__, [&]() -> Status {
    std::shared_ptr<Encoding> channel;
    {
      ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(to_handle(channelDesc)));
      if (pin->channel) ANYNPU_TRY(pin->channel->may_close());
      channel = std::exchange(pin->channel, nullptr);
    }
    if (!channel)
      return fail(Code::bad_call_order, "the channel is not there: never created, or destroyed");
    return channel->close();
  });
}

aclError aclvencSendFrame(aclvencChannelDesc* channelDesc, acldvppPicDesc* input, void* reserve,
                          aclvencFrameConfig* config, void* userData) {
  return enter(__func__, [&]() -> Status {
    std::shared_ptr<Encoding> channel;
    {
      ANYNPU_ASSIGN(auto pin, resolve<EncoderDesc>(to_handle(channelDesc)));
      channel = pin->channel;
    }
    if (!channel)
      return fail(Code::bad_call_order, "the channel is not there; call venc_create_channel first");
    ANYNPU_ASSIGN(auto settings, resolve<EncodeConfig>(to_handle(config)));
    if (input == nullptr && settings->eos) return channel->finish();
    ANYNPU_ASSIGN(auto desc, resolve<PictureDesc>(to_handle(input)));
    Encoding::Picture picture;
    picture.handle = input;
    picture.user_data = userData;
    picture.force_key = settings->force_key != 0;
    ANYNPU_ASSIGN(picture.view, channel->check(*desc));
    ANYNPU_TRY(channel->send(std::move(picture)));
    return settings->eos ? channel->finish() : Status();
  });
}
