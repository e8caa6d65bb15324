// SPDX-License-Identifier: Apache-2.0
// The frame (api/frame.h) of the HCCL entry points, whose failures become HcclResult. What has to
// be initialised is acl: calls before aclInit start the runtime themselves, as those of acl do.
#pragma once

#include <string>

#include "acl/acl_base.h"
#include "api/acl/entry.h"
#include "api/acl_hccl/errors.h"
#include "api/arguments.h"
#include "api/frame.h"

namespace anynpu::hccl {

using api::check_pointer;
using api::from_handle;
using api::to_handle;

namespace detail {

struct Traits {
  using Number = HcclResult;
  static constexpr FaultSource kFaults = FaultSource::acl;
  static bool initialised() { return acl::detail::Traits::initialised(); }
  static Status start(const char* function) { return acl::detail::Traits::start(function); }
  static Status hold(const char* function) { return acl::detail::Traits::hold(function); }
  static HcclResult fault_number(std::string_view code) { return result_named(code); }
  static HcclResult number_of(const char* function, const Failure& failure) {
    return hccl::number_of(function, failure);
  }
  static HcclResult report(const char* function, const Failure& failure) {
    return hccl::report(function, failure);
  }
};

}  // namespace detail

// The body returns Status or Failure.
template <typename Body>
inline HcclResult enter(const char* function, Body&& body) noexcept {
  return api::Frame<detail::Traits>::enter<api::When::after_init>(function, body);
}

}  // namespace anynpu::hccl
