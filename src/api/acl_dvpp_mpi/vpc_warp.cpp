// SPDX-License-Identifier: Apache-2.0
// Warping by matrices and tables (acl.himpi.vpc_warp_affine and similar).
#include "api/acl_dvpp_mpi/vpc_call.h"

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_vpc_get_affine_transform(hi_point_pair_info* point_pair_info,
                                       hi_transform_matrix* matrix) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(point_pair_info, "point_pair_info"));
    ANYNPU_TRY(mpi::check_pointer(matrix, "matrix"));
    ANYNPU_ASSIGN(const auto found, media::affine_through_points(points_of(*point_pair_info)));
    give(found, matrix);
    return {};
  });
}

hi_s32 hi_mpi_vpc_get_rotation_matrix(hi_float_point center_point, hi_double angle, hi_double scale,
                                      hi_transform_matrix* matrix) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(matrix, "matrix"));
    ANYNPU_ASSIGN(const auto found, media::rotation_matrix(point_of(center_point), angle, scale));
    give(found, matrix);
    return {};
  });
}

hi_s32 hi_mpi_vpc_get_lut_mem_size(hi_u32 width, hi_u32 height, hi_u32* lut_size) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(lut_size, "lut_size"));
    ANYNPU_ASSIGN(*lut_size, media::warp_table_bytes(width, height));
    return {};
  });
}

hi_s32 hi_mpi_vpc_get_affine_lut(hi_point_pair_info* point_pair_info, hi_u32 interpolation,
                                 hi_remap_lut* remap_lut) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(point_pair_info, "point_pair_info"));
    ANYNPU_ASSIGN(const auto table, table_of(remap_lut));
    return media::fill_affine_table(points_of(*point_pair_info), interpolation, table);
  });
}

hi_s32 hi_mpi_vpc_get_perspective_lut(hi_point_pair_info* point_pair_info, hi_u32 interpolation,
                                      hi_remap_lut* remap_lut) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(point_pair_info, "point_pair_info"));
    ANYNPU_ASSIGN(const auto table, table_of(remap_lut));
    return media::fill_perspective_table(points_of(*point_pair_info), interpolation, table);
  });
}

hi_s32 hi_mpi_vpc_get_remap_lut(hi_map_param* map_param, hi_remap_lut* remap_lut) {
  return mpi::enter(__func__, Module::vpc, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(map_param, "map_param"));
    ANYNPU_ASSIGN(const auto table, table_of(remap_lut));
    const auto [xs, ys, bytes] = maps_of(*map_param);
    return media::fill_table_from_maps(xs, ys, bytes, table);
  });
}

hi_s32 hi_mpi_vpc_warp_affine(hi_vpc_chn chn, hi_transform_matrix* matrix,
                              hi_warp_transform_param* transform_param, hi_u32* task_id,
                              hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(matrix, "matrix"));
    ANYNPU_TRY(mpi::check_pointer(transform_param, "transform_param"));
    ANYNPU_ASSIGN(const auto affine, matrix_of(*matrix));
    return media::add_affine_warp(job, warp_of(*transform_param), affine);
  });
}

hi_s32 hi_mpi_vpc_lut_remap(hi_vpc_chn chn, hi_warp_transform_param* transform_param,
                            hi_remap_lut* remap_lut, hi_u32* task_id, hi_s32 milli_sec) {
  return run_vpc(__func__, chn, task_id, milli_sec, [&](VpcJob& job) -> Status {
    ANYNPU_TRY(mpi::check_pointer(transform_param, "transform_param"));
    ANYNPU_ASSIGN(const auto table, table_of(remap_lut));
    return media::add_table_warp(job, warp_of(*transform_param), table);
  });
}
