// SPDX-License-Identifier: Apache-2.0
// The frame of the entry points of the V2 media interface: that of src/api/acl/entry.h, with the
// error codes of the units (errors.cpp) instead of aclError.
#pragma once

#include "acl/dvpp/hi_dvpp.h"
#include "api/acl/entry.h"
#include "service/media/media_system.h"

namespace anynpu::mpi {

// As in the numbers of errors: 0xA0058003 is error 3 of the decoder.
enum class Module : uint32_t { vb = 1, sys = 2, rgn = 3, vdec = 5, vpc = 7, venc = 8, pngd = 64 };

hi_s32 number_of(Module module, Code code);

// Whether hi_mpi_sys_init has to come first.
enum class Needs { system, nothing };

template <Needs needs = Needs::system, typename Body>
hi_s32 enter(const char* function, Module module, Body&& body) {
  return acl::enter(function, [&]() -> acl::Failure {
    Status status = needs == Needs::system ? media::check_media_system() : Status();
    if (status.ok()) status = body();
    if (status.ok()) return {};
    const hi_s32 number = number_of(module, status.code());
    return {number, std::move(status)};
  });
}

// The common form of calls: find the channel, do one thing.
template <typename Channels, typename Do>
hi_s32 on_channel(const char* function, Module module, Channels& channels, hi_s32 number,
                  Do&& act) {
  return mpi::enter(function, module, [&]() -> Status {
    ANYNPU_ASSIGN(auto channel, channels.find(number));
    return act(*channel);
  });
}

// The descriptor of a channel; -1 when there is none.
template <typename Channels>
hi_s32 ready_fd_of(const char* function, Channels& channels, hi_s32 number) {
  return acl::enter_value(function, hi_s32{-1}, [&]() -> Result<hi_s32> {
    ANYNPU_TRY(media::check_media_system());
    ANYNPU_ASSIGN(auto channel, channels.find(number));
    return channel->ready_fd().fd();
  });
}

template <typename T>
Status check_pointer(T* pointer, const char* name) {
  if (pointer != nullptr) return service::check_pointer(pointer, name);
  return fail(Code::invalid_handle, "{} is null", name);  // becomes the number of a null pointer
}

}  // namespace anynpu::mpi
