// SPDX-License-Identifier: Apache-2.0
// Settings of channels for pictures: colour matrices, memory.
#include "api/acl_dvpp_mpi/vpc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

Status check_matrix_module(hi_mod_id mod_id) {
  if (mod_id == HI_ID_VPC) return {};
  return fail(Code::unsupported_feature,
              "the module is {}; colour matrices belong to {} (VPC) here", mod_id, HI_ID_VPC);
}

}  // namespace

hi_s32 hi_mpi_sys_set_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn, hi_csc_matrix csc_matrix,
                                     hi_csc_coefficient* csc_coefficient) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_matrix_module(mod_id));
    ANYNPU_ASSIGN(auto channel, vpc_channels().find(chn));
    ANYNPU_ASSIGN(const auto matrix, matrix_of(csc_matrix, csc_coefficient));
    return channel->set_matrix(matrix);
  });
}

hi_s32 hi_mpi_sys_get_chn_csc_matrix(hi_mod_id mod_id, hi_s32 chn, hi_csc_matrix* csc_matrix,
                                     hi_csc_coefficient* csc_coefficient) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(check_matrix_module(mod_id));
    ANYNPU_TRY(mpi::check_pointer(csc_matrix, "csc_matrix"));
    ANYNPU_TRY(mpi::check_pointer(csc_coefficient, "csc_coefficient"));
    ANYNPU_ASSIGN(auto channel, vpc_channels().find(chn));
    give(channel->matrix(), csc_matrix, csc_coefficient);
    return {};
  });
}

// Channels take the memory they need when they need it: there is nothing to set aside.
hi_s32 hi_mpi_vpc_set_chn_workspace(hi_vpc_chn chn, hi_vpc_workspace_param* workspace_param,
                                    hi_u32 param_cnt) {
  return on_channel(__func__, Module::vpc, vpc_channels(), chn,
                    [&](VpcChannel&) { return check_workspaces(workspace_param, param_cnt); });
}
