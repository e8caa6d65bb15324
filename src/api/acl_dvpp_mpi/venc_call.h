// SPDX-License-Identifier: Apache-2.0
// The shape of calls on encoder channels.
#pragma once

#include "api/acl_dvpp_mpi/convert_venc.h"
#include "api/acl_dvpp_mpi/mpi.h"

namespace anynpu::mpi {

using media::venc_channels;
using media::VencChannel;

template <typename Do>
hi_s32 on_venc(const char* function, hi_venc_chn chn, Do&& act) {
  return on_channel(function, Module::venc, venc_channels(), chn, act);
}

}  // namespace anynpu::mpi
