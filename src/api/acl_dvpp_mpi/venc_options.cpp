// SPDX-License-Identifier: Apache-2.0
// From the settings of an encoder channel to those of x264 and x265.
#include "api/acl_dvpp_mpi/venc.h"
#include "base/align.h"

namespace anynpu::mpi {
namespace {

// The fields that all rate controls share.
struct Rate {
  hi_u32 gop, stats_time, source, target, kbps;
};
// What a program may limit in most of them; 0 where it set nothing.
struct Limits {
  hi_u32 least_qp, most_qp, i_to_p;
};

struct Mode {
  hi_venc_rc_mode number;
  media::RateControl control;
  Rate (*rate)(const hi_venc_rc_attr&);
  Limits (*limits)(const hi_venc_rc_param&);
};

#define MODE(number, control, field, bits)                                                         \
  {                                                                                                \
    number, control,                                                                               \
        [](const hi_venc_rc_attr& a) -> Rate {                                                     \
          return {a.field.gop, a.field.stats_time, a.field.src_frame_rate, a.field.dst_frame_rate, \
                  a.field.bits};                                                                   \
        },                                                                                         \
        [](const hi_venc_rc_param& p) -> Limits {                                                  \
          return {p.field##_param.min_qp, p.field##_param.max_qp,                                  \
                  p.field##_param.max_i_proportion};                                               \
        }                                                                                          \
  }
#define FIXED(number, field)                                                          \
  {                                                                                   \
    number, fixed_qp,                                                                 \
        [](const hi_venc_rc_attr& a) -> Rate {                                        \
          return {a.field.gop, 1, a.field.src_frame_rate, a.field.dst_frame_rate, 0}; \
        },                                                                            \
        [](const hi_venc_rc_param&) -> Limits { return {}; }                          \
  }

using enum media::RateControl;
constexpr Mode kModes[] = {
    MODE(HI_VENC_RC_MODE_H264_CBR, constant_bits, h264_cbr, bit_rate),
    MODE(HI_VENC_RC_MODE_H264_VBR, variable_bits, h264_vbr, max_bit_rate),
    MODE(HI_VENC_RC_MODE_H264_AVBR, variable_bits, h264_avbr, max_bit_rate),
    MODE(HI_VENC_RC_MODE_H264_QVBR, quality_bits, h264_qvbr, target_bit_rate),
    MODE(HI_VENC_RC_MODE_H264_CVBR, variable_bits, h264_cvbr, max_bit_rate),
    FIXED(HI_VENC_RC_MODE_H264_FIXQP, h264_fixqp),
    MODE(HI_VENC_RC_MODE_H265_CBR, constant_bits, h265_cbr, bit_rate),
    MODE(HI_VENC_RC_MODE_H265_VBR, variable_bits, h265_vbr, max_bit_rate),
    MODE(HI_VENC_RC_MODE_H265_AVBR, variable_bits, h265_avbr, max_bit_rate),
    MODE(HI_VENC_RC_MODE_H265_QVBR, quality_bits, h265_qvbr, target_bit_rate),
    MODE(HI_VENC_RC_MODE_H265_CVBR, variable_bits, h265_cvbr, max_bit_rate),
    FIXED(HI_VENC_RC_MODE_H265_FIXQP, h265_fixqp),
};
#undef MODE
#undef FIXED

bool any(const hi_u32* values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (values[i] != 0) return true;
  return false;
}

template <typename Vui>
media::VideoSignal signal_of(const Vui& vui) {
  media::VideoSignal signal;
  if (vui.vui_aspect_ratio.aspect_ratio_info_present_flag) {
    // 1 is square; 255 says that the numbers follow. The others are fixed proportions.
    const bool extended = vui.vui_aspect_ratio.aspect_ratio_idc == 255;
    signal.sample_width = extended ? vui.vui_aspect_ratio.sar_width : 1;
    signal.sample_height = extended ? vui.vui_aspect_ratio.sar_height : 1;
  }
  const auto& video = vui.vui_video_signal;
  if (!video.video_signal_type_present_flag) return signal;
  signal.present = true;
  signal.format = video.video_format;
  signal.full_range = video.video_full_range_flag != 0;
  if (video.colour_description_present_flag) {
    signal.primaries = video.colour_primaries;
    signal.transfer = video.transfer_characteristics;
    signal.matrix = video.matrix_coefficients;
  }
  return signal;
}

// Regions whose QP differs from what the rate control chooses.
Status add_regions(const VencSettings& s, media::VideoEncoderOptions* o) {
  for (const hi_venc_roi_attr& roi : s.roi) {
    if (!roi.enable) continue;
    if (roi.is_abs_qp || o->rate == fixed_qp)
      return fail(Code::unsupported_feature,
                  "region {} asks for QP {}{}; use a difference (is_abs_qp 0) and a rate control "
                  "other than FIXQP",
                  roi.idx, roi.qp, roi.is_abs_qp ? "" : " more beside fixed ones");
    const int64_t right = int64_t{roi.rect.x} + roi.rect.width;
    const int64_t bottom = int64_t{roi.rect.y} + roi.rect.height;
    if (roi.rect.x < 0 || roi.rect.y < 0 || right > o->width || bottom > o->height ||
        roi.rect.width == 0 || roi.rect.height == 0)
      return fail(Code::invalid_argument,
                  "region {} lies at {},{} and has {}x{} pixels; the pictures have {}x{}", roi.idx,
                  roi.rect.x, roi.rect.y, roi.rect.width, roi.rect.height, o->width, o->height);
    if (roi.qp < -51 || roi.qp > 51)
      return fail(Code::invalid_argument, "region {} differs by {}; expected -51 to 51", roi.idx,
                  roi.qp);
    o->regions.push_back({static_cast<uint32_t>(roi.rect.x), static_cast<uint32_t>(roi.rect.y),
                          roi.rect.width, roi.rect.height, roi.qp});
  }
  return {};
}

}  // namespace

FrameRates rates_of(const VencSettings& s) {
  if (s.chn.frame_rate.src_frame_rate > 0 && s.chn.frame_rate.dst_frame_rate > 0)
    return {static_cast<hi_u32>(s.chn.frame_rate.src_frame_rate),
            static_cast<hi_u32>(s.chn.frame_rate.dst_frame_rate)};
  for (const Mode& mode : kModes) {
    if (mode.number != s.attr.rc_attr.rc_mode) continue;
    const Rate rate = mode.rate(s.attr.rc_attr);
    return {rate.source, rate.target};
  }
  return {};
}

Result<media::VideoEncoderOptions> options_of(const VencSettings& s) {
  const bool h265 = s.attr.venc_attr.type == HI_PT_H265;
  const Mode* mode = nullptr;
  for (const Mode& known : kModes)
    if (known.number == s.attr.rc_attr.rc_mode) mode = &known;
  if (mode == nullptr || (mode->number >= HI_VENC_RC_MODE_H265_CBR) != h265)
    return fail(Code::invalid_argument, "the rate control mode is {}; expected one for {}",
                s.attr.rc_attr.rc_mode, h265 ? "H.265 (11 to 16)" : "H.264 (1 to 6)");
  const Rate rate = mode->rate(s.attr.rc_attr);
  const bool fixed = mode->control == fixed_qp;
  if (rate.gop == 0 || rate.gop > 65536 || rate.target == 0 || rate.target > 240 ||
      (!fixed && (rate.kbps < 2 || rate.kbps > 614400)))
    return fail(
        Code::invalid_argument,
        "gop {}, frame rate {} and bit rate {} are out of range (1 to 65536, 1 to 240, 2 to "
        "614400 kbit/s)",
        rate.gop, rate.target, rate.kbps);
  media::VideoEncoderOptions o;
  o.type = h265 ? media::VideoType::h265 : media::VideoType::h264;
  o.width = s.attr.venc_attr.pic_width;
  o.height = s.attr.venc_attr.pic_height;
  o.frame_rate = rate.target;
  o.gop = rate.gop;
  o.rate = mode->control;
  o.kbps = rate.kbps;
  o.window_ms = 1000 * (rate.stats_time ? std::min(rate.stats_time, 60u) : 1);
  const auto& q = h265 ? s.attr.rc_attr.h265_fixqp : s.attr.rc_attr.h264_fixqp;
  if (fixed) {
    if (q.i_qp > 51 || q.p_qp > 51 || q.b_qp > 51)
      return fail(Code::invalid_argument, "QPs {}, {} and {}; expected 0 to 51", q.i_qp, q.p_qp,
                  q.b_qp);
    o.qp_i = static_cast<int32_t>(q.i_qp);
    o.qp_p = static_cast<int32_t>(q.p_qp);
    o.qp_b = static_cast<int32_t>(q.b_qp);
  }
  const auto [least, most, i_to_p] = mode->limits(s.rc);
  o.i_to_p = i_to_p;
  if (most > 0) {
    if (most > 51 || least > most)
      return fail(Code::invalid_argument, "min_qp {} and max_qp {}; expected 0 to 51 in order",
                  least, most);
    o.least_qp = static_cast<int32_t>(least);
    o.most_qp = static_cast<int32_t>(most);
  }
  constexpr const char* profiles[] = {"baseline", "main", "high"};
  if (s.attr.venc_attr.profile > (h265 ? 1u : 2u))
    return fail(Code::invalid_argument, "the profile is {}; expected 0 to {}",
                s.attr.venc_attr.profile, h265 ? 1 : 2);
  o.profile = h265 ? "main" : profiles[s.attr.venc_attr.profile];
  const auto& gop = s.attr.gop_attr;
  if (gop.gop_mode != HI_VENC_GOP_MODE_NORMAL_P && gop.gop_mode != HI_VENC_GOP_MODE_BIPRED_B)
    return fail(Code::unsupported_feature,
                "the GOP mode is {}; 0 (NORMAL_P) and 4 (BIPRED_B) are supported", gop.gop_mode);
  if (gop.gop_mode == HI_VENC_GOP_MODE_NORMAL_P) o.ip_qp_delta = gop.normal_p.ip_qp_delta;
  if (gop.gop_mode == HI_VENC_GOP_MODE_BIPRED_B) {
    o.b_frames = std::min(gop.bipred_b.b_frame_num, 3u);
    o.ip_qp_delta = gop.bipred_b.ip_qp_delta;
    if (o.profile == "baseline") o.profile = "main";  // which has B frames
  }
  if (s.rc.first_frame_start_qp > 51)
    return fail(Code::invalid_argument, "first_frame_start_qp is {}; expected -1 (none) to 51",
                s.rc.first_frame_start_qp);
  // 0 is what a new channel says: none.
  if (s.rc.first_frame_start_qp > 0 && !fixed) o.first_qp = s.rc.first_frame_start_qp;
  if (s.chn.crop_info.enable)
    return fail(Code::unsupported_feature,
                "crop_info of the channel is not supported; crop with vpc_crop before");
  o.grey = s.chn.color_to_grey_en != HI_FALSE;
  o.signal = h265 ? signal_of(s.h265_vui) : signal_of(s.h264_vui);
  ANYNPU_TRY(add_regions(s, &o));
  o.block_rate_control = any(s.rc.threshold_i, HI_VENC_TEXTURE_THRESHOLD_SIZE) ||
                         any(s.rc.threshold_p, HI_VENC_TEXTURE_THRESHOLD_SIZE);
  o.scene_cut = s.rc.scene_chg_detect.detect_scene_chg_en != HI_FALSE &&
                s.rc.scene_chg_detect.adapt_insert_idr_frame_en != HI_FALSE;
  o.intra_refresh = s.refresh.refresh_enable != HI_FALSE;
  if (s.slices.split_enable && s.slices.split_size > 0) {
    // split_size counts rows of blocks, 16 high in H.264 and 64 in H.265.
    const hi_u32 rows = (o.height + (h265 ? 63 : 15)) / (h265 ? 64 : 16);
    o.slices = std::max(1u, ceil_div(rows, s.slices.split_size));
  }
  // Scenes of films and games keep detail where it hides coding errors.
  // x265 weighs it from the third level of optimisation on.
  if (s.scene == HI_VENC_SCENE_1) o.more = h265 ? "rd=3:psy-rd=2.0" : "psy-rd=1.0,0.15";
  return o;
}

}  // namespace anynpu::mpi
