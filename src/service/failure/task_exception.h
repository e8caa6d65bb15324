// SPDX-License-Identifier: Apache-2.0
// The report of failed tasks to a callback of the program (guide 7.10). What it is told about is an
// object with a handle, which lives as long as the callback runs. Thread-safe.
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
};

// Gets the handle of a TaskException, in the thread that ran the task.
using ExceptionCallback = std::function<void(Handle)>;

// Counts until the next one is set, or the library is finalised; empty: nobody is told.
Status set_exception_callback(ExceptionCallback callback);

}  // namespace anynpu::service

namespace anynpu {
ANYNPU_HANDLE_TYPE(service::TaskException, exception_info);
}
