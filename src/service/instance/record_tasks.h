// SPDX-License-Identifier: Apache-2.0
// Hands the tasks of a captured instance to the device as one recording (device::Queue::record),
// for example a CUDA graph: an execution is then one call, and the host takes no part in it.
#pragma once

#include <memory>

#include "service/instance/instance.h"

namespace anynpu::service {

// Null if a task needs the host, or the device records nothing. The instance is complete.
std::shared_ptr<void> record_tasks(Instance& instance);

}  // namespace anynpu::service
