// SPDX-License-Identifier: Apache-2.0
// What programs ask of the picture unit beside work: colour matrices of channels, strides, memory.
#include <algorithm>

#include "api/acl_dvpp_mpi/vpc_call.h"
#include "base/align.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

Status check_module(hi_mod_id mod_id) {
  if (mod_id == HI_ID_VPC) return {};
  return fail(Code::unsupported_feature,
              "the module is {}; colour matrices belong to {} (VPC) here", mod_id, HI_ID_VPC);
}

hi_coefficient numbers_of(const pixel::Matrix& m) {
  return {m.m[0], m.m[1], m.m[2], m.m[3],    m.m[4],    m.m[5],
          m.m[6], m.m[7], m.m[8], m.bias[0], m.bias[1], m.bias[2]};
}

pixel::Matrix matrix_of(const hi_coefficient& c) {
  return {{c.csc_matrix_r0_c0, c.csc_matrix_r0_c1, c.csc_matrix_r0_c2, c.csc_matrix_r1_c0,
           c.csc_matrix_r1_c1, c.csc_matrix_r1_c2, c.csc_matrix_r2_c0, c.csc_matrix_r2_c1,
           c.csc_matrix_r2_c2},
          {c.csc_bias_r0, c.csc_bias_r1, c.csc_bias_r2}};
}

// Numbers that the fixed-point arithmetic of conversions can hold.
Status check_numbers(const pixel::Matrix& matrix) {
  for (double value : matrix.m)
    if (!(value >= -16 && value <= 16))
      return fail(Code::invalid_argument, "a coefficient is {}; expected -16 to 16", value);
  for (double value : matrix.bias)
    if (!(value >= -1024 && value <= 1024))
      return fail(Code::invalid_argument, "a bias is {}; expected -1024 to 1024", value);
  return {};
}

// Multiples that strides have in each unit where the program leaves them open.
struct Multiples {
  hi_s32 module;
  uint32_t width, height;
};
constexpr Multiples kMultiples[] = {{HI_ID_VPC, 16, 2},
                                    {HI_ID_VDEC, 16, 2},
                                    {HI_ID_VENC, 16, 2},
                                    {HI_ID_JPEGE, 16, 2},
                                    {HI_ID_JPEGD, 128, 16}};

}  // namespace

hi_s32 hi_mpi_sys_set_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn, hi_csc_matrix csc_matrix,
                                     hi_csc_coefficient* csc_coefficient) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_module(mod_id));
    ANYNPU_ASSIGN(auto channel, vpc_channels().find(chn));
    if (csc_matrix == HI_CSC_MATRIX_USER) {
      ANYNPU_TRY(check_pointer(csc_coefficient, "csc_coefficient"));
      pixel::ColorMatrix own;
      own.to_rgb = matrix_of(csc_coefficient->yuv_to_rgb_coefficient);
      own.to_yuv = matrix_of(csc_coefficient->rgb_to_yuv_coefficient);
      ANYNPU_TRY(check_numbers(own.to_rgb));
      ANYNPU_TRY(check_numbers(own.to_yuv));
      channel->set_matrix(csc_matrix, own);
      return {};
    }
    if (csc_matrix < HI_CSC_MATRIX_BT601_WIDE || csc_matrix > HI_CSC_MATRIX_BT2020_NARROW)
      return fail(Code::invalid_argument, "the matrix is {}; expected 0 to 5, or 100 (one's own)",
                  csc_matrix);
    channel->set_matrix(csc_matrix, pixel::color_matrix(static_cast<uint32_t>(csc_matrix)));
    return {};
  });
}

hi_s32 hi_mpi_sys_get_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn, hi_csc_matrix* csc_matrix,
                                     hi_csc_coefficient* csc_coefficient) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_module(mod_id));
    ANYNPU_TRY(check_pointer(csc_matrix, "csc_matrix"));
    ANYNPU_TRY(check_pointer(csc_coefficient, "csc_coefficient"));
    ANYNPU_ASSIGN(auto channel, vpc_channels().find(chn));
    const auto [number, matrix] = channel->matrix();
    *csc_matrix = number;
    csc_coefficient->yuv_to_rgb_coefficient = numbers_of(matrix.to_rgb);
    csc_coefficient->rgb_to_yuv_coefficient = numbers_of(matrix.to_yuv);
    return {};
  });
}

hi_s32 hi_mpi_sys_get_image_align_info(const hi_s32* mod_type, hi_u32 mod_num,
                                       const hi_img_base_info* img_base_info,
                                       hi_img_align_info* img_align_info) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_pointer(mod_type, "mod_type"));
    ANYNPU_TRY(check_pointer(img_base_info, "img_base_info"));
    ANYNPU_TRY(check_pointer(img_align_info, "img_align_info"));
    if (mod_num < 1 || mod_num > 16)
      return fail(Code::invalid_argument, "{} modules; expected 1 to 16", mod_num);
    ANYNPU_ASSIGN(const pixel::Format* format,
                  media::check_format(img_base_info->pixel_format, media::kVpcRules, "picture"));
    if (img_base_info->width < 1 || img_base_info->height < 1 || img_base_info->width > 8192 ||
        img_base_info->height > 8192)
      return fail(Code::invalid_argument, "the picture has {}x{} pixels; expected 1x1 to 8192x8192",
                  img_base_info->width, img_base_info->height);
    Multiples all{0, 1, 1};
    for (hi_u32 i = 0; i < mod_num; ++i) {
      const Multiples* found = nullptr;
      for (const Multiples& known : kMultiples)
        if (known.module == mod_type[i]) found = &known;
      if (found == nullptr)
        return fail(Code::invalid_argument,
                    "module {} has no rule for strides; expected 5 (VDEC), 7 (VPC), 8 (VENC), 11 "
                    "(JPEGE) or 14 (JPEGD)",
                    mod_type[i]);
      // Each of them divides the larger ones.
      all.width = std::max(all.width, found->width);
      all.height = std::max(all.height, found->height);
    }
    *img_align_info = {};
    img_align_info->width_stride = round_up(img_base_info->width, all.width) * format->bytes;
    img_align_info->height_stride = round_up(img_base_info->height, all.height);
    img_align_info->img_buf_size =
        pixel::picture_bytes(*format, img_align_info->width_stride, img_align_info->height_stride);
    return {};
  });
}

// Channels take the memory they need when they need it: there is nothing to set aside.
hi_s32 hi_mpi_vpc_set_chn_workspace(hi_vpc_chn chn, const hi_vpc_workspace_param* workspace_param,
                                    hi_u32 param_cnt) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(vpc_channels().find(chn).status());
    ANYNPU_TRY(check_pointer(workspace_param, "workspace_param"));
    for (hi_u32 i = 0; i < param_cnt; ++i)
      if (workspace_param[i].func != REMAP && workspace_param[i].func != AFFINE)
        return fail(Code::invalid_argument, "the function is {}; expected 0 (remap) or 1 (affine)",
                    workspace_param[i].func);
    return {};
  });
}
