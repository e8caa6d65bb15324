// SPDX-License-Identifier: Apache-2.0
// Decoding (acl.himpi.vdec_*): pieces of a stream are queued, pictures are fetched in order.
#include <deque>

#include "api/acl_dvpp_mpi/mpi.h"
#include "base/log.h"
#include "media/decode_session.h"
#include "media/image.h"
#include "media/vdec_codes.h"

namespace anynpu::mpi {
namespace {

constinit device::TaskKind kVdecTask{"vdec", device::Engine::vdec};

// What a program sees in frame_flag.
hi_u32 flag_of(uint32_t code) {
  switch (code) {
    case media::vdec::kOk:
      return 0;
    case media::vdec::kNoPicture:
      return 2;
    case media::vdec::kReferenceFrames:
      return 3;
    case media::vdec::kFrameSize:
      return 4;
    default:
      return 1;
  }
}

struct Sent {
  hi_vdec_stream stream{};
  hi_vdec_pic_info picture{};
  device::Range bytes, memory;
};

struct Picture {
  hi_video_frame_info frame{};
  hi_vdec_supplement_info supplement{};
  hi_vdec_stream stream{};
  bool display = true;
};

class VdecChannel : public std::enable_shared_from_this<VdecChannel> {
 public:
  static Result<std::shared_ptr<VdecChannel>> make(const hi_vdec_chn_attr& attr);

  bool is_jpeg() const { return attr.type == HI_PT_JPEG; }
  Status send(Sent sent, hi_s32 milli_sec);
  Status get(Picture* picture, hi_s32 milli_sec);
  Status release(const hi_video_frame_info& frame);
  Status reset();
  void drain() { (void)stream_->synchronize(); }
  hi_vdec_chn_status status();

  hi_vdec_chn_attr attr{};
  hi_vdec_chn_param param{};
  hi_vdec_protocol_param protocol{};
  hi_video_display_mode display_mode = HI_VIDEO_DISPLAY_MODE_PREVIEW;
  std::atomic<bool> started{false};
  Signal signal;

 private:
  static constexpr size_t kMostWaiting = 512;

  void run(const std::shared_ptr<Sent>& sent);
  void run_video(const std::shared_ptr<Sent>& sent);
  void decode_unit(media::Bytes unit, const std::shared_ptr<Sent>& sent);
  void run_jpeg(Sent& sent);
  uint32_t write(Sent& sent, const media::DecodedFrame& frame) const;
  void deliver(const media::DecodeSession::Results& results);
  void push(const Sent& sent, uint32_t code, media::FrameType type);

