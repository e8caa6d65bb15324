// SPDX-License-Identifier: Apache-2.0
// Devices: choosing, counting, waiting, state, utilisation (acl.rt.set_device and similar).
#include "acl/rt/device.h"

#include "api/acl/entry.h"
#include "base/env.h"
#include "base/thread_pool.h"
#include "device/device_facts.h"
#include "device/memory.h"
#include "device/runtime.h"
#include "service/device/device_life.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;
using device::Runtime;

namespace {

// A device in use: what most calls about the current device start from.
Result<std::shared_ptr<device::Device>> current_device() {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  return context->device();
}

// Waits of the C interface count milliseconds; -1 is forever, other negative values are refused.
Result<Deadline> deadline_of(int32_t timeout_ms) {
  if (timeout_ms < -1) {
    return fail(Code::invalid_argument, "the timeout is {} ms; expected -1 (for ever) or more",
                timeout_ms);
  }
  return Deadline::after_ms(timeout_ms);
}

aclrtUtilizationInfo utilization_of(device::Device& device) {
  const int32_t load = device::health_of(device).load_percent;
  const int32_t busy = load >= 0 ? load : device.take_utilization();
  const auto memory = device::memory_info(device);
  const auto used = static_cast<double>(memory.total - memory.free);
  return {busy, busy, busy, static_cast<int32_t>(used * 100.0 / static_cast<double>(memory.total)),
          nullptr};
}

}  // namespace

aclError aclrtGetRunMode(aclrtRunMode* runMode) {
  return enter<When::always>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(runMode, "runMode"));
    *runMode = env::text(env::Name::run_mode) == "device" ? ACL_DEVICE : ACL_HOST;
    return {};
  });
}

aclError aclrtSetDevice(int32_t deviceId) {
  return enter(__func__, [&] { return service::use_device(deviceId); });
}

aclError aclrtResetDevice(int32_t deviceId) {
  return enter(__func__,
               [&] { return service::stop_using_device(deviceId, Runtime::Reset::count_down); });
}

aclError aclrtResetDeviceForce(int32_t deviceId) {
  return enter(__func__,
               [&] { return service::stop_using_device(deviceId, Runtime::Reset::force); });
}

aclError aclrtGetDevice(int32_t* deviceId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(deviceId, "deviceId"));
    ANYNPU_ASSIGN(auto device, current_device());
    *deviceId = device->id();
    return {};
  });
}

aclError aclrtGetDeviceCount(uint32_t* count) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(count, "count"));
    *count = static_cast<uint32_t>(Runtime::instance().device_count());
    return {};
  });
}

aclError aclrtSetTsDevice(aclrtTsId tsId) {
  return enter(__func__, [&]() -> Status {
    if (tsId == ACL_TS_ID_AICORE || tsId == ACL_TS_ID_AIVECTOR) return {};
    return fail(Code::invalid_argument, "tsId is {}; expected 0 (AI core) or 1 (vector core)",
                tsId);
  });
}

aclError aclrtSynchronizeDevice(void) {
  return enter(__func__, [] { return Runtime::instance().synchronize_device(Deadline::never()); });
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const Deadline deadline, deadline_of(timeout));
    return Runtime::instance().synchronize_device(deadline);
  });
}

aclError aclrtQueryDeviceStatus(int32_t deviceId, aclrtDeviceStatus* deviceStatus) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(deviceStatus, "deviceStatus"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    *deviceStatus = ACL_RT_DEVICE_STATUS_NORMAL;
    return {};
  });
}

aclError aclrtDeviceTaskAbort(int32_t deviceId, uint32_t timeout) {
  return enter(__func__, [&] { return service::abort_device_work(deviceId, timeout); });
}

aclError aclrtGetDeviceUtilizationRate(int32_t deviceId, aclrtUtilizationInfo* utilizationInfo) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(utilizationInfo, "utilizationInfo"));
    ANYNPU_ASSIGN(auto device, Runtime::instance().device(deviceId));
    *utilizationInfo = utilization_of(*device);
    return {};
  });
}

aclError aclrtGetLastError(aclrtLastErrLevel level) {
  if (level == ACL_RT_THREAD_LEVEL) return acl::take_last_error();
  return acl::finish(__func__,
                     fail(Code::invalid_argument, "level is {}; expected 0 (thread)", level));
}

aclError aclrtPeekAtLastError(aclrtLastErrLevel level) {
  if (level == ACL_RT_THREAD_LEVEL) return acl::peek_last_error();
  return acl::finish(__func__,
                     fail(Code::invalid_argument, "level is {}; expected 0 (thread)", level));
}
