// SPDX-License-Identifier: Apache-2.0
// Use, reset and abort of devices, and observers of these. Thread-safe; observers are called in the
// thread that makes the call, with no lock held.
#pragma once

#include <cstdint>
#include <functional>

#include "base/status.h"
#include "device/runtime.h"

namespace anynpu::service {

// Counts a use. Observers are called for the first and the last one.
Status use_device(int32_t id);
Status stop_using_device(int32_t id, device::Runtime::Reset how);
// 0: without a limit.
Status abort_device_work(int32_t id, uint32_t timeout_ms);

enum class DeviceChange : int { before_use = 0, in_use = 1, before_reset = 2, reset = 3 };
using DeviceObserver = std::function<void(int32_t id, DeviceChange change)>;
// By name; an empty one ends it (callback/named_callbacks.h).
Status observe_devices(const char* name, DeviceObserver observer);

enum class AbortStage : int { before = 0, after = 1 };
using AbortObserver = std::function<void(int32_t id, AbortStage stage, uint32_t timeout_ms)>;
Status observe_aborts(const char* name, AbortObserver observer);

}  // namespace anynpu::service
