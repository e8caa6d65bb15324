// SPDX-License-Identifier: Apache-2.0
// The frame of acl's entry points with the numbers of aclnn.
#pragma once

#include "aclnn/acl_meta.h"
#include "api/acl/entry.h"
#include "api/acl_nn/errors.h"

namespace anynpu::acl_nn {

using acl::check_pointer;
using acl::from_handle;
using acl::to_handle;

struct Traits : acl::detail::Traits {
  static aclError number_of(const char* function, const acl::Failure& failure) {
    return acl_nn::number_of(failure);
  }
  static aclError report(const char* function, const acl::Failure& failure) {
    return acl_nn::report(function, failure);
  }
};
using Frame = api::Frame<Traits>;

template <typename Body>
inline aclnnStatus enter(const char* function, Body&& body) noexcept {
  return Frame::enter<api::When::after_init>(function, body);
}
template <typename T, typename Body>
inline T enter_value(const char* function, T failed, Body&& body) noexcept {
  return Frame::enter_value<api::When::after_init>(function, failed, body);
}
// The body returns Result<Handle>.
template <typename Pointer, typename Body>
inline Pointer enter_create(const char* function, Body&& body) noexcept {
  return enter_value(function, Pointer{}, [&]() -> Result<Pointer> {
    ANYNPU_ASSIGN(const Handle handle, body());
    return from_handle<Pointer>(handle);
  });
}

}  // namespace anynpu::acl_nn
