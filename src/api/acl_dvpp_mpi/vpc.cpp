// SPDX-License-Identifier: Apache-2.0
// Channels for pictures, and cutting, scaling, pasting, converting, counting (acl.himpi.vpc_*).
#include "api/acl_dvpp_mpi/vpc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vpc_create_chn(hi_vpc_chn chn, const hi_vpc_chn_attr* attr) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    return vpc_channels().create(chn, VpcChannel::open);
  });
}

hi_s32 hi_mpi_vpc_sys_create_chn(hi_vpc_chn* chn, const hi_vpc_chn_attr* attr) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(chn, "chn"));
    ANYNPU_TRY(mpi::check_pointer(attr, "attr"));
    ANYNPU_ASSIGN(*chn, media::create_vpc_channel());
    return {};
  });
}

hi_s32 hi_mpi_vpc_destroy_chn(hi_vpc_chn chn) {
  return mpi::enter(__func__, Module::vpc,
                    [&]() -> Status { return vpc_channels().remove(chn).status(); });
}

hi_s32 hi_mpi_vpc_get_process_result(hi_vpc_chn chn, hi_u32 task_id, hi_s32 milli_sec) {
  return on_channel(__func__, Module::vpc, vpc_channels(), chn,
                    [&](VpcChannel& channel) { return channel.wait(task_id, milli_sec); });
}

hi_s32 hi_mpi_vpc_resize(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                         hi_vpc_pic_info* dest_pic, hi_double fx, hi_double fy,
                         hi_u32 interpolation, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_of(source_pic, dest_pic));
    return media::add_resize(job, pair.from, pair.to, interpolation);
  });
}

hi_s32 hi_mpi_vpc_crop(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                       hi_vpc_crop_region_info* crop_info, hi_u32 count, hi_u32* task_id,
                       hi_s32 milli_sec) {
  return run_regions(__func__, chn, source_pic, crop_info, count, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_crop_resize(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                              hi_vpc_crop_resize_region* crop_resize_info, hi_u32 count,
                              hi_u32* task_id, hi_s32 milli_sec) {
  return run_regions(__func__, chn, source_pic, crop_resize_info, count, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                    hi_vpc_crop_resize_paste_region* crop_resize_paste_info,
                                    hi_u32 count, hi_u32* task_id, hi_s32 milli_sec) {
  return run_regions(__func__, chn, source_pic, crop_resize_paste_info, count, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_crop_resize_resize_paste(
    hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
    hi_vpc_crop_resize_resize_paste_region* crop_resize_resize_paste_info, hi_u32 count,
    hi_u32* task_id, hi_s32 milli_sec) {
  return run_regions(__func__, chn, source_pic, crop_resize_resize_paste_info, count, task_id,
                     milli_sec);
}

hi_s32 hi_mpi_vpc_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
    hi_vpc_crop_resize_border_region* crop_resize_make_border_info, hi_u32 count, hi_u32* task_id,
    hi_s32 milli_sec) {
  return run_regions(__func__, chn, source_pic, crop_resize_make_border_info, count, task_id,
                     milli_sec);
}

hi_s32 hi_mpi_vpc_batch_crop_resize_paste(hi_vpc_chn chn, const hi_vpc_pic_info** source_pic,
                                          hi_u32 pic_num,
                                          hi_vpc_crop_resize_paste_region* crop_resize_paste_info,
                                          hi_u32* count, hi_u32* task_id, hi_s32 milli_sec) {
  return run_batch(__func__, chn, source_pic, pic_num, crop_resize_paste_info, count, task_id,
                   milli_sec);
}

hi_s32 hi_mpi_vpc_batch_crop_resize_make_border(
    hi_vpc_chn chn, const hi_vpc_pic_info** source_pic, hi_u32 pic_num,
    hi_vpc_crop_resize_border_region* crop_resize_make_border_info, hi_u32* count, hi_u32* task_id,
    hi_s32 milli_sec) {
  return run_batch(__func__, chn, source_pic, pic_num, crop_resize_make_border_info, count, task_id,
                   milli_sec);
}

hi_s32 hi_mpi_vpc_convert_color(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                hi_vpc_pic_info* dest_pic, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_of(source_pic, dest_pic));
    return job.add_conversion(pair.from, pair.to);
  });
}

hi_s32 hi_mpi_vpc_convert_color_to_yuv420(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                          hi_vpc_pic_info* dest_pic, hi_u32* task_id,
                                          hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_of(source_pic, dest_pic));
    return media::add_yuv420_conversion(job, pair.from, pair.to);
  });
}

hi_s32 hi_mpi_vpc_convert_color_v2(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                   hi_vpc_pic_info* dest_pic, hi_csc_conf* conf, hi_u32* task_id,
                                   hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_of(source_pic, dest_pic));
    ANYNPU_TRY(mpi::check_pointer(conf, "conf"));
    return media::add_alpha_conversion(job, pair.from, pair.to, alpha_of(*conf));
  });
}

hi_s32 hi_mpi_vpc_copy_make_border(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                   hi_vpc_pic_info* dest_pic,
                                   hi_vpc_make_border_info make_border_info, hi_u32* task_id,
                                   hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_of(source_pic, dest_pic));
    const auto [left, top] = offset_of(make_border_info);
    return media::add_bordered(job, pair.from, pair.to, left, top, border_of(make_border_info));
  });
}

namespace {

hi_s32 count_values(const char* function, hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                    hi_vpc_histogram_config* hist_config, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(source_pic, "source_pic"));
    return media::add_histogram(job, spec_of(*source_pic), counts_of(hist_config));
  });
}

}  // namespace

hi_s32 hi_mpi_vpc_calc_hist(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                            hi_vpc_histogram_config* hist_config, hi_u32* task_id,
                            hi_s32 milli_sec) {
  return count_values(__func__, chn, source_pic, hist_config, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_calc_hist_v2(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                               hi_vpc_histogram_config* hist_config, hi_u32* task_id,
                               hi_s32 milli_sec) {
  return count_values(__func__, chn, source_pic, hist_config, task_id, milli_sec);
}

hi_s32 hi_mpi_vpc_equalize_hist(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                                hi_vpc_pic_info* dest_pic, const hi_vpc_lut_remap* lut_remap,
                                hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto pair, pair_of(source_pic, dest_pic));
    ANYNPU_TRY(mpi::check_pointer(lut_remap, "lut_remap"));
    return job.add_lookup(pair.from, pair.to, lookup_of(*lut_remap));
  });
}
