// SPDX-License-Identifier: Apache-2.0
// Video decoding (acl.media.vdec_*): frames go in, each comes back through the channel's callback.
#include <atomic>
#include <map>

#include "api/acl_dvpp/video.h"
#include "base/log.h"
#include "device/runtime.h"
#include "media/decode_session.h"
#include "media/support.h"
#include "media/vdec_codes.h"
#include "service/media/callback_channel.h"

namespace anynpu::dvpp {

// One open channel. Everything but the counters is touched by tasks of its stream alone.
class Decoding : public std::enable_shared_from_this<Decoding> {
 public:
  static constexpr int kMostChannels = 16;

  static Result<std::shared_ptr<Decoding>> open(const DecoderDesc& desc) {
    if (channels_.fetch_add(1) >= kMostChannels) {
      channels_.fetch_sub(1);
      return fail(Code::limit_exceeded, "{} decoders are open already: {}", kMostChannels,
                  media::describe_vdec_code(media::vdec::kInit));
    }
    auto made = std::make_shared<Decoding>();  // counts down when it goes
    made->callback_ = desc.callback;
    made->format_ = static_cast<int32_t>(desc.format);
    media::DecodeOptions options;
    options.type =
        desc.stream_format == H265_MAIN_LEVEL ? media::VideoType::h265 : media::VideoType::h264;
    options.width = desc.width;
    options.height = desc.height;
    options.reference_frames = desc.reference_frames;
    made->matrix_ = desc.matrix;
    ANYNPU_ASSIGN(made->session_, media::DecodeSession::open(options));
    ANYNPU_ASSIGN(made->channel_, media::CallbackChannel::open(desc.thread));
    if (desc.bit_depth != 0)
      media::warn_without_effect("VDEC", "the bit depth (pictures have eight bits)");
    return made;
  }
  ~Decoding() { channels_.fetch_sub(1); }

  struct Frame {
    acldvppStreamDesc* input_handle = nullptr;
    acldvppPicDesc* output_handle = nullptr;
    std::shared_ptr<PictureDesc> output;  // null for skipped frames
    media::PictureSpec spec;
    device::Range bytes;
    device::Range memory;  // of the output
    void* user_data = nullptr;
    bool eos = false;
  };
  Status send(Frame frame);
  Status may_close() const { return channel_->may_close(); }
  Status close();

 private:
  void run(uint64_t id, const std::shared_ptr<Frame>& frame);
  uint32_t write(Frame& frame, const media::DecodedFrame& picture) const;
  void deliver(const media::DecodeSession::Results& results);

  static std::atomic<int> channels_;
  aclvdecCallback callback_ = nullptr;
  int32_t format_ = 0;
  uint32_t matrix_ = 0;
  std::unique_ptr<media::DecodeSession> session_;
  std::shared_ptr<media::CallbackChannel> channel_;
  std::map<uint64_t, std::shared_ptr<Frame>> frames_;
  std::atomic<uint64_t> next_{0};
};

std::atomic<int> Decoding::channels_{0};

namespace {

constinit device::TaskKind kDecodeFrame{"vdec", device::Engine::vdec};

}  // namespace

uint32_t Decoding::write(Frame& frame, const media::DecodedFrame& picture) const {
  if (frame.output == nullptr) return media::vdec::kOk;
  auto place = media::place_frame(picture, &frame.spec);
  if (!place.ok()) {
    ANYNPU_LOG(error, "video decoder: {}", place.status().message());
    return media::vdec::kOutputSize;
  }
  return media::write_frame(picture, place->view, pixel::color_matrix(matrix_)).ok()
             ? media::vdec::kOk
             : media::vdec::kDecodeFailed;
}

void Decoding::deliver(const media::DecodeSession::Results& results) {
  for (const auto& result : results) {
    const auto at = frames_.find(result.id);
    if (at == frames_.end()) continue;
    const std::shared_ptr<Frame> frame = at->second;
    frames_.erase(at);
    if (frame->output != nullptr) {
      if (result.width != 0) static_cast<media::PictureSpec&>(*frame->output) = frame->spec;
      frame->output->ret_code = result.code == media::vdec::kOk ? 0 : 1;
    }
    channel_->call([frame, code = result.code, callback = callback_] {
      // A message of the callback's own thread: what it asks for when ret_code is 1.
      if (code != media::vdec::kOk)
        acl::report("aclvdecSendFrame", fail(Code::task_failed, "the frame was not decoded: {}",
                                             media::describe_vdec_code(code)));
      callback(frame->input_handle, frame->output_handle, frame->user_data);
    });
  }
}

void Decoding::run(uint64_t id, const std::shared_ptr<Frame>& frame) {
  frames_.emplace(id, frame);
  if (frame->bytes.bytes > 0) {
    deliver(session_->decode(
        {frame->bytes.address, frame->bytes.bytes}, id,
        [this, frame](const media::DecodedFrame& picture) { return write(*frame, picture); }));
    if (frame->eos) deliver(session_->drain());
  } else {
    deliver(session_->finish(id));
  }
}

Status Decoding::send(Frame frame) {
  const uint64_t bytes = frame.bytes.bytes;
  auto shared = std::make_shared<Frame>(std::move(frame));
  shared->spec.format = format_;
  return channel_->submit(
      kDecodeFrame, bytes,
      [self = shared_from_this(), shared, id = next_.fetch_add(1)] { self->run(id, shared); });
}

Status Decoding::close() {
  const Status drained = channel_->submit(
      kDecodeFrame, 0, [self = shared_from_this()] { self->deliver(self->session_->drain()); });
  ANYNPU_TRY(channel_->close());
  return drained;
}

}  // namespace anynpu::dvpp

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

