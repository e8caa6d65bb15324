// SPDX-License-Identifier: Apache-2.0
// Surround view from several pictures (hi_mpi_vpc_roundview_stitching and its parameters).
#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/convert_stitching.h"
#include "api/acl_dvpp_mpi/vpc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vpc_set_roundview_stitching_param(hi_vpc_chn chn,
                                                const hi_roundview_stitching_param* stitch_param) {
  return on_channel(__func__, Module::vpc, vpc_channels(), chn, [&](VpcChannel& vpc) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stitch_param, "stitch_param"));
    ANYNPU_ASSIGN(auto spec, stitching_of(*stitch_param));
    return vpc.set_stitching(std::move(spec), record_of(*stitch_param));
  });
}

hi_s32 hi_mpi_vpc_get_roundview_stitching_param(hi_vpc_chn chn,
                                                hi_roundview_stitching_param* stitch_param) {
  return on_channel(__func__, Module::vpc, vpc_channels(), chn, [&](VpcChannel& vpc) -> Status {
    ANYNPU_TRY(mpi::check_pointer(stitch_param, "stitch_param"));
    if (!give_record(vpc.stitching_record(), stitch_param)) *stitch_param = {};
    return {};
  });
}

hi_s32 hi_mpi_vpc_roundview_stitching(
    hi_vpc_chn chn, hi_roundview_stitching_pic_param* roundview_stitching_pic_param,
    hi_u32* task_id, hi_s32 milli_sec) {
  return on_channel(__func__, Module::vpc, vpc_channels(), chn, [&](VpcChannel& vpc) -> Status {
    ANYNPU_TRY(mpi::check_pointer(task_id, "task_id"));
    ANYNPU_ASSIGN(const auto pictures, stitched_pictures_of(roundview_stitching_pic_param));
    ANYNPU_ASSIGN(*task_id, vpc.stitch(pictures.from, pictures.to, milli_sec));
    return {};
  });
}
