// SPDX-License-Identifier: Apache-2.0
#include "service/failure/device_faults.h"

#include <map>
#include <mutex>

namespace anynpu::service {

namespace {

struct Faults {
  std::mutex mutex;
  std::map<int32_t, DeviceFault> by_device;
};

Faults& device_faults() {
  static auto* all = new Faults;
  return *all;
}

}  // namespace

void note_fault(int32_t device, DeviceFault fault) {
  const std::lock_guard lock(device_faults().mutex);
  device_faults().by_device[device] = fault;
}

DeviceFault fault_of(int32_t device) {
  const std::lock_guard lock(device_faults().mutex);
  const auto found = device_faults().by_device.find(device);
  return found == device_faults().by_device.end() ? DeviceFault::none : found->second;
}

void forget_fault(int32_t device) {
  const std::lock_guard lock(device_faults().mutex);
  device_faults().by_device.erase(device);
}

}  // namespace anynpu::service
