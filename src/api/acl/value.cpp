// SPDX-License-Identifier: Apache-2.0
// Values in memory as signals between streams (acl.rt.value_write, value_wait).
#include "acl/rt/event.h"
#include "api/acl/entry.h"
#include "service/instance/values.h"

using namespace anynpu;
using acl::enter;
using acl::to_handle;

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    if (flag != 0) return fail(Code::invalid_argument, "flag is {}; expected 0", flag);
    return service::submit_value_write(devAddr, value, to_handle(stream));
  });
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  return enter(__func__,
               [&] { return service::submit_value_wait(devAddr, value, flag, to_handle(stream)); });
}
