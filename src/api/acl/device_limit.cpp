// SPDX-License-Identifier: Apache-2.0
// Limits, modes, system parameters and timeouts (acl.rt.device_set_limit and similar), which last
// until aclFinalize.
#include <algorithm>

#include "acl/rt/device.h"
#include "acl/rt/device_query.h"
#include "acl/rt/stream.h"
#include "api/acl/entry.h"
#include "device/runtime.h"
#include "service/config/config.h"
#include "service/device/device_settings.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;

namespace {

uint64_t configured_limit(aclrtDeviceLimit limit) {
  const auto config = service::current_config();
  const uint64_t values[service::kDeviceLimits] = {
      config->simt_stack_size, config->simt_divergence_stack_size, config->aicore_stack_size,
      config->simd_printf_fifo_size_per_core, config->simt_printf_fifo_size};
  return values[limit];
}

}  // namespace

aclError aclrtDeviceSetLimit(aclrtDeviceLimit limit, size_t value) {
  return enter(__func__, [&] { return service::set_device_limit(limit, value); });
}

aclError aclrtDeviceGetLimit(aclrtDeviceLimit limit, size_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(const auto set, service::device_limit(limit));
    *value = set ? *set : configured_limit(limit);
    return {};
  });
}

aclError aclrtSetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t value) {
  return enter(__func__, [&] { return service::set_core_limit(deviceId, type, value); });
}

aclError aclrtGetDeviceResLimit(int32_t deviceId, aclrtDevResLimitType type, uint32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(*value, service::core_limit(deviceId, type));
    return {};
  });
}

aclError aclrtResetDeviceResLimit(int32_t deviceId) {
  return enter(__func__, [&] { return service::reset_core_limits(deviceId); });
}

aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode) {
  static_assert(ACL_RT_OVERFLOW_MODE_SATURATION == 0 && ACL_RT_OVERFLOW_MODE_INFNAN == 1);
  return enter(__func__, [&] { return service::set_overflow_mode(mode); });
}

aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(mode, "mode"));
    ANYNPU_TRY(device::Runtime::instance().current().status());
    *mode = ACL_RT_OVERFLOW_MODE_INFNAN;
    return {};
  });
}

aclError aclrtSetSysParamOpt(aclSysParamOpt opt, int64_t value) {
  return enter(__func__, [&] { return service::set_system_option(opt, value); });
}

aclError aclrtGetSysParamOpt(aclSysParamOpt opt, int64_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(*value, service::system_option(opt));
    return {};
  });
}

aclError aclrtSetOpWaitTimeout(uint32_t timeout) {
  return enter(__func__, [&] { return service::set_wait_limit_s(timeout); });
}

aclError aclrtSetOpExecuteTimeOut(uint32_t timeout) {
  return enter(__func__,
               [&] { return service::set_execute_limit_us(uint64_t{timeout} * 1'000'000); });
}

aclError aclrtSetOpExecuteTimeOutWithMs(uint32_t timeout) {
  return enter(__func__, [&] { return service::set_execute_limit_us(uint64_t{timeout} * 1'000); });
}

aclError aclrtSetOpExecuteTimeOutV2(uint64_t timeout, uint64_t* actualTimeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(actualTimeout, "actualTimeout"));
    ANYNPU_TRY(service::set_execute_limit_us(timeout));
    *actualTimeout = timeout == 0 ? UINT64_MAX : timeout;  // 0: never
    return {};
  });
}

aclError aclrtGetOpExecuteTimeout(uint32_t* const timeoutMs) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(timeoutMs, "timeoutMs"));
    ANYNPU_ASSIGN(const uint64_t limit, service::execute_limit_us());
    *timeoutMs = static_cast<uint32_t>(std::min<uint64_t>(limit / 1000, UINT32_MAX));
    return {};
  });
}

aclError aclrtGetOpTimeOutInterval(uint64_t* interval) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(interval, "interval"));
    ANYNPU_TRY(device::Runtime::instance().current().status());
    *interval = 1;  // microseconds: the timer of the pool
    return {};
  });
}