  OwnStream stream_;
  std::unique_ptr<media::DecodeSession> session_;
  std::unique_ptr<media::PacketCutter> cutter_;
  std::map<uint64_t, std::shared_ptr<Sent>> sent_;  // by packet; the tasks' own
  std::deque<std::shared_ptr<Sent>> outputs_;       // of stream mode, not yet used; the tasks' own
  std::map<uint64_t, std::pair<std::shared_ptr<Sent>, media::DecodeResult>> ordered_;
  uint64_t next_ = 0;
  uint64_t next_out_ = 0;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Picture> ready_;
  hi_vdec_chn_status status_{};
  uint32_t fetched_ = 0;  // and not released
};

Channels<VdecChannel>& vdec_channels() {
  static auto& all = *new Channels<VdecChannel>("VDEC", VDEC_MAX_CHN_NUM);
  return all;
}

Result<std::shared_ptr<VdecChannel>> VdecChannel::make(const hi_vdec_chn_attr& attr) {
  ANYNPU_TRY(media::check_support(attr.type == HI_PT_JPEG ? media::Unit::jpegd : media::Unit::vdec,
                                  media::Version::v2));
  if (attr.type != HI_PT_H264 && attr.type != HI_PT_H265 && attr.type != HI_PT_JPEG)
    return fail(Code::invalid_argument,
                "the type is {}; expected {} (H.264), {} (H.265) or {} (JPEG)", attr.type,
                HI_PT_H264, HI_PT_H265, HI_PT_JPEG);
  if (attr.mode < HI_VDEC_SEND_MODE_STREAM || attr.mode > HI_VDEC_SEND_MODE_COMPAT)
    return fail(Code::invalid_argument, "the mode is {}; expected 0 (stream) or 1 (frame)",
                attr.mode);
  auto made = std::make_shared<VdecChannel>();
  made->attr = attr;
  made->param.type = attr.type;
  made->param.pic_param.pixel_format = HI_PIXEL_FORMAT_UNKNOWN;
  made->param.pic_param.alpha = 255;
  made->protocol.type = attr.type;
  made->status_.type = attr.type;
  ANYNPU_ASSIGN(made->stream_, OwnStream::make());
  if (made->is_jpeg()) return made;
  media::DecodeOptions options;
  options.type = attr.type == HI_PT_H265 ? media::VideoType::h265 : media::VideoType::h264;
  options.width = attr.pic_width;
  options.height = attr.pic_height;
  options.reference_frames = attr.video_attr.ref_frame_num;
  ANYNPU_ASSIGN(made->session_, media::DecodeSession::open(options));
  ANYNPU_ASSIGN(media::VideoCodec * codec, media::video_codec());
  ANYNPU_ASSIGN(made->cutter_, codec->make_cutter(options.type));
  return made;
}

uint32_t VdecChannel::write(Sent& sent, const media::DecodedFrame& frame) const {
  const bool wanted =
      param.video_param.dec_mode == HI_VIDEO_DEC_MODE_IPB || frame.type == media::FrameType::i ||
      (param.video_param.dec_mode == HI_VIDEO_DEC_MODE_IP && frame.type == media::FrameType::p);
  if (!wanted) return media::vdec::kNoPicture;
  hi_vdec_pic_info& p = sent.picture;
  media::PictureSpec spec;
  spec.data = reinterpret_cast<void*>(p.vir_addr);
  spec.bytes = p.buffer_size;
  spec.format = p.pixel_format == HI_PIXEL_FORMAT_UNKNOWN ? pixel::kNv12 : p.pixel_format;
  spec.width_stride = p.width_stride;
  spec.height_stride = p.height_stride;
  auto place = media::place_frame(frame, &spec);
  if (!place.ok()) {
    ANYNPU_LOG(error, "video decoder: {}", place.status().message());
    return media::vdec::kOutputSize;
  }
  p.width = frame.width;
  p.height = frame.height;
  p.width_stride = spec.width_stride;
  p.height_stride = spec.height_stride;
  p.pixel_format = static_cast<hi_pixel_format>(spec.format);
  return media::write_frame(frame, place->view).ok() ? media::vdec::kOk
                                                     : media::vdec::kDecodeFailed;
}

void VdecChannel::push(const Sent& sent, uint32_t code, media::FrameType type) {
  Picture picture;
  picture.stream = sent.stream;
  picture.display = sent.stream.need_display != HI_FALSE;
  hi_video_frame& v = picture.frame.v_frame;
  const hi_vdec_pic_info& p = sent.picture;
  v.width = p.width;
  v.height = p.height;
  v.field = HI_VIDEO_FIELD_FRAME;
  v.pixel_format = p.pixel_format;
  v.video_format = HI_VIDEO_FORMAT_LINEAR;
  v.compress_mode = HI_COMPRESS_MODE_NONE;
  v.width_stride[0] = v.width_stride[1] = p.width_stride;
  v.height_stride[0] = v.height_stride[1] = p.height_stride;
  auto* base = reinterpret_cast<uint8_t*>(p.vir_addr);
  v.virt_addr[0] = base;
  v.phys_addr[0] = p.vir_addr;
  if (base != nullptr) {
    v.virt_addr[1] = base + size_t{p.width_stride} * p.height_stride;
    v.phys_addr[1] = p.vir_addr + uint64_t{p.width_stride} * p.height_stride;
  }
  v.pts = sent.stream.pts;
  v.user_data[0] = sent.stream.private_data;
  v.frame_flag = flag_of(code);
  picture.frame.mod_id = HI_ID_VDEC;
  picture.supplement.type = attr.type;
  picture.supplement.video_supplement_info.frame_type = static_cast<hi_vdec_frame_type>(type);
  const std::lock_guard lock(mutex_);
  v.time_ref = 2 * status_.dec_stream_frames++;
  status_.width = p.width;
  status_.height = p.height;
  status_.latest_frame_pts = sent.stream.pts;
  if (code == media::vdec::kReferenceFrames) ++status_.dec_err.set_ref_num_err;
  if (code == media::vdec::kFrameSize) ++status_.dec_err.set_pic_size_err;
  if (code == media::vdec::kOutputSize) ++status_.dec_err.set_pic_buf_size_err;
  if (code == media::vdec::kDecodeFailed || code == media::vdec::kBitstream)
    ++status_.dec_err.format_err;
  if (!picture.display && code == media::vdec::kOk) return;  // decoded, not shown
  ready_.push_back(picture);
  signal.set(true);
  changed_.notify_all();
}

void VdecChannel::deliver(const media::DecodeSession::Results& results) {
  for (const auto& result : results) {
    const auto at = sent_.find(result.id);
    if (at == sent_.end()) continue;
    const auto sent = at->second;
    sent_.erase(at);
    if (param.video_param.out_order != HI_VIDEO_OUT_ORDER_DEC) {
      push(*sent, result.code, result.type);
      continue;
    }
    ordered_.emplace(result.id, std::pair(sent, result));
    while (!ordered_.empty() && ordered_.begin()->first == next_out_) {
      const auto& [first, found] = ordered_.begin()->second;
      push(*first, found.code, found.type);
      ordered_.erase(ordered_.begin());
      ++next_out_;
    }
  }
}

void VdecChannel::decode_unit(media::Bytes unit, const std::shared_ptr<Sent>& sent) {
  const uint64_t id = next_++;
  sent_.emplace(id, sent);
  deliver(session_->decode(
      unit, id, [this, sent](const media::DecodedFrame& frame) { return write(*sent, frame); }));
}

void VdecChannel::run_video(const std::shared_ptr<Sent>& sent) {
  const media::Bytes bytes{sent->bytes.address, sent->bytes.bytes};
  const auto by_turn = [&](media::Bytes unit) {
    if (outputs_.empty()) {
      ANYNPU_LOG(error, "video decoder: a picture came for which no output memory was sent");
      return;
    }
    const auto next = outputs_.front();
    outputs_.pop_front();
    decode_unit(unit, next);
  };
  if (attr.mode == HI_VDEC_SEND_MODE_STREAM) {
    if (sent->picture.vir_addr != 0) outputs_.push_back(sent);
    Status status;
    if (!bytes.empty()) status = cutter_->cut(bytes, by_turn);
    if (sent->stream.end_of_stream) status = cutter_->finish(by_turn);
    if (!status.ok()) ANYNPU_LOG(error, "video decoder: {}", status.message());
  } else if (!bytes.empty()) {
    decode_unit(bytes, sent);
  }
  if (sent->stream.end_of_stream) {
    deliver(session_->drain());
    next_out_ = next_;
  }
}

void VdecChannel::run_jpeg(Sent& sent) {
  const media::Bytes file{sent.bytes.address, sent.bytes.bytes};
  hi_vdec_pic_info& p = sent.picture;
  const auto decode = [&]() -> Status {
    ANYNPU_ASSIGN(const auto info, media::jpeg_info(file));
    media::PictureSpec spec;
    spec.data = reinterpret_cast<void*>(p.vir_addr);
    spec.bytes = p.buffer_size;
    spec.format = p.pixel_format;
    if (spec.format == pixel::kUnknown) spec.format = param.pic_param.pixel_format;
    spec.width_stride = p.width_stride;
    spec.height_stride = p.height_stride;
    ANYNPU_TRY(complete_jpeg_output(info, &spec));
    p.width = spec.width;
    p.height = spec.height;
    p.width_stride = spec.width_stride;
    p.height_stride = spec.height_stride;
    p.pixel_format = static_cast<hi_pixel_format>(spec.format);
    ANYNPU_ASSIGN(auto to,
                  check_picture(spec, media::kJpegdRules, "output", device::Access::write));
    return media::decode_jpeg(file, info, to.view, pixel::color_matrix(0));
  };
  const Status status = decode();
  if (!status.ok()) ANYNPU_LOG(error, "JPEG decoder: {}", status.message());
  push(sent, status.ok() ? media::vdec::kOk : media::vdec::kDecodeFailed, media::FrameType::i);
}

void VdecChannel::run(const std::shared_ptr<Sent>& sent) {
  if (!is_jpeg())
    run_video(sent);
  else if (sent->bytes.bytes > 0)
    run_jpeg(*sent);
  // Only now: a program that sees none left and nothing decoded may take it that all is there.
  const std::lock_guard lock(mutex_);
  --status_.left_stream_frames;
  status_.left_stream_bytes -= static_cast<hi_u32>(sent->bytes.bytes);
  changed_.notify_all();
}

Status VdecChannel::send(Sent sent, hi_s32 milli_sec) {
  auto shared = std::make_shared<Sent>(std::move(sent));
  {
    std::unique_lock lock(mutex_);
    const Status room = wait_until(
        changed_, lock, milli_sec, [&] { return status_.left_stream_frames < kMostWaiting; },
        "the input buffer did not empty");
    if (room.code() == Code::not_complete) return fail(Code::limit_exceeded, "{}", room.message());
    ANYNPU_TRY(room);
    ++status_.left_stream_frames;
    ++status_.recv_stream_frames;
    status_.left_stream_bytes += static_cast<hi_u32>(shared->bytes.bytes);
  }
  return stream_->submit({kVdecTask, shared->bytes.bytes},
                         [self = shared_from_this(), shared]() -> Status {
                           self->run(shared);
                           return {};
                         });
}

Status VdecChannel::get(Picture* picture, hi_s32 milli_sec) {
  std::unique_lock lock(mutex_);
  ANYNPU_TRY(wait_until(
      changed_, lock, milli_sec, [&] { return !ready_.empty(); }, "no picture was decoded"));
  *picture = ready_.front();
  ready_.pop_front();
  ++fetched_;
  if (ready_.empty()) signal.set(false);
  return {};
}

Status VdecChannel::release(const hi_video_frame_info& frame) {
  const std::lock_guard lock(mutex_);
  if (fetched_ == 0)
    return fail(Code::invalid_argument, "no frame of this channel is to be released");
  --fetched_;
  return {};
}

Status VdecChannel::reset() {
  ANYNPU_TRY(stream_->synchronize());
  const std::lock_guard lock(mutex_);
  ready_.clear();
  signal.set(false);
  status_ = {};
  status_.type = attr.type;
  return {};
}

hi_vdec_chn_status VdecChannel::status() {
  const std::lock_guard lock(mutex_);
  hi_vdec_chn_status now = status_;
  now.left_decoded_frames = static_cast<hi_u32>(ready_.size());
  now.is_started = started ? HI_TRUE : HI_FALSE;
  return now;
}

}  // namespace

void close_vdec() { vdec_channels().remove_all(); }

// The shape of most calls: find the channel, do one thing.
template <typename Do>
hi_s32 on_vdec(const char* function, hi_vdec_chn chn, Do&& act) {
  return mpi::enter(function, Module::vdec, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, vdec_channels().find(chn));
    return act(*channel);
  });
}

