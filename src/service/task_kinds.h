// SPDX-License-Identifier: Apache-2.0
// Kinds of tasks that services put into streams: their names stand in profiles and failures.
#pragma once

#include "device/task.h"

namespace anynpu::service {

extern device::TaskKind operator_task, custom_kernel_task, kernel_task, matrix_product_task;
extern device::TaskKind get_overflow_task, reset_overflow_task;

// The failure of a task shows when the program waits: it names the call that queued it.
Status queued_by(const char* call, Status status);

}  // namespace anynpu::service
