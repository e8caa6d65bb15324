// SPDX-License-Identifier: Apache-2.0
// What went wrong on a device, until it is repaired or the device is reset. Thread-safe.
#pragma once

#include <cstdint>

#include "base/status.h"

namespace anynpu::service {

enum class DeviceFault { none, core };  // core: a kernel of the program trapped
void note_fault(int32_t device, DeviceFault fault);
DeviceFault fault_of(int32_t device);
void forget_fault(int32_t device);

}  // namespace anynpu::service
