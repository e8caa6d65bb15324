// SPDX-License-Identifier: Apache-2.0
// What the tasks of a decoder channel do: packets in, pictures out.
#include "base/log.h"
#include "media/image.h"
#include "media/vdec_codes.h"
#include "service/media/vdec_channel.h"

namespace anynpu::media {

uint32_t VdecChannel::write(Sent& sent, const DecodedFrame& frame) {
  const int32_t frames = param().frames;
  const bool written = frames == VdecParam::all || frame.type == FrameType::i ||
                       (frames == VdecParam::without_b && frame.type == FrameType::p);
  if (!written) return vdec::kNoPicture;
  PictureSpec spec = sent.spec;
  if (spec.format == pixel::kUnknown) spec.format = pixel::kNv12;
  auto place = place_frame(frame, &spec, PlaceSize::stated);
  if (!place.ok()) {
    ANYNPU_LOG(error, "video decoder: {}", place.status().message());
    return vdec::kOutputSize;
  }
  sent.spec = spec;
  return write_frame(frame, place->view).ok() ? vdec::kOk : vdec::kDecodeFailed;
}

void VdecChannel::count(const Sent& sent, uint32_t code) {
  ++status_.decoded_pictures;
  status_.width = sent.spec.width;
  status_.height = sent.spec.height;
  status_.pts = sent.packet.pts;
  if (code == vdec::kReferenceFrames) ++status_.reference_errors;
  if (code == vdec::kFrameSize) ++status_.size_errors;
  if (code == vdec::kOutputSize) ++status_.output_errors;
  if (code == vdec::kDecodeFailed || code == vdec::kBitstream) ++status_.stream_errors;
}

void VdecChannel::push(const Sent& sent, uint32_t code, FrameType type) {
  VdecPicture picture{sent.spec, sent.packet, attr_.codec, type, code, 0};
  std::map<int32_t, Sink> sinks;
  {
    const std::lock_guard lock(mutex_);
    picture.number = status_.decoded_pictures;
    count(sent, code);
    if (!sent.packet.display && code == vdec::kOk) return;  // decoded, not shown
    sinks = sinks_;
    if (sinks.empty()) {
      ready_.push_back(picture);
      ready_fd_.set(true);
      changed_.notify_all();
    }
  }
  if (code != vdec::kOk) return;
  for (const auto& [key, sink] : sinks) sink(picture);
}

void VdecChannel::deliver(const DecodeSession::Results& results) {
  const bool by_display = param().order != VdecParam::by_decoding;
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

void VdecChannel::decode_unit(Bytes unit, const std::shared_ptr<Sent>& sent) {
  const uint64_t id = next_++;
  sent_.emplace(id, sent);
  deliver(session_->decode(
      unit, id, [this, sent](const DecodedFrame& frame) { return write(*sent, frame); }));
}

void VdecChannel::run_video(const std::shared_ptr<Sent>& sent) {
  const Bytes bytes{sent->bytes.address, sent->bytes.bytes};
  const auto by_turn = [&](Bytes unit) {
    if (outputs_.empty()) {
      ANYNPU_LOG(error, "video decoder: a picture came for which no output memory was sent");
      return;
    }
    const auto next = outputs_.front();
    outputs_.pop_front();
    decode_unit(unit, next);
  };
  if (attr_.mode == kSendStream) {
    if (sent->spec.data != nullptr) outputs_.push_back(sent);
    Status status;
    if (!bytes.empty()) status = cutter_->cut(bytes, by_turn);
    if (sent->packet.end_of_stream) status = cutter_->finish(by_turn);
    if (!status.ok()) ANYNPU_LOG(error, "video decoder: {}", status.message());
  } else if (!bytes.empty()) {
    decode_unit(bytes, sent);
  }
  if (sent->packet.end_of_stream) {
    deliver(session_->drain());
    next_out_ = next_;
  }
}

Status VdecChannel::decode_jpeg_file(Sent& sent) {
  const Bytes file{sent.bytes.address, sent.bytes.bytes};
  ANYNPU_ASSIGN(const auto info, jpeg_info(file));
  const VdecParam settings = param();
  PictureSpec spec = sent.spec;
  if (spec.format == pixel::kUnknown) spec.format = settings.format;
  ANYNPU_TRY(complete_jpeg_output(info, &spec, OtherSize::scaled));
  sent.spec = spec;
  ANYNPU_ASSIGN(auto to, check_picture(spec, kJpegdRules, "output", device::Access::write));
  return decode_jpeg(file, info, to.view, pixel::color_matrix(0),
                     static_cast<uint8_t>(settings.alpha));
}

void VdecChannel::run_jpeg(Sent& sent) {
  const Status status = decode_jpeg_file(sent);
  if (!status.ok()) ANYNPU_LOG(error, "JPEG decoder: {}", status.message());
  push(sent, status.ok() ? vdec::kOk : vdec::kDecodeFailed, FrameType::i);
}

void VdecChannel::run(const std::shared_ptr<Sent>& sent) {
  if (!is_jpeg())
    run_video(sent);
  else if (sent->bytes.bytes > 0)
    run_jpeg(*sent);
  // Only now: a program that sees none left and nothing decoded may take it that all is there.
  const std::lock_guard lock(mutex_);
  --status_.waiting_packets;
  status_.waiting_bytes -= static_cast<uint32_t>(sent->bytes.bytes);
  changed_.notify_all();
}

}  // namespace anynpu::media
