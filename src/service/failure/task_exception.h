// SPDX-License-Identifier: Apache-2.0
// Reports failed tasks to a callback of the program (guide 7.10). The callback gets the handle of
// an object that lives as long as the callback runs. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>

#include "base/handle_table.h"

namespace anynpu::service {

struct TaskException {
  uint32_t device = 0;
  uint32_t stream = 0;
  uint32_t task = 0;
  uint32_t thread = 0;  // that submitted it
  Code code = Code::ok;
  // A kernel of the program: its function and its arguments in device memory; 0 for others.
  Handle function = 0;
  void* arguments = nullptr;
  uint32_t argument_bytes = 0;
};

// Gets the handle of a TaskException, in the thread that ran the task.
using ExceptionCallback = std::function<void(Handle)>;

// In force until the next one is set, or the library is finalised; empty: none.
Status set_exception_callback(ExceptionCallback callback);
// Any number of additional ones, identified by `key`; adding or removing one twice is not an error.
Status add_exception_callback(const void* key, ExceptionCallback callback);
Status remove_exception_callback(const void* key);

// Calls `callback` with the handle of `exception`, which lives meanwhile.
void tell_exception(const TaskException& exception, const ExceptionCallback& callback);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::TaskException, exception_info);
}
