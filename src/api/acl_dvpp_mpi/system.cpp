// SPDX-License-Identifier: Apache-2.0
// Start and end, memory, image files, strides, epoll (acl.himpi.sys_*, dvpp_*).
#include "api/acl_dvpp_mpi/convert_picture.h"
#include "api/acl_dvpp_mpi/convert_region.h"
#include "api/acl_dvpp_mpi/mpi.h"
#include "service/media/memory.h"

using namespace anynpu;
using namespace anynpu::mpi;

hi_s32 hi_mpi_sys_init(void) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys,
                                    [] { return media::start_media_system(); });
}

hi_s32 hi_mpi_sys_full_init(void) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys,
                                    [] { return media::start_media_system(); });
}

hi_s32 hi_mpi_sys_bind(const hi_mpp_chn* src_chn, const hi_mpp_chn* dest_chn) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(src_chn, "src_chn"));
    ANYNPU_TRY(mpi::check_pointer(dest_chn, "dest_chn"));
    return media::bind_channels(name_of(*src_chn), name_of(*dest_chn));
  });
}

hi_s32 hi_mpi_sys_unbind(const hi_mpp_chn* src_chn, const hi_mpp_chn* dest_chn) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(src_chn, "src_chn"));
    ANYNPU_TRY(mpi::check_pointer(dest_chn, "dest_chn"));
    return media::unbind_channels(name_of(*src_chn), name_of(*dest_chn));
  });
}

hi_s32 hi_mpi_sys_exit(void) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys, []() -> Status {
    media::stop_media_system();
    return {};
  });
}

hi_s32 hi_mpi_dvpp_get_version(hi_s32* major_version, hi_s32* minor_version,
                               hi_s32* patch_version) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(major_version, "major_version"));
    ANYNPU_TRY(mpi::check_pointer(minor_version, "minor_version"));
    ANYNPU_TRY(mpi::check_pointer(patch_version, "patch_version"));
    *major_version = 1;
    *minor_version = *patch_version = 0;
    return {};
  });
}

hi_s32 hi_mpi_dvpp_malloc(hi_u32 dev_id, void** dev_ptr, hi_u64 size) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(dev_ptr, "dev_ptr"));
    ANYNPU_ASSIGN(*dev_ptr, media::allocate(static_cast<int32_t>(dev_id & INT32_MAX), size));
    return {};
  });
}

hi_s32 hi_mpi_dvpp_free(void* dev_ptr) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys,
                                    [&] { return device::free_device(dev_ptr); });
}

hi_s32 hi_mpi_dvpp_get_image_info(hi_payload_type img_type, const hi_vdec_stream* stream,
                                  hi_img_info* img_info) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(stream, "stream"));
    ANYNPU_TRY(mpi::check_pointer(img_info, "img_info"));
    ANYNPU_ASSIGN(const auto found, describe(*stream, img_type));
    give(found, img_info);
    return {};
  });
}

hi_s32 hi_mpi_sys_get_image_align_info(const hi_module_type* mod_type, hi_u32 mod_num,
                                       const hi_img_base_info* img_base_info,
                                       hi_img_align_info* img_align_info) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(mod_type, "mod_type"));
    ANYNPU_TRY(mpi::check_pointer(img_base_info, "img_base_info"));
    ANYNPU_TRY(mpi::check_pointer(img_align_info, "img_align_info"));
    ANYNPU_ASSIGN(const auto strides, strides_of(mod_type, mod_num, *img_base_info));
    return give(strides, img_align_info), Status();
  });
}

hi_s32 hi_mpi_sys_create_epoll(hi_s32 size, hi_s32* epoll_fd) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(epoll_fd, "epoll_fd"));
    ANYNPU_ASSIGN(*epoll_fd, media::create_epoll(size));
    return {};
  });
}

hi_s32 hi_mpi_sys_ctl_epoll(hi_s32 epoll_fd, hi_s32 operation, hi_s32 fd,
                            hi_dvpp_epoll_event* event) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_ASSIGN(const auto change, epoll_change_of(operation, event));
    return media::change_epoll(epoll_fd, change, fd, epoll_event_of(event));
  });
}

hi_s32 hi_mpi_sys_wait_epoll(hi_s32 epoll_fd, hi_dvpp_epoll_event* events, hi_s32 max_events,
                             hi_s32 timeout, hi_s32* event_count) {
  return mpi::enter(__func__, Module::sys, [&]() -> Status {
    ANYNPU_TRY(mpi::check_pointer(events, "events"));
    ANYNPU_TRY(mpi::check_pointer(event_count, "event_count"));
    ANYNPU_ASSIGN(const auto found, media::wait_epoll(epoll_fd, max_events, timeout));
    give(found, events);
    *event_count = static_cast<hi_s32>(found.size());
    return {};
  });
}

hi_s32 hi_mpi_sys_close_epoll(hi_s32 epoll_fd) {
  return mpi::enter<Needs::nothing>(__func__, Module::sys,
                                    [&] { return media::close_epoll(epoll_fd); });
}
