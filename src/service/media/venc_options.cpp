// SPDX-License-Identifier: Apache-2.0
// From the settings of an encoder channel to those of x264 and x265.
#include <algorithm>

#include "base/align.h"
#include "service/media/venc_settings.h"

namespace anynpu::media {
namespace {

using enum RateControl;

constexpr RateControl kControls[] = {constant_bits, variable_bits, variable_bits,
                                     quality_bits,  variable_bits, fixed_qp};
constexpr size_t kControlsOfCodec = std::size(kControls);

RateControl control_of(RateMode mode) {
  return kControls[static_cast<size_t>(mode) % kControlsOfCodec];
}

VideoSignal signal_of(const VideoUsability& vui) {
  VideoSignal signal;
  if (vui.aspect_present) {
    // 1 is square; 255 says that the numbers follow. The others are fixed proportions.
    const bool extended = vui.aspect_number == 255;
    signal.sample_width = extended ? vui.sample_width : 1;
    signal.sample_height = extended ? vui.sample_height : 1;
  }
  if (!vui.signal_present) return signal;
  signal.present = true;
  signal.format = vui.format;
  signal.full_range = vui.full_range;
  if (vui.colors_present) {
    signal.primaries = vui.primaries;
    signal.transfer = vui.transfer;
    signal.matrix = vui.matrix;
  }
  return signal;
}

Status check_qp_region(const QpRegionSettings& region, const VideoEncoderOptions& o) {
  if (region.absolute || o.rate == fixed_qp)
    return fail(Code::unsupported_feature,
                "region {} asks for QP {}{}; use a difference (is_abs_qp 0) and a rate control "
                "other than FIXQP",
                region.index, region.qp, region.absolute ? "" : " more beside fixed ones");
  const int64_t right = int64_t{region.x} + region.width;
  const int64_t bottom = int64_t{region.y} + region.height;
  if (region.x < 0 || region.y < 0 || right > o.width || bottom > o.height || region.width == 0 ||
      region.height == 0)
    return fail(Code::invalid_argument,
                "region {} lies at {},{} and has {}x{} pixels; the pictures have {}x{}",
                region.index, region.x, region.y, region.width, region.height, o.width, o.height);
  if (region.qp < -51 || region.qp > 51)
    return fail(Code::invalid_argument, "region {} differs by {}; expected -51 to 51", region.index,
                region.qp);
  return {};
}

// Regions whose QP differs from what the rate control chooses.
Status set_regions(const VencSettings& s, VideoEncoderOptions* o) {
  for (const QpRegionSettings& region : s.regions) {
    if (!region.enabled) continue;
    ANYNPU_TRY(check_qp_region(region, *o));
    o->regions.push_back({static_cast<uint32_t>(region.x), static_cast<uint32_t>(region.y),
                          region.width, region.height, region.qp});
  }
  return {};
}

Status set_rate(const VencSettings& s, bool h265, VideoEncoderOptions* o) {
  const RateSettings& rate = s.attr.rate;
  if (rate.mode == RateMode::other || (static_cast<size_t>(rate.mode) >= kControlsOfCodec) != h265)
    return fail(Code::invalid_argument, "the rate control mode is {}; expected one for {}",
                rate.mode_number, h265 ? "H.265 (11 to 16)" : "H.264 (1 to 6)");
  o->rate = control_of(rate.mode);
  const bool fixed = o->rate == fixed_qp;
  if (rate.gop == 0 || rate.gop > 65536 || rate.target_rate == 0 || rate.target_rate > 240 ||
      (!fixed && (rate.kbps < 2 || rate.kbps > 614400)))
    return fail(
        Code::invalid_argument,
        "gop {}, frame rate {} and bit rate {} are out of range (1 to 65536, 1 to 240, 2 to "
        "614400 kbit/s)",
        rate.gop, rate.target_rate, rate.kbps);
  o->frame_rate = rate.target_rate;
  o->gop = rate.gop;
  o->kbps = rate.kbps;
  o->window_ms = 1000 * (rate.window_seconds ? std::min(rate.window_seconds, 60u) : 1);
  if (!fixed) return {};
  if (rate.qp_i > 51 || rate.qp_p > 51 || rate.qp_b > 51)
    return fail(Code::invalid_argument, "QPs {}, {} and {}; expected 0 to 51", rate.qp_i, rate.qp_p,
                rate.qp_b);
  o->qp_i = static_cast<int32_t>(rate.qp_i);
  o->qp_p = static_cast<int32_t>(rate.qp_p);
  o->qp_b = static_cast<int32_t>(rate.qp_b);
  return {};
}

Status set_limits(const VencSettings& s, VideoEncoderOptions* o) {
  const auto [least, most, i_to_p] = s.rate.limits[static_cast<size_t>(s.attr.rate.mode)];
  o->i_to_p = i_to_p;
  if (most == 0) return {};
  if (most > 51 || least > most)
    return fail(Code::invalid_argument, "min_qp {} and max_qp {}; expected 0 to 51 in order", least,
                most);
  o->least_qp = static_cast<int32_t>(least);
  o->most_qp = static_cast<int32_t>(most);
  return {};
}

Status set_profile(const VencAttr& attr, bool h265, VideoEncoderOptions* o) {
  constexpr const char* profiles[] = {"baseline", "main", "high"};
  if (attr.profile > (h265 ? 1u : 2u))
    return fail(Code::invalid_argument, "the profile is {}; expected 0 to {}", attr.profile,
                h265 ? 1 : 2);
  o->profile = h265 ? "main" : profiles[attr.profile];
  if (attr.gop_mode != VencAttr::normal_p && attr.gop_mode != VencAttr::bipredictive_b)
    return fail(Code::unsupported_feature,
                "the GOP mode is {}; 0 (NORMAL_P) and 4 (BIPRED_B) are supported", attr.gop_mode);
  o->ip_qp_delta = attr.ip_qp_delta;
  if (attr.gop_mode == VencAttr::bipredictive_b) {
    o->b_frames = std::min(attr.b_frames, 3u);
    if (o->profile == "baseline") o->profile = "main";  // which has B frames
  }
  return {};
}

Status set_first_qp(const VencRateParam& rate, VideoEncoderOptions* o) {
  if (rate.first_qp > 51)
    return fail(Code::invalid_argument, "first_frame_start_qp is {}; expected -1 (none) to 51",
                rate.first_qp);
  // 0 is what a new channel says: none.
  if (rate.first_qp > 0 && o->rate != fixed_qp) o->first_qp = rate.first_qp;
  return {};
}

void set_structure(const VencSettings& s, bool h265, VideoEncoderOptions* o) {
  o->block_rate_control = s.rate.textures;
  o->scene_cut = s.rate.find_scenes && s.rate.key_at_scenes;
  o->intra_refresh = s.intra_refresh;
  if (s.slices.enabled && s.slices.rows > 0) {
    // Rows of blocks, 16 high in H.264 and 64 in H.265.
    const uint32_t rows = ceil_div(o->height, h265 ? 64 : 16);
    o->slices = std::max(1u, ceil_div(rows, s.slices.rows));
  }
  // Scenes of films and games keep detail where it hides coding errors.
  // x265 weighs it from the third level of optimisation on.
  if (s.scene == 1) o->more = h265 ? "rd=3:psy-rd=2.0" : "psy-rd=1.0,0.15";
}

}  // namespace

FrameRates frame_rates(const VencSettings& s) {
  if (s.channel.source_rate > 0 && s.channel.target_rate > 0)
    return {static_cast<uint32_t>(s.channel.source_rate),
            static_cast<uint32_t>(s.channel.target_rate)};
  if (s.attr.rate.mode == RateMode::other) return {};
  return {s.attr.rate.source_rate, s.attr.rate.target_rate};
}

Result<VideoEncoderOptions> encoder_options(const VencSettings& s) {
  const bool h265 = s.attr.codec == CodecType::h265;
  VideoEncoderOptions o;
  o.type = h265 ? VideoType::h265 : VideoType::h264;
  o.width = s.attr.width;
  o.height = s.attr.height;
  ANYNPU_TRY(set_rate(s, h265, &o));
  ANYNPU_TRY(set_limits(s, &o));
  ANYNPU_TRY(set_profile(s.attr, h265, &o));
  ANYNPU_TRY(set_first_qp(s.rate, &o));
  if (s.channel.crop)
    return fail(Code::unsupported_feature,
                "crop_info of the channel is not supported; crop with vpc_crop before");
  o.grey = s.channel.grey;
  o.signal = signal_of(h265 ? s.h265_usability : s.h264_usability);
  ANYNPU_TRY(set_regions(s, &o));
  set_structure(s, h265, &o);
  return o;
}

JpegTables jpeg_tables(const VencSettings& settings) {
  JpegTables tables;
  for (int i = 0; i < 3; ++i)
    if (settings.jpeg.quant[i][0] != 0) tables.quant[i] = settings.jpeg.quant[i].data();
  const auto use = [](const HuffmanSettings::Table& from) -> JpegTables::Huffman {
    size_t count = 0;
    for (uint8_t bits : from.bits) count += bits;
    if (count == 0 || count > from.room) return {};
    return {from.bits.data(), from.values.data(), count};
  };
  for (int i = 0; i < 2; ++i) {
    tables.dc[i] = use(settings.huffman.dc[i]);
    tables.ac[i] = use(settings.huffman.ac[i]);
  }
  tables.restart_interval = settings.jpeg.restart_interval;
  return tables;
}

}  // namespace anynpu::media
