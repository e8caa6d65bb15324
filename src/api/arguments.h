// SPDX-License-Identifier: Apache-2.0
// Arguments of entry points: objects are passed through the C interfaces as handles that look like
// pointers to incomplete types; results are written to addresses that may be null.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include "base/handle_table.h"
#include "base/result.h"
#include "service/check_pointer.h"

namespace anynpu::api {

inline Handle to_handle(const void* pointer) { return reinterpret_cast<Handle>(pointer); }
template <typename Pointer>
inline Pointer from_handle(Handle handle) {
  static_assert(std::is_pointer_v<Pointer>);
  return reinterpret_cast<Pointer>(handle);
}

// A new handle for `object`, as the C interface shows it.
template <typename Pointer, typename T>
Result<Pointer> insert_object(std::shared_ptr<T> object) {
  const Handle handle = HandleTable::instance().insert(std::move(object));
  if (handle) return from_handle<Pointer>(handle);
  return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
}

// Removes a handle; the error says why it is not valid.
template <typename T>
Status remove_object(const void* pointer) {
  if (HandleTable::instance().remove<T>(to_handle(pointer))) return {};
  return HandleTable::instance().explain(to_handle(pointer), HandleType<T>::tag);
}

using service::check_array;
using service::check_optional;
using service::check_pointer;

}  // namespace anynpu::api