template <typename T>
hi_s32 get_vdec(const char* function, hi_vdec_chn chn, T VdecChannel::*field, T* to) {
  return on_vdec(function, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(to, "the output"));
    *to = channel.*field;
    return {};
  });
}

}  // namespace anynpu::mpi

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vdec_create_chn(hi_vdec_chn chn, const hi_vdec_chn_attr* attr) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_TRY(check_pointer(attr, "attr"));
    return vdec_channels().create(chn, [&] { return VdecChannel::make(*attr); });
  });
}

hi_s32 hi_mpi_vdec_destroy_chn(hi_vdec_chn chn) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, vdec_channels().remove(chn));
    return channel->reset();
  });
}

hi_s32 hi_mpi_vdec_get_chn_attr(hi_vdec_chn chn, hi_vdec_chn_attr* attr) {
  return get_vdec(__func__, chn, &VdecChannel::attr, attr);
}

hi_s32 hi_mpi_vdec_set_chn_attr(hi_vdec_chn chn, const hi_vdec_chn_attr* attr) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(attr, "attr"));
    if (attr->type != channel.attr.type || attr->mode != channel.attr.mode)
      return fail(Code::bad_call_order, "type and mode of a channel cannot be changed");
    channel.attr = *attr;
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_chn_param(hi_vdec_chn chn, hi_vdec_chn_param* chn_param) {
  return get_vdec(__func__, chn, &VdecChannel::param, chn_param);
}

