// SPDX-License-Identifier: Apache-2.0
// Regions drawn over the pictures of channels (hi_mpi_rgn_*).
#include "api/acl_dvpp_mpi/convert_record.h"
#include "api/acl_dvpp_mpi/convert_region.h"
#include "api/acl_dvpp_mpi/mpi.h"

using namespace anynpu;
using namespace anynpu::mpi;

namespace {

// Calls that name a channel and say how the region looks there.
template <typename Call>
hi_s32 with_display(const char* function, const hi_mpp_chn* chn, const hi_rgn_chn_attr* chn_attr,
                    Call&& call) {
  return mpi::enter(function, Module::rgn, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(chn, "chn"));
    ANYNPU_TRY(mpi::check_pointer(chn_attr, "chn_attr"));
    return call(name_of(*chn), display_of(*chn_attr));
  });
}

}  // namespace

hi_s32 hi_mpi_rgn_create(hi_rgn_handle handle, const hi_rgn_attr* rgn_attr) {
  return mpi::enter(__func__, Module::rgn, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(rgn_attr, "rgn_attr"));
    return media::create_region(handle, attr_of(*rgn_attr));
  });
}

hi_s32 hi_mpi_rgn_destroy(hi_rgn_handle handle) {
  return mpi::enter(__func__, Module::rgn, [&] { return media::destroy_region(handle); });
}

hi_s32 hi_mpi_rgn_attach_to_chn(hi_rgn_handle handle, const hi_mpp_chn* chn,
                                const hi_rgn_chn_attr* chn_attr) {
  return with_display(__func__, chn, chn_attr, [&](const auto& channel, const auto& display) {
    return media::attach_region(handle, channel, display);
  });
}

hi_s32 hi_mpi_rgn_detach_from_chn(hi_rgn_handle handle, const hi_mpp_chn* chn) {
  return mpi::enter(__func__, Module::rgn, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(chn, "chn"));
    return media::detach_region(handle, name_of(*chn));
  });
}

hi_s32 hi_mpi_rgn_set_display_attr(hi_rgn_handle handle, const hi_mpp_chn* chn,
                                   const hi_rgn_chn_attr* chn_attr) {
  return with_display(__func__, chn, chn_attr, [&](const auto& channel, const auto& display) {
    return media::set_region_display(handle, channel, display);
  });
}

hi_s32 hi_mpi_rgn_get_display_attr(hi_rgn_handle handle, const hi_mpp_chn* chn,
                                   hi_rgn_chn_attr* chn_attr) {
  return mpi::enter(__func__, Module::rgn, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(chn, "chn"));
    ANYNPU_TRY(mpi::check_pointer(chn_attr, "chn_attr"));
    ANYNPU_ASSIGN(const auto record, media::region_display(handle, name_of(*chn)));
    give_record(record, chn_attr);
    return {};
  });
}

hi_s32 hi_mpi_rgn_get_canvas_info(hi_rgn_handle handle, hi_rgn_canvas_info* canvas_info) {
  return mpi::enter(__func__, Module::rgn, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(canvas_info, "canvas_info"));
    ANYNPU_ASSIGN(const auto canvas, media::region_canvas(handle));
    give(canvas, canvas_info);
    return {};
  });
}

hi_s32 hi_mpi_rgn_update_canvas(hi_rgn_handle handle) {
  return mpi::enter(__func__, Module::rgn, [&] { return media::show_canvas(handle); });
}
