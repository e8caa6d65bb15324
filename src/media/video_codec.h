// SPDX-License-Identifier: Apache-2.0
// The interface of the video plug-in (libanynpu_video.so): H.264 and H.265 between bytes and
// pictures. A decoder or encoder belongs to one caller at a time; creating them is thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "media/image_codec.h"
#include "pixel/picture.h"

namespace anynpu::media {

enum class VideoType : uint8_t { h264, h265 };
enum class FrameType : uint8_t { i, p, b };

// A decoded picture in memory of the decoder, valid during the call that passes it: 8-bit 4:2:0 in
// the narrow range, whatever the stream has.
struct DecodedFrame {
  uint64_t id = 0;               // of the packet it came from
  const uint8_t* plane[3] = {};  // Y U V, or Y and pairs of U and V
  size_t stride[3] = {};
  uint32_t width = 0;
  uint32_t height = 0;
  FrameType type = FrameType::i;
  bool damaged = false;
};
using FrameSink = std::function<void(const DecodedFrame&)>;

// What a packet holds, found without decoding it.
struct PacketKind {
  bool has_picture = false;
  bool has_parameters = false;  // or other units beside pictures
  bool second_field = false;    // of a picture whose first field came before
  uint32_t width = 0;           // of the picture; 0 when it is not known
  uint32_t height = 0;
};

class VideoDecoder {
 public:
  virtual ~VideoDecoder() = default;
  // One access unit, which is kept until it is decoded.
  virtual Result<PacketKind> take(Bytes packet) = 0;
  // What was taken last. Pictures come out in display order, perhaps with later packets.
  virtual Status decode(uint64_t id, const FrameSink& sink) = 0;
  // Delivers the remaining pictures; the decoder then starts over.
  virtual Status flush(const FrameSink& sink) = 0;
  // Of the stream, once a picture was decoded: reference pictures it asks for; 0 when unknown.
  virtual uint32_t reference_frames() const = 0;
  // The number of pictures that may be held back for reordering.
  virtual uint32_t delay() const = 0;
};

// Splits a byte stream into access units.
class PacketCutter {
 public:
  virtual ~PacketCutter() = default;
  virtual Status cut(Bytes bytes, const std::function<void(Bytes)>& unit) = 0;
  // The last one, at the end of the stream.
  virtual Status finish(const std::function<void(Bytes)>& unit) = 0;
};

enum class RateControl : uint8_t { constant_bits, variable_bits, quality_bits, fixed_qp };

// The VUI of a stream; numbers of the standards, 2 is unspecified.
struct VideoSignal {
  bool present = false;
  uint32_t format = 5;
  bool full_range = false;
  uint32_t primaries = 2, transfer = 2, matrix = 2;
  uint32_t sample_width = 0, sample_height = 0;  // 0: not specified
};

// A part of each picture whose QP differs.
struct QpRegion {
  uint32_t left, top, width, height;
  int32_t delta;
};

struct VideoEncoderOptions {
  VideoType type = VideoType::h264;
  uint32_t width = 0, height = 0;
  uint32_t threads = 1;
  uint32_t frame_rate = 25;
  uint32_t gop = 25;
  RateControl rate = RateControl::constant_bits;
  uint32_t kbps = 4000;                     // target, or ceiling with variable_bits
  uint32_t window_ms = 1000;                // over which the rate is kept
  int32_t qp_i = 30, qp_p = 32, qp_b = 34;  // of fixed_qp
  int32_t least_qp = -1, most_qp = -1;      // -1: the encoder's own
  int32_t first_qp = -1;                    // of the first picture of H.264; -1: the encoder's own
  uint32_t b_frames = 0;
  int32_t ip_qp_delta = 0;          // how much lower the QP of I frames is
  uint32_t i_to_p = 0;              // limit of I frame bits, in multiples of a P frame; 0: none
  std::string profile;              // "" for the encoder's own
  bool block_rate_control = false;  // changes QP inside a frame
  bool scene_cut = false;
  bool intra_refresh = false;
  uint32_t slices = 1;
  uint32_t reference_frames = 0;  // 0: the encoder's own
  bool grey = false;              // without the pictures' colour
  VideoSignal signal;
  std::vector<QpRegion> regions;
  std::string more;  // options in the encoder's own words: "key=value:key=value"
};

struct EncodedPacket {
  Bytes bytes;
  uint64_t id = 0;  // of the picture
  FrameType type = FrameType::p;
  bool key = false;
  std::span<const std::pair<uint32_t, uint32_t>> nals;  // where each begins and how long it is
};
using PacketSink = std::function<void(const EncodedPacket&)>;

class VideoEncoder {
 public:
  virtual ~VideoEncoder() = default;
  // `from` is NV12 or NV21 of the encoder's size.
  virtual Status encode(const pixel::Picture& from, uint64_t id, bool force_key,
                        const PacketSink& sink) = 0;
  virtual Status flush(const PacketSink& sink) = 0;
};

class VideoCodec {
 public:
  virtual ~VideoCodec() = default;
  virtual Result<std::unique_ptr<VideoDecoder>> make_decoder(VideoType type, uint32_t threads) = 0;
  virtual Result<std::unique_ptr<PacketCutter>> make_cutter(VideoType type) = 0;
  virtual Result<std::unique_ptr<VideoEncoder>> make_encoder(
      const VideoEncoderOptions& options) = 0;
};

// Opens the plug-in on first use.
Result<VideoCodec*> video_codec();

}  // namespace anynpu::media

extern "C" anynpu::media::VideoCodec* anynpu_video_codec();
