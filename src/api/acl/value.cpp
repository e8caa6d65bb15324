// SPDX-License-Identifier: Apache-2.0
// Values in memory as signals between streams (acl.rt.value_write, value_wait).
#include "acl/rt/event.h"
#include "api/acl/entry.h"
#include "device/runtime.h"
#include "device/value_wait.h"

using namespace anynpu;
using acl::enter;
using acl::to_handle;
using device::Runtime;
using device::ValueCondition;

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    if (flag != 0) return fail(Code::invalid_argument, "flag is {}; expected 0", flag);
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::write_value(devAddr, value, *found);
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    if (flag > static_cast<uint32_t>(ValueCondition::missing_bit)) {
      return fail(Code::invalid_argument,
                  "flag is {}; expected 0 (at least), 1 (equal), 2 (and) or 3 (nor)", flag);
    }
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return device::wait_value(devAddr, value, static_cast<ValueCondition>(flag), *found);
  });
}
