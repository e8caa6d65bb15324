// SPDX-License-Identifier: Apache-2.0
// The overflow status of a device (guide 7.12).
#include "service/device/overflow_status.h"

#include "acl/rt/device_query.h"
#include "acl/rt/stream.h"
#include "api/acl/entry.h"

using namespace anynpu;
using acl::enter;
using acl::to_handle;

aclError aclrtGetOverflowStatus(void* outputAddr, size_t outputSize, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::read_overflow_status(to_handle(stream), outputAddr, outputSize);
  });
}

aclError aclrtResetOverflowStatus(aclrtStream stream) {
  return enter(__func__, [&] { return service::reset_overflow_status(to_handle(stream)); });
}

aclError aclrtGetFloatOverflowStatus(void* outputAddr, uint64_t outputSize, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::read_overflow_status(to_handle(stream), outputAddr, outputSize);
  });
}

aclError aclrtResetFloatOverflowStatus(aclrtStream stream) {
  return enter(__func__, [&] { return service::reset_overflow_status(to_handle(stream)); });
}

// What checkMode means is not documented; there is one status.
aclError aclrtNpuGetFloatOverFlowStatus(void* outputAddr, uint64_t outputSize, uint32_t checkMode,
                                        aclrtStream stream) {
  return enter(__func__, [&] {
    return service::read_overflow_status(to_handle(stream), outputAddr, outputSize);
  });
}

aclError aclrtNpuClearFloatOverFlowStatus(uint32_t checkMode, aclrtStream stream) {
  return enter(__func__, [&] { return service::reset_overflow_status(to_handle(stream)); });
}
