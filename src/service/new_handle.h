// SPDX-License-Identifier: Apache-2.0
// Handles of objects that services make.
#pragma once

#include <memory>
#include <utility>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

// `full` is the code when no handle is free.
template <typename T>
Result<Handle> new_handle(std::shared_ptr<T> object, Code full = Code::out_of_handles) {
  if (const Handle handle = HandleTable::instance().insert(std::move(object))) return handle;
  return fail(full, "no handle is free; destroy objects that are no longer used");
}

// Ends the life of a handle; the sentence says why when it is none.
template <typename T>
Status remove_handle(Handle handle) {
  if (HandleTable::instance().remove<T>(handle)) return {};
  return HandleTable::instance().explain(handle, HandleType<T>::tag);
}

}  // namespace anynpu::service