hi_s32 hi_mpi_vdec_set_chn_param(hi_vdec_chn chn, const hi_vdec_chn_param* chn_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(chn_param, "chn_param"));
    if (chn_param->display_frame_num > 16)
      return fail(Code::invalid_argument, "display_frame_num is {}; expected 0 to 16",
                  chn_param->display_frame_num);
    const auto& v = chn_param->video_param;
    if (v.dec_mode < HI_VIDEO_DEC_MODE_IPB || v.dec_mode >= HI_VIDEO_DEC_MODE_BUTT ||
        v.out_order < HI_VIDEO_OUT_ORDER_DISPLAY || v.out_order >= HI_VIDEO_OUT_ORDER_BUTT)
      return fail(Code::invalid_argument,
                  "dec_mode is {} and out_order {}; expected 0 to 2, and 0 "
                  "or 1",
                  v.dec_mode, v.out_order);
    channel.param = *chn_param;
    channel.param.type = channel.attr.type;
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_protocol_param(hi_vdec_chn chn, hi_vdec_protocol_param* protocol_param) {
  return get_vdec(__func__, chn, &VdecChannel::protocol, protocol_param);
}

hi_s32 hi_mpi_vdec_set_protocol_param(hi_vdec_chn chn,
                                      const hi_vdec_protocol_param* protocol_param) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(protocol_param, "protocol_param"));
    channel.protocol = *protocol_param;
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_display_mode(hi_vdec_chn chn, hi_video_display_mode* display_mode) {
  return get_vdec(__func__, chn, &VdecChannel::display_mode, display_mode);
}

