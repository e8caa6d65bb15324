// SPDX-License-Identifier: Apache-2.0
// The frame (api/frame.h) of the acl entry points, whose failures become numbers of aclError.
//
//   aclError aclrtSetDevice(int32_t id) {
//     return enter(__func__, [&]() -> Status { return device::set_current(id); });
//   }
//   size_t aclGetDataBufferSizeV2(const aclDataBuffer* buffer) {
//     return enter_value(__func__, size_t{0}, [&]() -> Result<size_t> {
//       ANYNPU_ASSIGN(auto pin, resolve<DataBuffer>(to_handle(buffer)));
//       return pin->size;
//     });
//   }
#pragma once

#include <optional>

#include "api/acl/errors.h"
#include "api/acl/lifecycle.h"
#include "api/arguments.h"
#include "api/frame.h"
#include "service/snapshot/snapshot.h"

namespace anynpu::acl {

using api::check_array;
using api::check_optional;
using api::check_pointer;
using api::from_handle;
using api::insert_object;
using api::remove_object;
using api::to_handle;
using api::When;

namespace detail {

struct Traits {
  using Number = aclError;
  static constexpr FaultSource kFaults = FaultSource::acl;
  static bool initialised() { return service::initialised(); }
  // Most functions start the runtime themselves; needs_init.def has those that do not.
  static Status start(const char* function);
  static aclError fault_number(std::string_view code);
  static Status hold(const char* function) { return service::wait_while_locked(function); }
  static aclError number_of(const char* function, const Failure& failure) {
    return acl::number_of(function, failure);
  }
  static aclError report(const char* function, const Failure& failure) {
    return acl::report(function, failure);
  }
};

}  // namespace detail

using Frame = api::Frame<detail::Traits>;

// For functions that return aclError; the body returns Status or Failure.
template <When when = When::after_init, typename Body>
inline aclError enter(const char* function, Body&& body) noexcept {
  return Frame::enter<when>(function, body);
}

// For functions that return a value; the body returns Result<T>. `failed` is returned on failure.
template <When when = When::after_init, typename T, typename Body>
inline T enter_value(const char* function, T failed, Body&& body) noexcept {
  return Frame::enter_value<when>(function, failed, body);
}

}  // namespace anynpu::acl
