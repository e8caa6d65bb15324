// SPDX-License-Identifier: Apache-2.0
#include "service/instance/values.h"

#include "device/runtime.h"
#include "device/value_wait.h"
#include "service/instance/last_task.h"

namespace anynpu::service {

Status submit_value_write(void* address, uint64_t value, Handle stream) {
  ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(stream));
  ANYNPU_TRY(device::write_value(address, value, *found));
  if (found->recorder()) describe_last_value({address, value, 0});
  return {};
}

Status submit_value_wait(void* address, uint64_t value, uint32_t condition, Handle stream) {
  if (condition > static_cast<uint32_t>(device::ValueCondition::missing_bit)) {
    return fail(Code::invalid_argument,
                "flag is {}; expected 0 (at least), 1 (equal), 2 (and) or 3 (nor)", condition);
  }
  ANYNPU_ASSIGN(auto found, device::Runtime::instance().stream(stream));
  ANYNPU_TRY(
      device::wait_value(address, value, static_cast<device::ValueCondition>(condition), *found));
  if (found->recorder()) describe_last_value({address, value, condition});
  return {};
}

}  // namespace anynpu::service
