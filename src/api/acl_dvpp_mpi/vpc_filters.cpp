// SPDX-License-Identifier: Apache-2.0
// Filters, flips, rotations and pyramids of pictures (acl.himpi.vpc_blur and similar).
#include "api/acl_dvpp_mpi/vpc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

// Filters have two pictures in their parameters: `add` gets them, for a job.
template <typename Param, typename Add>
hi_s32 run_filter(const char* function, hi_vpc_chn chn, const Param* param, const char* name,
                  hi_u32* task_id, hi_s32 milli_sec, Add&& add) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(param, name));
    return add(job, pair_of(*param));
  });
}

}  // namespace

hi_s32 hi_mpi_vpc_blur(hi_vpc_chn chn, const hi_blur_param* blur_param, hi_u32* task_id,
                       hi_s32 milli_sec) {
  return run_filter(__func__, chn, blur_param, "blur_param", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      const media::MorphSpec blur = morph_of(*blur_param);
                      return media::add_blur(job, pair, blur.kernel, blur.border);
                    });
}

hi_s32 hi_mpi_vpc_gaussian_blur(hi_vpc_chn chn, const hi_gaussian_blur_param* gaussian_blur_param,
                                hi_u32* task_id, hi_s32 milli_sec) {
  return run_filter(__func__, chn, gaussian_blur_param, "gaussian_blur_param", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_gaussian_blur(job, pair, gaussian_of(*gaussian_blur_param));
                    });
}

hi_s32 hi_mpi_vpc_filter2d(hi_vpc_chn chn, const hi_filter_2d_param* filter_2d_param,
                           hi_u32* task_id, hi_s32 milli_sec) {
  return run_filter(__func__, chn, filter_2d_param, "filter_2d_param", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_filter(job, pair, filter_of(*filter_2d_param));
                    });
}

hi_s32 hi_mpi_vpc_median_blur(hi_vpc_chn chn, const hi_median_blur_param* median_blur_param,
                              hi_u32* task_id, hi_s32 milli_sec) {
  return run_filter(__func__, chn, median_blur_param, "median_blur_param", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_median_blur(job, pair, side_of(*median_blur_param));
                    });
}

hi_s32 hi_mpi_vpc_dilate(hi_vpc_chn chn, const hi_blur_param* dilate_param, hi_u32* task_id,
                         hi_s32 milli_sec) {
  return run_filter(__func__, chn, dilate_param, "the parameters", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_morph(job, pair, morph_of(*dilate_param),
                                              pixel::Rank::most);
                    });
}

hi_s32 hi_mpi_vpc_erode(hi_vpc_chn chn, const hi_blur_param* erode_param, hi_u32* task_id,
                        hi_s32 milli_sec) {
  return run_filter(__func__, chn, erode_param, "the parameters", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_morph(job, pair, morph_of(*erode_param),
                                              pixel::Rank::least);
                    });
}

hi_s32 hi_mpi_vpc_flip(hi_vpc_chn chn, hi_flip_param* flip_param, hi_u32* task_id,
                       hi_s32 milli_sec) {
  return run_filter(__func__, chn, flip_param, "flip_param", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_flip(job, pair, mode_of(*flip_param));
                    });
}

hi_s32 hi_mpi_vpc_rotate(hi_vpc_chn chn, const hi_rotate_param* rotate_param, hi_u32* task_id,
                         hi_s32 milli_sec) {
  return run_filter(__func__, chn, rotate_param, "rotate_param", task_id, milli_sec,
                    [&](VpcJob& job, const media::PicturePair& pair) {
                      return media::add_rotation(job, pair, turn_of(*rotate_param));
                    });
}

hi_s32 hi_mpi_vpc_pyrdown(hi_vpc_chn chn, const hi_vpc_pic_info* source_pic,
                          hi_vpc_pic_info* dest_pic, hi_u32 filter_level,
                          hi_s8 gaussian_filter[][5], hi_u16 divisor,
                          hi_vpc_make_border_info make_border_info, hi_u32* task_id,
                          hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(source_pic, "source_pic"));
    ANYNPU_ASSIGN(const auto levels, levels_of(dest_pic, filter_level));
    return media::add_pyramid(job, spec_of(*source_pic),
                              {levels, gaussian_filter, divisor, border_of(make_border_info)});
  });
}
