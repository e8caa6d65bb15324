// SPDX-License-Identifier: Apache-2.0
// Complete entry points for plain data objects: create, destroy, set or get one
// field.
#pragma once

#include <memory>

#include "api/acl/entry.h"

namespace anynpu::acl {

template <typename Pointer, typename T>
Pointer create(const char* function) {
  return enter_value(function, static_cast<Pointer>(nullptr), []() -> Result<Pointer> {
    return insert_object<Pointer>(std::make_shared<T>());
  });
}

// Programs destroy descriptions late, even after aclFinalize.
template <typename T>
aclError destroy(const char* function, const void* handle) {
  return enter<When::before_init>(function, [&]() -> Status { return remove_object<T>(handle); });
}

template <typename T, typename Owner, typename Field, typename Value>
aclError set(const char* function, const void* handle, Field Owner::*field, Value value) {
  return enter(function, [&]() -> Status {
    ANYNPU_ASSIGN(auto pin, resolve<T>(to_handle(handle)));
    pin.get()->*field = static_cast<Field>(value);
    return {};
  });
}

template <typename T, typename Value, typename Owner, typename Field>
Value get(const char* function, const void* handle, Field Owner::*field) {
  return enter_value(function, Value{}, [&]() -> Result<Value> {
    ANYNPU_ASSIGN(auto pin, resolve<T>(to_handle(handle)));
    return static_cast<Value>(pin.get()->*field);
  });
}

}  // namespace anynpu::acl
