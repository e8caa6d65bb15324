// SPDX-License-Identifier: Apache-2.0
// Task kinds of the services: their names appear in profiles and error messages.
#pragma once

#include "device/task.h"

namespace anynpu::service {

// `queued_operator_task`: it only submits work to the device.
extern device::TaskKind operator_task, queued_operator_task, custom_kernel_task, kernel_task,
    matrix_product_task;
extern device::TaskKind get_overflow_task, reset_overflow_task;

// The failure of a task is reported when the program waits: it names the call that queued it.
Status queued_by(const char* call, Status status);

}  // namespace anynpu::service
