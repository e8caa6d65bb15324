// SPDX-License-Identifier: Apache-2.0
#include "service/device/device_life.h"

#include "service/callback/named_callbacks.h"
#include "service/failure/device_faults.h"
#include "service/model/model_table.h"

namespace anynpu::service {

namespace {

using device::Runtime;

NamedCallbacks<int32_t, DeviceChange>& device_observers() {
  static auto* all = new NamedCallbacks<int32_t, DeviceChange>;
  return *all;
}

NamedCallbacks<int32_t, AbortStage, uint32_t>& abort_observers() {
  static auto* all = new NamedCallbacks<int32_t, AbortStage, uint32_t>;
  return *all;
}

}  // namespace

Status use_device(int32_t id) {
  ANYNPU_TRY(Runtime::instance().device(id).status());
  const bool first = Runtime::instance().uses(id) == 0;
  if (first) device_observers().call(id, DeviceChange::before_use);
  ANYNPU_TRY(Runtime::instance().set_device(id));
  if (first) device_observers().call(id, DeviceChange::in_use);
  return {};
}

Status stop_using_device(int32_t id, Runtime::Reset how) {
  const int uses = Runtime::instance().uses(id);
  const bool last = uses == 1 || (uses > 1 && how == Runtime::Reset::force);
  if (last) device_observers().call(id, DeviceChange::before_reset);
  ANYNPU_TRY(Runtime::instance().reset_device(id, how));
  if (Runtime::instance().uses(id) > 0) return {};
  ModelTable::instance().stop_drives(id);
  forget_fault(id);
  if (last) device_observers().call(id, DeviceChange::reset);
  return {};
}

Status abort_device_work(int32_t id, uint32_t timeout_ms) {
  ANYNPU_TRY(Runtime::instance().device(id).status());
  abort_observers().call(id, AbortStage::before, timeout_ms);
  const Deadline deadline = timeout_ms ? Deadline::after_ms(timeout_ms) : Deadline::never();
  const Status status = Runtime::instance().abort_device(id, deadline);
  abort_observers().call(id, AbortStage::after, timeout_ms);
  return status;
}

Status observe_devices(const char* name, DeviceObserver observer) {
  return device_observers().set(name, std::move(observer));
}

Status observe_aborts(const char* name, AbortObserver observer) {
  return abort_observers().set(name, std::move(observer));
}

}  // namespace anynpu::service
