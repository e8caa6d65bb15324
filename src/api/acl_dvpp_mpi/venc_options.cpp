// SPDX-License-Identifier: Apache-2.0
// From the settings of an encoder channel to those of x264 and x265.
#include "api/acl_dvpp_mpi/venc.h"

namespace anynpu::mpi {
namespace {

// The fields that all rate controls share.
struct Rate {
  hi_u32 gop, stats_time, source, target, kbps;
};

struct Mode {
  hi_venc_rc_mode number;
  media::RateControl control;
  Rate (*rate)(const hi_venc_rc_attr&);
};

#define RATE(field, bits)                                                                    \
  [](const hi_venc_rc_attr& a) -> Rate {                                                     \
    return {a.field.gop, a.field.stats_time, a.field.src_frame_rate, a.field.dst_frame_rate, \
            a.field.bits};                                                                   \
  }
#define FIXED(field)                                                            \
  [](const hi_venc_rc_attr& a) -> Rate {                                        \
    return {a.field.gop, 1, a.field.src_frame_rate, a.field.dst_frame_rate, 0}; \
  }

using enum media::RateControl;
constexpr Mode kModes[] = {
    {HI_VENC_RC_MODE_H264_CBR, constant_bits, RATE(h264_cbr, bit_rate)},
    {HI_VENC_RC_MODE_H264_VBR, variable_bits, RATE(h264_vbr, max_bit_rate)},
    {HI_VENC_RC_MODE_H264_AVBR, variable_bits, RATE(h264_avbr, max_bit_rate)},
    {HI_VENC_RC_MODE_H264_QVBR, quality_bits, RATE(h264_qvbr, target_bit_rate)},
    {HI_VENC_RC_MODE_H264_CVBR, variable_bits, RATE(h264_cvbr, max_bit_rate)},
    {HI_VENC_RC_MODE_H264_FIXQP, fixed_qp, FIXED(h264_fixqp)},
    {HI_VENC_RC_MODE_H265_CBR, constant_bits, RATE(h265_cbr, bit_rate)},
    {HI_VENC_RC_MODE_H265_VBR, variable_bits, RATE(h265_vbr, max_bit_rate)},
    {HI_VENC_RC_MODE_H265_AVBR, variable_bits, RATE(h265_avbr, max_bit_rate)},
    {HI_VENC_RC_MODE_H265_QVBR, quality_bits, RATE(h265_qvbr, target_bit_rate)},
    {HI_VENC_RC_MODE_H265_CVBR, variable_bits, RATE(h265_cvbr, max_bit_rate)},
    {HI_VENC_RC_MODE_H265_FIXQP, fixed_qp, FIXED(h265_fixqp)},
};
#undef RATE
#undef FIXED

// QP limits of the chosen mode; 0 and 0 where the program set none.
std::pair<hi_u32, hi_u32> limits_of(const VencSettings& s) {
  switch (s.attr.rc_attr.rc_mode) {
    case HI_VENC_RC_MODE_H264_CBR:
      return {s.rc.h264_cbr_param.min_qp, s.rc.h264_cbr_param.max_qp};
    case HI_VENC_RC_MODE_H264_VBR:
      return {s.rc.h264_vbr_param.min_qp, s.rc.h264_vbr_param.max_qp};
    case HI_VENC_RC_MODE_H264_AVBR:
      return {s.rc.h264_avbr_param.min_qp, s.rc.h264_avbr_param.max_qp};
    case HI_VENC_RC_MODE_H264_QVBR:
      return {s.rc.h264_qvbr_param.min_qp, s.rc.h264_qvbr_param.max_qp};
    case HI_VENC_RC_MODE_H264_CVBR:
      return {s.rc.h264_cvbr_param.min_qp, s.rc.h264_cvbr_param.max_qp};
    case HI_VENC_RC_MODE_H265_CBR:
      return {s.rc.h265_cbr_param.min_qp, s.rc.h265_cbr_param.max_qp};
    case HI_VENC_RC_MODE_H265_VBR:
      return {s.rc.h265_vbr_param.min_qp, s.rc.h265_vbr_param.max_qp};
    case HI_VENC_RC_MODE_H265_AVBR:
      return {s.rc.h265_avbr_param.min_qp, s.rc.h265_avbr_param.max_qp};
    case HI_VENC_RC_MODE_H265_QVBR:
      return {s.rc.h265_qvbr_param.min_qp, s.rc.h265_qvbr_param.max_qp};
    case HI_VENC_RC_MODE_H265_CVBR:
      return {s.rc.h265_cvbr_param.min_qp, s.rc.h265_cvbr_param.max_qp};
    default:
      return {0, 0};
  }
}

bool any(const hi_u32* values, size_t n) {
  for (size_t i = 0; i < n; ++i)
    if (values[i] != 0) return true;
  return false;
}

}  // namespace

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
  const auto [least, most] = limits_of(s);
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
  if (gop.gop_mode == HI_VENC_GOP_MODE_NORMAL_P) o.ip_qp_delta = gop.normal_p.ip_qp_delta;
  if (gop.gop_mode == HI_VENC_GOP_MODE_BIPRED_B) {
    o.b_frames = std::min(gop.bipred_b.b_frame_num, 3u);
    o.ip_qp_delta = gop.bipred_b.ip_qp_delta;
    if (o.profile == "baseline") o.profile = "main";  // which has B frames
  }
  o.block_rate_control = any(s.rc.threshold_i, HI_VENC_TEXTURE_THRESHOLD_SIZE) ||
                         any(s.rc.threshold_p, HI_VENC_TEXTURE_THRESHOLD_SIZE);
  o.scene_cut = s.rc.scene_chg_detect.detect_scene_chg_en != HI_FALSE &&
                s.rc.scene_chg_detect.adapt_insert_idr_frame_en != HI_FALSE;
  o.intra_refresh = s.refresh.refresh_enable != HI_FALSE;
  if (s.slices.split_enable && s.slices.split_size > 0) {
    // split_size counts rows of blocks, 16 high in H.264 and 64 in H.265.
    const hi_u32 rows = (o.height + (h265 ? 63 : 15)) / (h265 ? 64 : 16);
    o.slices = std::max(1u, (rows + s.slices.split_size - 1) / s.slices.split_size);
  }
  // Scenes of films and games keep detail where it hides coding errors.
  if (s.scene == HI_VENC_SCENE_1) o.more = h265 ? "psy-rd=2.0" : "psy-rd=1.0,0.15";
  return o;
}

}  // namespace anynpu::mpi
