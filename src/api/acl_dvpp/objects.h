// SPDX-License-Identifier: Apache-2.0
// The short forms of entry points on objects that programs hold by handle
// (service/media/media_objects.h).
#pragma once

#include "acl/ops/acl_dvpp.h"
#include "api/acl/object_calls.h"
#include "service/media/media_objects.h"

namespace anynpu::dvpp {

using acl::from_handle;
using acl::to_handle;

// Gives a handle as a pointer of the interface; null when there is none.
template <typename Pointer, typename Make>
Pointer give_handle(const char* function, Make&& make) {
  return acl::enter_value(function, static_cast<Pointer>(nullptr), [&]() -> Result<Pointer> {
    ANYNPU_ASSIGN(const Handle handle, make());
    return from_handle<Pointer>(handle);
  });
}

// One call of an object: `act` gets it.
template <typename T, typename Do>
aclError on_object(const char* function, const void* handle, Do&& act) {
  return acl::enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<T>(to_handle(handle)));
    return act(*pin);
  });
}

// A value by address: what `find` gives.
template <typename T, typename Find>
aclError give_value(const char* function, T* to, const char* name, Find&& find) {
  return acl::enter(function, [&]() -> Status {
    ANYNPU_TRY(acl::check_pointer(to, name));
    ANYNPU_ASSIGN(*to, find());
    return {};
  });
}

// What the program left null is not given.
template <typename T, typename Value>
void give_if(T* to, Value value) {
  if (to != nullptr) *to = static_cast<T>(value);
}

}  // namespace anynpu::dvpp
