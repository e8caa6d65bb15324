// SPDX-License-Identifier: Apache-2.0
// Settings of encoder channels, structure by structure.
#include <algorithm>

#include "api/acl_dvpp_mpi/convert_picture.h"
#include "api/acl_dvpp_mpi/convert_venc.h"

namespace anynpu::mpi {
namespace {

using media::RateLimits;
using media::RateMode;
using media::RateSettings;

// One rate control: its number, and which fields are its own.
struct RateRow {
  hi_venc_rc_mode number;
  RateMode mode;
  RateSettings (*rate)(const hi_venc_rc_attr&);
  RateLimits (*limits)(const hi_venc_rc_param&);
};

#define BITS(number, mode, field, bits)                           \
  {                                                               \
    number, RateMode::mode,                                       \
        [](const hi_venc_rc_attr& a) -> RateSettings {            \
          return {RateMode::mode,                                 \
                  a.rc_mode,                                      \
                  a.field.gop,                                    \
                  a.field.stats_time,                             \
                  a.field.src_frame_rate,                         \
                  a.field.dst_frame_rate,                         \
                  a.field.bits,                                   \
                  0,                                              \
                  0,                                              \
                  0};                                             \
        },                                                        \
        [](const hi_venc_rc_param& p) -> RateLimits {             \
          return {p.field##_param.min_qp, p.field##_param.max_qp, \
                  p.field##_param.max_i_proportion};              \
        }                                                         \
  }
#define FIXED(number, mode, field)                               \
  {                                                              \
    number, RateMode::mode,                                      \
        [](const hi_venc_rc_attr& a) -> RateSettings {           \
          return {RateMode::mode,                                \
                  a.rc_mode,                                     \
                  a.field.gop,                                   \
                  1,                                             \
                  a.field.src_frame_rate,                        \
                  a.field.dst_frame_rate,                        \
                  0,                                             \
                  a.field.i_qp,                                  \
                  a.field.p_qp,                                  \
                  a.field.b_qp};                                 \
        },                                                       \
        [](const hi_venc_rc_param&) -> RateLimits { return {}; } \
  }

constexpr RateRow kRates[] = {
    BITS(HI_VENC_RC_MODE_H264_CBR, h264_cbr, h264_cbr, bit_rate),
    BITS(HI_VENC_RC_MODE_H264_VBR, h264_vbr, h264_vbr, max_bit_rate),
    BITS(HI_VENC_RC_MODE_H264_AVBR, h264_avbr, h264_avbr, max_bit_rate),
    BITS(HI_VENC_RC_MODE_H264_QVBR, h264_qvbr, h264_qvbr, target_bit_rate),
    BITS(HI_VENC_RC_MODE_H264_CVBR, h264_cvbr, h264_cvbr, max_bit_rate),
    FIXED(HI_VENC_RC_MODE_H264_FIXQP, h264_fixed_qp, h264_fixqp),
    BITS(HI_VENC_RC_MODE_H265_CBR, h265_cbr, h265_cbr, bit_rate),
    BITS(HI_VENC_RC_MODE_H265_VBR, h265_vbr, h265_vbr, max_bit_rate),
    BITS(HI_VENC_RC_MODE_H265_AVBR, h265_avbr, h265_avbr, max_bit_rate),
    BITS(HI_VENC_RC_MODE_H265_QVBR, h265_qvbr, h265_qvbr, target_bit_rate),
    BITS(HI_VENC_RC_MODE_H265_CVBR, h265_cvbr, h265_cvbr, max_bit_rate),
    FIXED(HI_VENC_RC_MODE_H265_FIXQP, h265_fixed_qp, h265_fixqp),
};
#undef BITS
#undef FIXED

RateSettings rate_of(const hi_venc_rc_attr& attr) {
  for (const RateRow& row : kRates)
    if (row.number == attr.rc_mode) return row.rate(attr);
  RateSettings other;
  other.mode_number = attr.rc_mode;
  return other;
}

bool any(const hi_u32 (&values)[HI_VENC_TEXTURE_THRESHOLD_SIZE]) {
  return std::any_of(std::begin(values), std::end(values), [](hi_u32 v) { return v != 0; });
}

template <typename Vui>
media::VideoUsability usability_of(const Vui& vui) {
  const auto& aspect = vui.vui_aspect_ratio;
  const auto& signal = vui.vui_video_signal;
  media::VideoUsability out;
  out.aspect_present = aspect.aspect_ratio_info_present_flag != 0;
  out.aspect_number = aspect.aspect_ratio_idc;
  out.sample_width = aspect.sar_width;
  out.sample_height = aspect.sar_height;
  out.signal_present = signal.video_signal_type_present_flag != 0;
  out.format = signal.video_format;
  out.full_range = signal.video_full_range_flag != 0;
  out.colors_present = signal.colour_description_present_flag != 0;
  out.primaries = signal.colour_primaries;
  out.transfer = signal.transfer_characteristics;
  out.matrix = signal.matrix_coefficients;
  return out;
}

template <size_t n>
media::HuffmanSettings::Table table_of(const hi_u8 (&bits)[16], const hi_u8 (&values)[n]) {
  media::HuffmanSettings::Table table;
  static_assert(n <= sizeof table.values);
  std::copy_n(bits, 16, table.bits.begin());
  std::copy_n(values, n, table.values.begin());
  table.room = n;
  return table;
}

}  // namespace

hi_venc_chn_attr with_payload_type(const hi_venc_chn_attr& attr) {
  hi_venc_chn_attr out = attr;
  // The guide's sample writes HI_VENC_MOD_H265 and HI_VENC_MOD_H264 for the type.
  const int type = attr.venc_attr.type;
  if (type == static_cast<int>(HI_VENC_MOD_H265)) out.venc_attr.type = HI_PT_H265;
  if (type == static_cast<int>(HI_VENC_MOD_H264)) out.venc_attr.type = HI_PT_H264;
  return out;
}

media::VencAttr attr_of(const hi_venc_chn_attr& attr) {
  const hi_venc_attr& a = attr.venc_attr;
  const hi_venc_gop_attr& gop = attr.gop_attr;
  media::VencAttr out;
  out.codec = codec_of(a.type);
  out.type_number = a.type;
  out.width = a.pic_width;
  out.height = a.pic_height;
  out.buffer_bytes = a.buf_size;
  out.profile = a.profile;
  out.whole_frames = a.is_by_frame != HI_FALSE;
  out.rate = rate_of(attr.rc_attr);
  out.gop_mode = gop.gop_mode;
  if (gop.gop_mode == HI_VENC_GOP_MODE_NORMAL_P) out.ip_qp_delta = gop.normal_p.ip_qp_delta;
  if (gop.gop_mode == HI_VENC_GOP_MODE_BIPRED_B) {
    out.ip_qp_delta = gop.bipred_b.ip_qp_delta;
    out.b_frames = gop.bipred_b.b_frame_num;
  }
  return out;
}

void apply(const hi_venc_chn_attr& from, media::VencSettings& to) { to.attr = attr_of(from); }

void apply(const hi_venc_chn_param& from, media::VencSettings& to) {
  to.channel.grey = from.color_to_grey_en != HI_FALSE;
  to.channel.crop = from.crop_info.enable != HI_FALSE;
  to.channel.most_streams = from.max_stream_cnt;
  to.channel.source_rate = from.frame_rate.src_frame_rate;
  to.channel.target_rate = from.frame_rate.dst_frame_rate;
}

void give_new(const media::VencSettings& settings, hi_venc_chn_param* to) {
  *to = {};
  to->max_stream_cnt = settings.channel.most_streams;
  to->frame_rate = {settings.channel.source_rate, settings.channel.target_rate};
}

void apply(const hi_venc_rc_param& from, media::VencSettings& to) {
  to.rate.textures = any(from.threshold_i) || any(from.threshold_p);
  to.rate.first_qp = from.first_frame_start_qp;
  to.rate.find_scenes = from.scene_chg_detect.detect_scene_chg_en != HI_FALSE;
  to.rate.key_at_scenes = from.scene_chg_detect.adapt_insert_idr_frame_en != HI_FALSE;
  for (const RateRow& row : kRates)  // the channel's own is the one that the program wrote
    if (row.mode == to.attr.rate.mode)
      to.rate.limits[static_cast<size_t>(row.mode)] = row.limits(from);
}

void apply(const hi_venc_h264_vui& from, media::VencSettings& to) {
  to.h264_usability = usability_of(from);
}

void apply(const hi_venc_h265_vui& from, media::VencSettings& to) {
  to.h265_usability = usability_of(from);
}

void apply(const hi_venc_intra_refresh& from, media::VencSettings& to) {
  to.intra_refresh = from.refresh_enable != HI_FALSE;
}

void apply(const hi_venc_slice_split& from, media::VencSettings& to) {
  to.slices = {from.split_enable != HI_FALSE, from.split_size};
}

void apply(const hi_venc_jpeg_param& from, media::VencSettings& to) {
  to.jpeg.quality = from.qfactor;
  const hi_u8* tables[] = {from.y_qt, from.cb_qt, from.cr_qt};
  for (int i = 0; i < 3; ++i)
    std::copy_n(tables[i], HI_VENC_JPEG_QT_COEF_NUM, to.jpeg.quant[i].begin());
  to.jpeg.restart_interval = from.mcu_per_ecs;
}

void give_new(const media::VencSettings& settings, hi_venc_jpeg_param* to) {
  *to = {};
  to->qfactor = settings.jpeg.quality;
}

void apply(const hi_venc_jpeg_huffman_param& from, media::VencSettings& to) {
  for (int i = 0; i < 2; ++i) {
    to.huffman.dc[i] = table_of(from.dc_tables[i].dc_bits, from.dc_tables[i].dc_value);
    to.huffman.ac[i] = table_of(from.ac_tables[i].ac_bits, from.ac_tables[i].ac_value);
  }
}

void apply(const hi_venc_roi_attr& from, media::VencSettings& to) {
  to.regions[from.idx] = {from.enable != HI_FALSE,
                          from.is_abs_qp != HI_FALSE,
                          from.idx,
                          from.qp,
                          from.rect.x,
                          from.rect.y,
                          from.rect.width,
                          from.rect.height};
}

media::VencChange region_change_of(const hi_venc_roi_attr& region) {
  media::VencChange change = change_of(region, 0);
  change.region = region.idx;
  return change;
}

Status set_module(const hi_venc_mod_param& param) {
  return media::set_venc_module(param.mod_type, record_of(param), IdleSettings::names_in(param));
}

Status give_module(hi_venc_mod_param* param) {
  const hi_venc_mod_type type = param->mod_type;
  ANYNPU_ASSIGN(const media::Record record, media::venc_module(type));
  if (!give_record(record, param)) *param = {};
  param->mod_type = type;
  return {};
}

}  // namespace anynpu::mpi
