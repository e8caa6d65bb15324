// SPDX-License-Identifier: Apache-2.0
// Facts of the chip, what its devices can do together, and their faults (acl_platform.h,
// acl/rt/device_query.h).
#include <cstring>

#include "acl/acl_platform.h"
#include "acl/rt/device_query.h"
#include "api/acl/entry.h"
#include "device/runtime.h"
#include "service/device/chip_facts.h"
#include "service/failure/device_faults.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;
using device::Runtime;
using service::DeviceFault;

namespace {

Status write_text(const std::string& text, char* out, uint32_t room) {
  if (text.size() < room) {
    std::memcpy(out, text.c_str(), text.size() + 1);
    return {};
  }
  return fail(Code::invalid_argument, "maxLen is {}; '{}' needs {} bytes", room, text,
              text.size() + 1);
}

Status read_capabilities(uint32_t* out, const aclrtAtomicOperation* operations, uint32_t count) {
  ANYNPU_TRY(check_pointer(out, "capabilities"));
  ANYNPU_TRY(check_pointer(operations, "operations"));
  if (count == 0) return fail(Code::invalid_argument, "count is 0; ask for at least one operation");
  for (uint32_t i = 0; i < count; ++i) {
    ANYNPU_ASSIGN(out[i], service::atomic_capability(static_cast<int>(operations[i])));
  }
  return {};
}

void describe_fault(DeviceFault fault, aclrtErrorInfo& out) {
  std::memset(&out, 0, sizeof out);
  if (fault == DeviceFault::none) return;
  out.errorType = ACL_RT_ERROR_AICORE;
  out.hasDetail = 1;
  out.detail.aicoreErrType = ACL_RT_AICORE_ERROR_SW;
}

}  // namespace

extern "C" {

aclError aclplatformGetDeviceInfo(aclplatformDevInfo infoType, char* value, uint32_t maxLen) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(const std::string text, service::chip_fact(static_cast<int>(infoType)));
    return write_text(text, value, maxLen);
  });
}

aclError aclrtCheckArchCompatibility(const char* socVersion, int32_t* canCompatible) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(socVersion, "socVersion"));
    ANYNPU_TRY(check_pointer(canCompatible, "canCompatible"));
    *canCompatible = service::fits_chip(socVersion);
    return {};
  });
}

aclError aclrtDeviceGetHostAtomicCapabilities(uint32_t* capabilities,
                                              const aclrtAtomicOperation* operations,
                                              const uint32_t count, int32_t deviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    return read_capabilities(capabilities, operations, count);
  });
}

aclError aclrtDeviceGetP2PAtomicCapabilities(uint32_t* capabilities,
                                             const aclrtAtomicOperation* operations,
                                             const uint32_t count, int32_t srcDeviceId,
                                             int32_t dstDeviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().device(srcDeviceId).status());
    ANYNPU_TRY(Runtime::instance().device(dstDeviceId).status());
    return read_capabilities(capabilities, operations, count);
  });
}

aclError aclrtGetErrorVerbose(int32_t deviceId, aclrtErrorInfo* errorInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(errorInfo, "errorInfo"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    describe_fault(service::fault_of(deviceId), *errorInfo);
    return {};
  });
}

aclError aclrtRepairError(int32_t deviceId, const aclrtErrorInfo* errorInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(errorInfo, "errorInfo"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    service::forget_fault(deviceId);
    return {};
  });
}

}  // extern "C"
