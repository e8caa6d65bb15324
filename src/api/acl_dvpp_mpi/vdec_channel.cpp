// SPDX-License-Identifier: Apache-2.0
#include "api/acl_dvpp_mpi/vdec.h"
#include "base/log.h"
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

}  // namespace

Channels<VdecChannel>& vdec_channels() {
  static auto& all = *new Channels<VdecChannel>("VDEC", VDEC_MAX_CHN_NUM);
  return all;
}

void close_vdec() { vdec_channels().remove_all(); }

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
  made->param_.type = attr.type;
  made->param_.pic_param.pixel_format = HI_PIXEL_FORMAT_UNKNOWN;
  made->param_.pic_param.alpha = 255;
  made->protocol.type = attr.type;
  made->status_.type = attr.type;
  ANYNPU_ASSIGN(made->stream_, OwnStream::make());
  ANYNPU_TRY(made->open_session());
  return made;
}

Status VdecChannel::open_session() {
  sent_.clear();
  outputs_.clear();
  ordered_.clear();
  next_out_ = next_;
  if (is_jpeg()) return {};
  media::DecodeOptions options;
  options.type = attr.type == HI_PT_H265 ? media::VideoType::h265 : media::VideoType::h264;
  options.width = attr.pic_width;
  options.height = attr.pic_height;
  options.reference_frames = attr.video_attr.ref_frame_num;
  ANYNPU_ASSIGN(session_, media::DecodeSession::open(options));
  ANYNPU_ASSIGN(media::VideoCodec * codec, media::video_codec());
  ANYNPU_ASSIGN(cutter_, codec->make_cutter(options.type));
  return {};
}

Status VdecChannel::set_attr(const hi_vdec_chn_attr& changed) {
  if (changed.type != attr.type || changed.mode != attr.mode)
    return fail(Code::bad_call_order, "type and mode of a channel cannot be changed");
  if (started)
    return fail(Code::bad_call_order, "the channel receives; call vdec_stop_recv_stream first");
  ANYNPU_TRY(stream_->synchronize());
  attr = changed;
  return open_session();
}

uint32_t VdecChannel::write(Sent& sent, const media::DecodedFrame& frame) {
  const hi_video_dec_mode mode = param().video_param.dec_mode;
  const bool wanted = mode == HI_VIDEO_DEC_MODE_IPB || frame.type == media::FrameType::i ||
                      (mode == HI_VIDEO_DEC_MODE_IP && frame.type == media::FrameType::p);
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
  const bool by_display = param().video_param.out_order != HI_VIDEO_OUT_ORDER_DEC;
  for (const auto& result : results) {
    const auto at = sent_.find(result.id);
    if (at == sent_.end()) continue;
    const auto sent = at->second;
    sent_.erase(at);
    if (by_display) {
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
    const hi_vdec_pic_param wanted = param().pic_param;
    if (spec.format == pixel::kUnknown) spec.format = wanted.pixel_format;
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
    return media::decode_jpeg(file, info, to.view, pixel::color_matrix(0),
                              static_cast<uint8_t>(wanted.alpha));
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
  ANYNPU_TRY(open_session());
  const std::lock_guard lock(mutex_);
  ready_.clear();
  signal.set(false);
  status_ = {};
  status_.type = attr.type;
  return {};
}

hi_vdec_chn_param VdecChannel::param() {
  const std::lock_guard lock(mutex_);
  return param_;
}

void VdecChannel::set_param(const hi_vdec_chn_param& changed) {
  const std::lock_guard lock(mutex_);
  param_ = changed;
  param_.type = attr.type;
}

hi_vdec_chn_status VdecChannel::status() {
  const std::lock_guard lock(mutex_);
  hi_vdec_chn_status now = status_;
  now.left_decoded_frames = static_cast<hi_u32>(ready_.size());
  now.is_started = started ? HI_TRUE : HI_FALSE;
  return now;
}

}  // namespace anynpu::mpi
