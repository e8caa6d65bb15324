// SPDX-License-Identifier: Apache-2.0
// What this platform can do: aclGetCannAttribute*, aclGetDeviceCapability. The figures are those of
// the machine that really runs the work, whatever chip name is set.
#include <unistd.h>

#include <algorithm>

#include "acl/acl.h"
#include "api/acl/entry.h"
#include "base/thread_pool.h"
#include "device/runtime.h"

namespace anynpu::acl {

namespace {

// Infinities and NaN follow IEEE 754, and bfloat16 is there; operators are never compiled just in
// time, so ACL_CANN_ATTR_JIT_COMPILE is not listed.
constexpr aclCannAttr kAttributes[] = {ACL_CANN_ATTR_INF_NAN, ACL_CANN_ATTR_BF16};

Status attribute(int attr, int32_t* value) {
  ANYNPU_TRY(check_pointer(value, "value"));
  if (attr < ACL_CANN_ATTR_INF_NAN || attr > ACL_CANN_ATTR_JIT_COMPILE) {
    return fail(Code::invalid_argument, "attribute {} does not exist; expected {} to {}", attr,
                static_cast<int>(ACL_CANN_ATTR_INF_NAN),
                static_cast<int>(ACL_CANN_ATTR_JIT_COMPILE));
  }
  const auto* end = std::end(kAttributes);
  *value = std::find(std::begin(kAttributes), end, static_cast<aclCannAttr>(attr)) != end ? 1 : 0;
  return {};
}

Status capability(uint32_t device, int info, int64_t* value) {
  ANYNPU_TRY(check_pointer(value, "value"));
  const int32_t id = device > INT32_MAX ? INT32_MAX : static_cast<int32_t>(device);
  ANYNPU_TRY(device::Runtime::instance().device(id).status());
  switch (info) {
    case ACL_DEVICE_INFO_AI_CORE_NUM:
    case ACL_DEVICE_INFO_VECTOR_CORE_NUM:
      *value = static_cast<int64_t>(ThreadPool::instance().threads());
      return {};
    case ACL_DEVICE_INFO_L2_SIZE:
      *value = std::max<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 0);
      return {};
    default:
      return fail(Code::invalid_argument, "device information {} does not exist; expected {} to {}",
                  info, static_cast<int>(ACL_DEVICE_INFO_AI_CORE_NUM),
                  static_cast<int>(ACL_DEVICE_INFO_L2_SIZE));
  }
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclGetCannAttributeList(const aclCannAttr** cannAttrList, size_t* num) {
  return enter<When::always>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(cannAttrList, "cannAttrList"));
    ANYNPU_TRY(check_pointer(num, "num"));
    *cannAttrList = kAttributes;
    *num = std::size(kAttributes);
    return {};
  });
}

aclError aclGetCannAttribute(aclCannAttr cannAttr, int32_t* value) {
  return enter<When::always>(__func__, [&]() -> Status { return attribute(cannAttr, value); });
}

aclError aclGetDeviceCapability(uint32_t deviceId, aclDeviceInfo deviceInfo, int64_t* value) {
  return enter(__func__, [&]() -> Status { return capability(deviceId, deviceInfo, value); });
}

}  // extern "C"
