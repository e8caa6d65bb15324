// SPDX-License-Identifier: Apache-2.0
// Writes of, and waits for, values in memory as a program submits them: a recorded one can be read
// and changed later. Thread-safe.
#pragma once

#include <cstdint>

#include "base/handle_table.h"
#include "base/status.h"

namespace anynpu::service {

Status submit_value_write(void* address, uint64_t value, Handle stream);
// `condition` as device::ValueCondition.
Status submit_value_wait(void* address, uint64_t value, uint32_t condition, Handle stream);

}  // namespace anynpu::service