hi_s32 hi_mpi_vdec_set_display_mode(hi_vdec_chn chn, hi_video_display_mode display_mode) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    if (display_mode != HI_VIDEO_DISPLAY_MODE_PREVIEW &&
        display_mode != HI_VIDEO_DISPLAY_MODE_PLAYBACK)
      return fail(Code::invalid_argument, "the mode is {}; expected 0 or 1", display_mode);
    channel.display_mode = display_mode;
    return {};
  });
}

hi_s32 hi_mpi_vdec_set_jpegd_precision_mode(hi_vdec_chn chn, hi_jpegd_precision_mode mode) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    if (!channel.is_jpeg())
      return fail(Code::bad_call_order, "the channel decodes video, not JPEG pictures");
    if (mode < YUVOUT_ALIGN_DOWN || mode > YUVOUT_ALIGN_DOWN_COMPAT)
      return fail(Code::invalid_argument, "the mode is {}; expected 0 to 2", mode);
    return {};
  });
}

hi_s32 hi_mpi_vdec_start_recv_stream(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    channel.started = true;
    return {};
  });
}

hi_s32 hi_mpi_vdec_stop_recv_stream(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    channel.started = false;
    return {};
  });
}

hi_s32 hi_mpi_vdec_reset_chn(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    if (channel.started)
      return fail(Code::bad_call_order, "the channel receives; call vdec_stop_recv_stream first");
    return channel.reset();
  });
}

hi_s32 hi_mpi_vdec_send_stream(hi_vdec_chn chn, const hi_vdec_stream* stream,
                               hi_vdec_pic_info* vdec_pic_info, hi_s32 milli_sec) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_TRY(check_pointer(vdec_pic_info, "vdec_pic_info"));
    if (!channel.started)
      return fail(Code::bad_call_order,
                  "the channel does not receive; call vdec_start_recv_stream first");
    Sent sent;
    sent.stream = *stream;
    sent.picture = *vdec_pic_info;
    if (stream->len > 0) {
      ANYNPU_ASSIGN(sent.bytes,
                    device::check_range(stream->addr, stream->len, device::Access::read, "stream"));
      ANYNPU_ASSIGN(sent.memory,
                    device::check_range(reinterpret_cast<void*>(vdec_pic_info->vir_addr),
                                        std::max(vdec_pic_info->buffer_size, 1u),
                                        device::Access::write, "vir_addr"));
    } else if (!stream->end_of_stream) {
      return fail(Code::invalid_argument, "the stream has no bytes and does not end here");
    }
    return channel.send(std::move(sent), milli_sec);
  });
}

