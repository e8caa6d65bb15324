// SPDX-License-Identifier: Apache-2.0
// Conditions in captures: when the run reaches the task, a value in device memory decides which of
// several instances runs, or whether one runs again. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "service/instance/instance.h"

namespace anynpu::service {

// A value of an instance that is being captured. `each_run`: it is `start` when a run begins.
Result<Handle> create_condition(Handle instance, uint32_t start, bool each_run);
// Its 8 bytes of device memory, which end with the instance.
Result<uint64_t*> condition_value(Handle condition);

struct ConditionTask {
  Handle condition = 0;
  uint32_t kind = 0;  // 0 if, 1 while, 2 switch
  uint32_t bodies = 0;
};
// Records the task; gives the instances to capture into, as many as asked for.
Result<std::vector<Handle>> add_condition_task(const ConditionTask& task, Handle stream);

}  // namespace anynpu::service
