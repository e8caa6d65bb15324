// SPDX-License-Identifier: Apache-2.0
#include "media/decode_session.h"

#include "base/format.h"
#include "base/log.h"
#include "media/vdec_codes.h"

namespace anynpu::media {
namespace {

// A picture waits for its turn behind at most so many others (the largest buffer of the standards).
constexpr uint64_t kMostDelay = 17;

void note(uint64_t id, uint32_t code, const std::string& why) {
  if (code == vdec::kOk) return;
  ANYNPU_LOG(error, "video decoder: frame {}: {}{}", id, describe_vdec_code(code),
             why.empty() ? std::string() : "; " + why);
}

}  // namespace

Result<std::unique_ptr<DecodeSession>> DecodeSession::open(const DecodeOptions& options) {
  auto session = std::unique_ptr<DecodeSession>(new DecodeSession(options));
  ANYNPU_ASSIGN(VideoCodec * codec, video_codec());
  ANYNPU_ASSIGN(session->decoder_, codec->make_decoder(options.type, 1));
  return session;
}

void DecodeSession::take(const DecodedFrame& frame, Results* results) {
  const auto at = waiting_.find(frame.id);
  if (at == waiting_.end()) return;  // a second picture of one packet
  DecodeResult result{frame.id, vdec::kOk, frame.type, frame.width, frame.height};
  const uint32_t references = decoder_->reference_frames();
  if (frame.damaged)
    result.code = vdec::kDecodeFailed;
  else if (options_.width != 0 && (frame.width > options_.width || frame.height > options_.height))
    result.code = vdec::kFrameSize;
  else if (options_.reference_frames != 0 && references > options_.reference_frames)
    result.code = vdec::kReferenceFrames;
  else
    result.code = at->second(frame);
  note(frame.id, result.code, "");
  waiting_.erase(at);
  results->push_back(result);
}

void DecodeSession::fail_older_than(uint64_t id, Results* results) {
  while (!waiting_.empty() && waiting_.begin()->first < id) {
    const uint64_t lost = waiting_.begin()->first;
    note(lost, vdec::kDecodeFailed, "its picture never came");
    results->push_back({lost, vdec::kDecodeFailed});
    waiting_.erase(waiting_.begin());
  }
}

DecodeSession::Results DecodeSession::decode(Bytes packet, uint64_t id, Write write) {
  Results results;
  if (const uint32_t fault = injected_vdec_fault(id)) {
    note(id, fault, "asked for by ANYNPU_VDEC_FAULT");
    results.push_back({id, fault});
    return results;
  }
  const auto taken = decoder_->take(packet);
  if (!taken.ok()) {
    note(id, vdec::kBitstream, taken.status().message());
    results.push_back({id, vdec::kBitstream});
    return results;
  }
  const PacketKind kind = *taken;
  // Before any memory is taken for its pictures.
  if (kind.width > kVdecRules.most_width || kind.height > kVdecRules.most_height) {
    note(id, vdec::kResolution,
         format("the stream has {}x{} pixels; the decoder takes up to {}x{}", kind.width,
                kind.height, kVdecRules.most_width, kVdecRules.most_height));
    results.push_back({id, vdec::kResolution});
    return results;
  }
  waiting_.emplace(id, std::move(write));
  const Status status =
      decoder_->decode(id, [&](const DecodedFrame& frame) { take(frame, &results); });
  uint32_t code = vdec::kOk;
  // A decoder may take it amiss when there is nothing to decode.
  if (kind.second_field || (!kind.has_picture && (status.ok() || kind.has_parameters)))
    code = vdec::kNoPicture;
  else if (!status.ok())
    code = kind.has_picture ? vdec::kDecodeFailed : vdec::kBitstream;
  if (code != vdec::kOk && waiting_.erase(id) > 0) {
    note(id, code, status.message());
    results.push_back({id, code});
  }
  if (id > kMostDelay) fail_older_than(id - kMostDelay, &results);
  return results;
}

DecodeSession::Results DecodeSession::drain() {
  Results results;
  const Status status = decoder_->flush([&](const DecodedFrame& frame) { take(frame, &results); });
  if (!status.ok()) ANYNPU_LOG(error, "video decoder: {}", status.message());
  fail_older_than(UINT64_MAX, &results);
  return results;
}

}  // namespace anynpu::media
