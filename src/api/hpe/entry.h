// SPDX-License-Identifier: Apache-2.0
// The frame (api/frame.h) of the HPE entry points, whose failures become stcError_t. There is
// nothing to initialise.
//
//   stcError_t stcSetDevice(int device) {
//     return enter(__func__, [&] { return npc::set_current_device(device); });
//   }
#pragma once

#include "api/arguments.h"
#include "api/frame.h"
#include "api/hpe/errors.h"

namespace anynpu::hpe {

using api::check_pointer;
using api::to_handle;

namespace detail {

struct Traits {
  using Number = stcError_t;
  static constexpr FaultSource kFaults = FaultSource::hpe;
  static constexpr bool initialised() { return true; }
  static Status start(const char*) { return {}; }
  static stcError_t fault_number(std::string_view code) { return error_named(code); }
  static stcError_t number_of(const char* function, const Failure& failure) {
    return hpe::number_of(function, failure);
  }
  static stcError_t report(const char* function, const Failure& failure) {
    return hpe::report(function, failure);
  }
};

}  // namespace detail

// The body returns Status or Failure.
template <typename Body>
inline stcError_t enter(const char* function, Body&& body) noexcept {
  return api::Frame<detail::Traits>::enter<api::When::after_init>(function, body);
}

template <typename Pointer, typename T>
Status insert_object(Pointer* out, std::shared_ptr<T> object) {
  ANYNPU_ASSIGN(*out, api::insert_object<Pointer>(std::move(object)));
  return {};
}

}  // namespace anynpu::hpe
