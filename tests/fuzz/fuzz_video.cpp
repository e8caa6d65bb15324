// SPDX-License-Identifier: Apache-2.0
// Any bytes as video. The first byte chooses the codec (bit 0), packets cut by the parser or of
// equal length (bit 1), limits of size and reference frames (bits 2 and 3), RGB (bit 4). Every
// packet must get exactly one result.
#include <cstdlib>
#include <map>

#include "linked_codecs.h"
#include "media/decode_session.h"
#include "media/vdec_codes.h"

namespace {

using namespace anynpu;

uint32_t write(const media::DecodedFrame& frame, int32_t format) {
  if (uint64_t{frame.width} * frame.height > media::kMostPixels) return media::vdec::kOutputSize;
  media::PictureSpec spec;
  spec.format = format;
  spec.width = frame.width;
  spec.height = frame.height;
  spec.width_stride = (frame.width + 15) / 16 * 16 * pixel::find_format(format)->bytes;
  spec.height_stride = (frame.height + 1) / 2 * 2;
  const media::Target to(spec);
  return media::write_frame(frame, to.picture()).ok() ? media::vdec::kOk
                                                      : media::vdec::kDecodeFailed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const uint8_t choice = data[0];
  const media::Bytes bytes(data + 1, size - 1);
  media::DecodeOptions options;
  options.type = choice & 1 ? media::VideoType::h265 : media::VideoType::h264;
  if (choice & 4) options.width = options.height = 64;
  if (choice & 8) options.reference_frames = 2;
  const int32_t format = choice & 16 ? pixel::kRgb888 : pixel::kNv12;
  auto opened = media::DecodeSession::open(options);
  if (!opened.ok()) std::abort();
  const auto session = std::move(*opened);

  std::map<uint64_t, int> results;
  uint64_t sent = 0;
  const auto count = [&](const media::DecodeSession::Results& list) {
    for (const auto& result : list)
      if (++results[result.id] > 1 || result.id > sent) std::abort();
  };
  const auto decode = [&](media::Bytes packet) {
    const uint64_t id = ++sent;
    count(session->decode(packet, id,
                          [&](const media::DecodedFrame& frame) { return write(frame, format); }));
  };
  if (choice & 2) {
    for (size_t at = 0; at < bytes.size(); at += 64)
      decode(bytes.subspan(at, std::min<size_t>(64, bytes.size() - at)));
  } else {
    auto cutter = media::video_codec().value()->make_cutter(options.type);
    if (!cutter.ok()) std::abort();
    (void)(*cutter)->cut(bytes, decode).ok();
    (void)(*cutter)->finish(decode).ok();
  }
  count(session->drain());
  if (results.size() != sent) std::abort();
  return 0;
}
