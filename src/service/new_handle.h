// SPDX-License-Identifier: Apache-2.0
// A handle for an object that a service makes.
#pragma once

#include <memory>
#include <utility>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

template <typename T>
Result<Handle> new_handle(std::shared_ptr<T> object) {
  if (const Handle handle = HandleTable::instance().insert(std::move(object))) return handle;
  return fail(Code::out_of_handles, "no handle is free; destroy objects that are no longer used");
}

}  // namespace anynpu::service
