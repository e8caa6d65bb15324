// SPDX-License-Identifier: Apache-2.0
// Drawing into pictures (acl.himpi.vpc_draw_cover and similar).
#include "api/acl_dvpp_mpi/vpc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vpc_draw_cover(hi_vpc_chn chn, const hi_cover_param* cover_param, hi_u32* task_id,
                             hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto covers, shapes_of(cover_param));
    return media::add_covers(job, pair_of(*cover_param), covers);
  });
}

hi_s32 hi_mpi_vpc_draw_line(hi_vpc_chn chn, const hi_line_param* line_param, hi_u32* task_id,
                            hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto lines, shapes_of(line_param));
    return media::add_lines(job, pair_of(*line_param), lines);
  });
}

hi_s32 hi_mpi_vpc_draw_mosaic(hi_vpc_chn chn, const hi_mosaic_param* mosaic_param, hi_u32* task_id,
                              hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_ASSIGN(const auto mosaics, shapes_of(mosaic_param));
    return media::add_mosaics(job, pair_of(*mosaic_param), mosaics);
  });
}