hi_s32 hi_mpi_vdec_get_frame(hi_vdec_chn chn, hi_video_frame_info* frame_info,
                             hi_vdec_supplement_info* supplement, hi_vdec_stream* stream,
                             hi_s32 milli_sec) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(frame_info, "frame_info"));
    Picture picture;
    ANYNPU_TRY(channel.get(&picture, milli_sec));
    *frame_info = picture.frame;
    if (supplement != nullptr) *supplement = picture.supplement;
    if (stream != nullptr) *stream = picture.stream;
    return {};
  });
}

hi_s32 hi_mpi_vdec_release_frame(hi_vdec_chn chn, const hi_video_frame_info* frame_info) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(frame_info, "frame_info"));
    return channel.release(*frame_info);
  });
}

hi_s32 hi_mpi_vdec_query_status(hi_vdec_chn chn, hi_vdec_chn_status* status) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    ANYNPU_TRY(check_pointer(status, "status"));
    *status = channel.status();
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_fd(hi_vdec_chn chn) {
  return acl::enter_value(__func__, hi_s32{-1}, [&]() -> Result<hi_s32> {
    ANYNPU_TRY(check_system());
    ANYNPU_ASSIGN(auto channel, vdec_channels().find(chn));
    return channel->signal.fd();
  });
}

hi_s32 hi_mpi_vdec_close_fd(hi_vdec_chn chn) {
  return on_vdec(__func__, chn, [&](VdecChannel& channel) -> Status {
    channel.signal.close();
    return {};
  });
}

hi_s32 hi_mpi_vdec_get_jpegd_output_info(const hi_vdec_stream* stream,
                                         hi_pixel_format output_format, hi_img_info* img_info) {
  return mpi::enter(__func__, Module::vdec, [&]() -> Status {
    ANYNPU_TRY(check_pointer(stream, "stream"));
    ANYNPU_TRY(check_pointer(img_info, "img_info"));
    ANYNPU_ASSIGN(auto file,
                  device::check_range(stream->addr, stream->len, device::Access::read, "the file"));
    ANYNPU_ASSIGN(const auto info, media::jpeg_info({file.address, file.bytes}));
    media::PictureSpec spec;
    spec.format = output_format;
    ANYNPU_TRY(complete_jpeg_output(info, &spec));
    ANYNPU_ASSIGN(const uint32_t bytes, media::jpeg_decoded_bytes(info, output_format));
    *img_info = {};
    img_info->width = spec.width;
    img_info->height = spec.height;
    img_info->width_stride = spec.width_stride;
    img_info->height_stride = spec.height_stride;
    img_info->img_pixel_format = static_cast<hi_pixel_format>(spec.format);
    img_info->img_buf_size = bytes;
    return {};
  });
}

hi_u32 hi_vdec_get_pic_buf_size(hi_payload_type type, const hi_pic_buf_attr* buf_attr) {
  return acl::enter_value(__func__, hi_u32{0}, [&]() -> Result<hi_u32> {
    ANYNPU_TRY(check_pointer(buf_attr, "buf_attr"));
    const hi_u32 align = buf_attr->align ? buf_attr->align : 16;
    if (align > 1024 || buf_attr->width > 8192 || buf_attr->height > 8192)
      return fail(Code::invalid_argument, "{}x{} pixels aligned to {} are out of range",
                  buf_attr->width, buf_attr->height, align);
    const uint64_t luma = uint64_t{media::aligned_up(buf_attr->width, align)} *
                          media::aligned_up(buf_attr->height, 2);
    // A bit width of 8 is meant by the guide's sample too, which writes the number itself.
    const bool wide = buf_attr->bit_width != HI_DATA_BIT_WIDTH_8 && buf_attr->bit_width != 8;
    return static_cast<hi_u32>(luma * 3 / 2 * (wide ? 2 : 1));
  });
}

hi_u32 hi_vdec_get_tmv_buf_size(hi_payload_type type, hi_u32 width, hi_u32 height) {
  return acl::enter_value(__func__, hi_u32{0}, [&]() -> Result<hi_u32> {
    if (width > 8192 || height > 8192)
      return fail(Code::invalid_argument, "{}x{} pixels are out of range", width, height);
    // Sixteen bytes for each block of 16x16, as motion of one reference frame takes.
    return media::aligned_up(width, 64) / 16 * (media::aligned_up(height, 64) / 16) * 16;
  });
}
