// SPDX-License-Identifier: Apache-2.0
#include "api/acl_dvpp_mpi/convert_stitching.h"

#include <algorithm>

#include "api/acl_dvpp_mpi/convert_vpc.h"
#include "api/acl_dvpp_mpi/mpi.h"

namespace anynpu::mpi {
namespace {

constexpr hi_u32 kMostPictures = 16;

void give(const pixel::Histogram& from, hi_vpc_histogram_config* to) {
  std::copy_n(from.count[0], 256, to->histogram_y_or_r);
  std::copy_n(from.count[1], 256, to->histogram_u_or_g);
  std::copy_n(from.count[2], 256, to->histogram_v_or_b);
}

void give(const pixel::Lookup& from, hi_vpc_lut_remap* to) {
  std::copy_n(from.value[0], 256, to->map_value_y_or_r);
  std::copy_n(from.value[1], 256, to->map_value_u_or_g);
  std::copy_n(from.value[2], 256, to->map_value_v_or_b);
}

void take(const hi_vpc_lut_remap& from, pixel::Lookup* to) {
  std::copy_n(from.map_value_y_or_r, 256, to->value[0]);
  std::copy_n(from.map_value_u_or_g, 256, to->value[1]);
  std::copy_n(from.map_value_v_or_b, 256, to->value[2]);
}

// The program's function gets its own pointer, a histogram and a table for each picture.
int32_t call_program(const hi_stitching_gain_param& gain,
                     std::span<const media::StitchGain> pictures) {
  std::vector<hi_stitching_histogram_param> histograms(pictures.size());
  std::vector<hi_vpc_lut_remap> tables(pictures.size());
  const auto count = static_cast<hi_u32>(pictures.size());
  for (hi_u32 i = 0; i < count; ++i) {
    histograms[i].pic_index = histograms[i].overlap_pic_index = i;
    give(*pictures[i].histogram, &histograms[i].histogram_info);
    give(*pictures[i].lookup, &tables[i]);
  }
  const hi_s32 code =
      gain.calulate_gain_callback(gain.user_data, histograms.data(), count, tables.data(), count);
  for (hi_u32 i = 0; i < count; ++i) take(tables[i], pictures[i].lookup);
  return code;
}

// Documents do not say whether the length counts bytes or entries: a number that is exactly one
// entry a pixel counts entries.
uint32_t table_bytes(const hi_stiching_ipm_param& param) {
  const uint64_t pixels = uint64_t{param.dest_pic_width} * param.dest_pic_height;
  const uint64_t bytes = pixels * sizeof(hi_stiching_ipm_table);
  return param.ipm_table_len == pixels && bytes <= UINT32_MAX ? static_cast<uint32_t>(bytes)
                                                              : param.ipm_table_len;
}

Status check_kinds(const hi_roundview_stitching_param& param) {
  if (param.stitch_table_type != 0)
    return fail(Code::unsupported_feature,
                "stitch_table_type is {}; only tables of hi_stiching_ipm_table (0) are supported",
                param.stitch_table_type);
  const hi_stitching_gain_param& gain = param.gain_conf;
  if (gain.gain_type != GAIN_NONE && gain.gain_type != GAIN_LUT)
    return fail(Code::invalid_argument, "gain_type is {}; expected 0 (none) or 1 (tables)",
                gain.gain_type);
  if (gain.gain_type == GAIN_LUT && gain.hist_type != GLOBAL_HISTOGRAM)
    return fail(Code::unsupported_feature,
                "hist_type is {}; gains are computed from histograms of whole pictures (1)",
                gain.hist_type);
  if (gain.gain_type == GAIN_LUT)
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(gain.calulate_gain_callback),
                             "calulate_gain_callback"));
  return {};
}

}  // namespace

Result<media::StitchSpec> stitching_of(const hi_roundview_stitching_param& param) {
  ANYNPU_TRY(check_kinds(param));
  const hi_stiching_ipm_param& i = param.imp_conf;
  media::StitchSpec spec{i.src_pic_width,
                         i.src_pic_height,
                         i.dest_pic_width,
                         i.dest_pic_height,
                         i.ipm_table_address,
                         table_bytes(i),
                         {}};
  if (param.gain_conf.gain_type == GAIN_LUT)
    spec.gains = [gain = param.gain_conf](std::span<const media::StitchGain> pictures) {
      return call_program(gain, pictures);
    };
  return spec;
}

Result<StitchedPictures> stitched_pictures_of(const hi_roundview_stitching_pic_param* param) {
  ANYNPU_TRY(check_pointer(param, "roundview_stitching_pic_param"));
  ANYNPU_TRY(check_pointer(param->dest_pic, "dest_pic"));
  ANYNPU_TRY(check_pointer(param->source_pic, "source_pic"));
  if (param->count < 1 || param->count > kMostPictures)
    return fail(Code::invalid_argument, "{} pictures; expected 1 to {}", param->count,
                kMostPictures);
  StitchedPictures out;
  out.to = spec_of(*param->dest_pic);
  for (hi_u32 i = 0; i < param->count; ++i) out.from.push_back(spec_of(param->source_pic[i]));
  return out;
}

}  // namespace anynpu::mpi