Status send(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input, acldvppPicDesc* output,
            bool skipped, aclvdecFrameConfig* config, void* userData) {
  std::shared_ptr<Decoding> channel;
  {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(to_handle(channelDesc)));
    channel = pin->channel;
  }
  if (!channel)
    return fail(Code::bad_call_order, "the channel is not there; call vdec_create_channel first");
  if (config != nullptr) ANYNPU_TRY(resolve<DecodeConfig>(to_handle(config)).status());
  ANYNPU_ASSIGN(auto packet, resolve<PacketDesc>(to_handle(input)));
  Decoding::Frame frame;
  frame.input_handle = input;
  frame.user_data = userData;
  frame.eos = packet->eos != 0;
  if (packet->bytes > 0 || !frame.eos) {
    if (packet->bytes == 0)
      return fail(Code::invalid_argument, "the input has no bytes: {}",
                  media::describe_vdec_code(0x1000d));
    ANYNPU_ASSIGN(frame.bytes,
                  device::check_range(packet->data, packet->bytes, device::Access::read, "input"));
  }
  if (!skipped && (output != nullptr || !frame.eos)) {
    ANYNPU_ASSIGN(auto picture, resolve<PictureDesc>(to_handle(output)));
    frame.output_handle = output;
    frame.output = picture.share();
    frame.spec = *picture;
    if (frame.bytes.bytes > 0) {
      ANYNPU_ASSIGN(frame.memory, device::check_range(picture->data, std::max(picture->bytes, 1u),
                                                      device::Access::write, "output"));
    }
  }
  return channel->send(std::move(frame));
}

}  // namespace

aclError aclvdecDestroyChannelDesc(const aclvdecChannelDesc* channelDesc) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    {
      ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(to_handle(channelDesc)));
      if (pin->channel)
        return fail(Code::bad_call_order,
                    "the channel is still there; call vdec_destroy_channel first");
    }
    return remove_object<DecoderDesc>(channelDesc);
  });
}

aclError aclvdecCreateChannel(aclvdecChannelDesc* channelDesc) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(to_handle(channelDesc)));
    ANYNPU_TRY(media::check_support(media::Unit::vdec, media::Version::v1));
    if (pin->channel)
      return fail(Code::already_exists, "the channel exists already; destroy it first");
    if (pin->callback == nullptr)
      return fail(Code::invalid_argument, "{}; set one with vdec_set_channel_desc_callback",
                  media::describe_vdec_code(0x1000b));
    ANYNPU_TRY(
        check_format(static_cast<int32_t>(pin->format), media::kVdecRules, "output").status());
    ANYNPU_ASSIGN(pin->channel, Decoding::open(*pin));
    return {};
  });
}

aclError aclvdecDestroyChannel(aclvdecChannelDesc* channelDesc) {
  return enter(__func__, [&]() -> Status {
    std::shared_ptr<Decoding> channel;
    {
      ANYNPU_ASSIGN(auto pin, resolve<DecoderDesc>(to_handle(channelDesc)));
      if (pin->channel) ANYNPU_TRY(pin->channel->may_close());
      channel = std::exchange(pin->channel, nullptr);
    }
    if (!channel)
      return fail(Code::bad_call_order, "the channel is not there: never created, or destroyed");
    return channel->close();
  });
}

aclError aclvdecSendFrame(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input,
                          acldvppPicDesc* output, aclvdecFrameConfig* config, void* userData) {
  return enter(__func__, [&] { return send(channelDesc, input, output, false, config, userData); });
}

aclError aclvdecSendSkippedFrame(aclvdecChannelDesc* channelDesc, acldvppStreamDesc* input,
                                 aclvdecFrameConfig* config, void* userData) {
  return enter(__func__, [&] { return send(channelDesc, input, nullptr, true, config, userData); });
}
