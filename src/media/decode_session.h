// SPDX-License-Identifier: Apache-2.0
// Decodes one video: every packet gets exactly one result, and its picture is written where the
// packet's owner says. Not thread-safe: used by one stream task at a
// time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "media/rules.h"
#include "media/video_codec.h"
#include "pixel/color.h"

namespace anynpu::media {

struct DecodeOptions {
  VideoType type = VideoType::h264;
  uint32_t width = 0;  // the stream must not be larger; 0: any size
  uint32_t height = 0;
  uint32_t reference_frames = 0;  // the stream must not use more; 0: any number
};

struct DecodeResult {
  uint64_t id = 0;
  uint32_t code = 0;  // of vdec_codes.h
  FrameType type = FrameType::i;
  uint32_t width = 0;  // of the picture, 0 when there is none
  uint32_t height = 0;
};

class DecodeSession {
 public:
  static Result<std::unique_ptr<DecodeSession>> open(const DecodeOptions& options);

  // Writes a picture that belongs to packet `id` and returns a code; called from decode() and
  // drain(), not for packets that failed.
  using Write = std::function<uint32_t(const DecodedFrame&)>;
  // Results that are known, in the order of display.
  using Results = std::vector<DecodeResult>;

  Results decode(Bytes packet, uint64_t id, Write write);
  // Flushes the decoder, as at the end of a stream: every packet has its result afterwards.
  Results drain();

 private:
  explicit DecodeSession(const DecodeOptions& options) : options_(options) {}
  void take(const DecodedFrame& frame, Results* results);
  void fail_older_than(uint64_t id, Results* results);

  const DecodeOptions options_;
  std::unique_ptr<VideoDecoder> decoder_;
  std::map<uint64_t, Write> waiting_;  // packets without a result
};

// Video usually has the narrow range of BT.601.
inline constexpr uint32_t kVideoMatrix = 1;

// Copies a decoded picture into `to` (NV12, NV21, YUV400, RGB888, BGR888); scaled (bilinear) where
// `to` has another size. `matrix` is for RGB.
Status write_frame(const DecodedFrame& frame, const pixel::Picture& to,
                   const pixel::ColorMatrix& matrix = pixel::color_matrix(kVideoMatrix));
// Completes `spec` for the picture: strides that are zero are filled in. The size becomes that of
// the frame or, with `stated`, stays the program's if it gave one.
enum class PlaceSize : uint8_t { of_frame, stated };
Result<CheckedPicture> place_frame(const DecodedFrame& frame, PictureSpec* spec,
                                   PlaceSize size = PlaceSize::of_frame);

}  // namespace anynpu::media
