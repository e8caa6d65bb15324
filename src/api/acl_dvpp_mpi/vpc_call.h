// SPDX-License-Identifier: Apache-2.0
// The common form of VPC calls: add work to a job, queue it, return its number.
#pragma once

#include "api/acl_dvpp_mpi/convert_vpc.h"
#include "api/acl_dvpp_mpi/mpi.h"

namespace anynpu::mpi {

using media::vpc_channels;
using media::VpcChannel;
using media::VpcJob;

// `add` converts the arguments and adds one piece of work.
template <typename Add>
hi_s32 run_vpc(const char* function, hi_vpc_chn chn, hi_u32* task_id, hi_s32 milli_sec, Add&& add) {
  return on_channel(function, Module::vpc, vpc_channels(), chn, [&](VpcChannel& vpc) -> Status {
    ANYNPU_TRY(check_pointer(task_id, "task_id"));
    ANYNPU_ASSIGN(*task_id, vpc.run(milli_sec, add));
    return {};
  });
}

// Regions of one picture.
template <typename Region>
hi_s32 run_regions(const char* function, hi_vpc_chn chn, const hi_vpc_pic_info* from,
                   const Region* regions, hi_u32 count, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const Regions call, regions_of(from, regions, count));
    return media::add_regions(job, call.from, call.regions);
  });
}

// Regions of several pictures: counts[i] of picture i.
template <typename Region>
hi_s32 run_batch(const char* function, hi_vpc_chn chn, const hi_vpc_pic_info** from,
                 hi_u32 pictures, const Region* regions, const hi_u32* counts, hi_u32* task_id,
                 hi_s32 milli_sec) {
  return run_vpc(function, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(check_pointer(from, "source_pic"));
    ANYNPU_TRY(check_pointer(counts, "count"));
    ANYNPU_TRY(media::check_region_count(pictures));
    for (hi_u32 i = 0; i < pictures; ++i) {
      ANYNPU_ASSIGN(const Regions call, regions_of(from[i], regions, counts[i]));
      ANYNPU_TRY(media::add_regions(job, call.from, call.regions));
      regions += counts[i];
    }
    return {};
  });
}

}  // namespace anynpu::mpi
