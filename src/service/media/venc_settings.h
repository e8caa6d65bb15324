// SPDX-License-Identifier: Apache-2.0
// Settings of an encoder channel that have an effect; defaults are those of a new channel. From
// them come the options of x264 and x265 (docs/media.md has the table).
#pragma once

#include <array>
#include <cstdint>

#include "media/image_codec.h"
#include "media/video_codec.h"
#include "service/media/codec_type.h"
#include "service/media/record.h"

namespace anynpu::media {

// Rate controls. The second half is that of H.265, in the same order.
enum class RateMode : uint8_t {
  h264_cbr,
  h264_vbr,
  h264_avbr,
  h264_qvbr,
  h264_cvbr,
  h264_fixed_qp,
  h265_cbr,
  h265_vbr,
  h265_avbr,
  h265_qvbr,
  h265_cvbr,
  h265_fixed_qp,
  other,
};
inline constexpr size_t kRateModes = static_cast<size_t>(RateMode::other);

struct RateSettings {
  RateMode mode = RateMode::other;
  int32_t mode_number = 0;  // as the program wrote it, for messages
  uint32_t gop = 0;
  uint32_t window_seconds = 0;  // over which the rate is kept; 0: one
  uint32_t source_rate = 0, target_rate = 0;
  uint32_t kbps = 0;                      // not of fixed QPs
  uint32_t qp_i = 0, qp_p = 0, qp_b = 0;  // of fixed QPs
};

// Limits of one rate control; 0 where the program set nothing.
struct RateLimits {
  uint32_t least_qp = 0, most_qp = 0;
  uint32_t i_to_p = 0;
};

struct VencAttr {
  CodecType codec = CodecType::other;
  int32_t type_number = 0;  // as the program wrote it, for messages
  uint32_t width = 0, height = 0;
  uint32_t buffer_bytes = 0;
  uint32_t profile = 0;
  bool whole_frames = false;  // one pack per picture, not per NAL unit
  RateSettings rate;
  enum GopMode : int32_t { normal_p = 0, bipredictive_b = 4 };
  int32_t gop_mode = normal_p;
  int32_t ip_qp_delta = 0;
  uint32_t b_frames = 0;
};

struct VencChannelParam {
  bool grey = false;
  bool crop = false;
  uint32_t most_streams = 200;
  int32_t source_rate = -1, target_rate = -1;
};

struct VencRateParam {
  bool textures = false;  // thresholds by which QPs change inside a picture
  int32_t first_qp = 0;
  bool find_scenes = false, key_at_scenes = false;
  std::array<RateLimits, kRateModes> limits;
};

// What a stream says about its pictures (VUI).
struct VideoUsability {
  bool aspect_present = false;
  uint32_t aspect_number = 0;  // 255: width and height follow
  uint32_t sample_width = 0, sample_height = 0;
  bool signal_present = false;
  uint32_t format = 0;
  bool full_range = false;
  bool colors_present = false;
  uint32_t primaries = 0, transfer = 0, matrix = 0;
};

struct SliceSettings {
  bool enabled = false;
  uint32_t rows = 0;  // of blocks in a slice
};

struct JpegSettings {
  uint32_t quality = 80;
  std::array<std::array<uint8_t, 64>, 3> quant{};  // a first value of 0: the standard table
  uint32_t restart_interval = 0;
};
struct HuffmanSettings {
  struct Table {
    std::array<uint8_t, 16> bits{};  // all 0: the standard table
    std::array<uint8_t, 162> values{};
    size_t room = 0;  // of values
  };
  std::array<Table, 2> dc, ac;
};

struct QpRegionSettings {
  bool enabled = false;
  bool absolute = false;
  uint32_t index = 0;
  int32_t qp = 0;
  int32_t x = 0, y = 0;
  uint32_t width = 0, height = 0;
};
inline constexpr uint32_t kQpRegions = 8;

struct VencSettings {
  VencAttr attr;
  VencChannelParam channel;
  VencRateParam rate;
  VideoUsability h264_usability, h265_usability;
  bool intra_refresh = false;
  SliceSettings slices;
  JpegSettings jpeg;
  HuffmanSettings huffman;
  int32_t scene = 0;
  std::array<QpRegionSettings, kQpRegions> regions;
};

// Groups of settings that programs write and read as a whole.
enum class VencGroup : uint8_t {
  attr,
  channel,
  rate,
  reference,
  h264_usability,
  h265_usability,
  cu_prediction,
  intra_refresh,
  slices,
  stream_copy,
  jpeg,
  huffman,
  region,  // the first of kQpRegions
};
inline constexpr size_t kVencGroups = static_cast<size_t>(VencGroup::region) + kQpRegions;

// The nearest options of x264 and x265; fails for settings they cannot follow.
Result<VideoEncoderOptions> encoder_options(const VencSettings& settings);

// Pictures per second that are sent and that are encoded; 0 and 0 if all are encoded.
struct FrameRates {
  uint32_t source = 0, target = 0;
};
FrameRates frame_rates(const VencSettings& settings);

// Tables of the program's own that `settings` hold; they point into it.
JpegTables jpeg_tables(const VencSettings& settings);

}  // namespace anynpu::media
