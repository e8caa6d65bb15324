// SPDX-License-Identifier: Apache-2.0
// Sessions (guide 7.11): configurations are objects, the order of the calls is control.cpp's.
#include "acl/acl_prof.h"
#include "api/acl/entry.h"
#include "api/acl_prof/control.h"
#include "base/memory_probe.h"
#include "device/runtime.h"
#include "prof/config.h"

namespace anynpu::acl {

namespace {

Result<ProfConfig> make_config(const uint32_t* ids, uint32_t count, uint32_t metrics,
                               uint64_t data_types) {
  ProfConfig config;
  config.metrics = metrics;
  config.data_types = data_types;
  const int32_t devices = device::Runtime::instance().device_count();
  if (count > 0) ANYNPU_TRY(check_pointer(ids, "deviceIdList"));
  if (count > static_cast<uint32_t>(devices)) {
    return fail(Code::invalid_argument,
                "deviceNums is {}, but there are {} devices; list each once", count, devices);
  }
  if (count == 0 && !(data_types & prof::bits::kMsproftx)) {
    return fail(Code::invalid_argument,
                "the device list is empty; name a device, or profile only the program's own marks "
                "with ACL_PROF_MSPROFTX (0x80)");
  }
  for (uint32_t i = 0; i < count; ++i) {
    if (ids[i] >= static_cast<uint32_t>(devices)) {
      return fail(Code::invalid_argument, "device {} does not exist; expected 0 to {}", ids[i],
                  devices - 1);
    }
    for (int32_t other : config.devices) {
      if (other != static_cast<int32_t>(ids[i])) continue;
      return fail(Code::invalid_argument, "device {} is listed twice; list each once", other);
    }
    config.devices.push_back(static_cast<int32_t>(ids[i]));
  }
  return config;
}

// The configuration of a handle; null is named in a sentence of its own.
template <typename Call>
Failure with_config(const aclprofConfig* handle, Call call) {
  auto config = resolve<ProfConfig>(to_handle(handle));
  if (!config.ok()) return config.status();
  return call(**config);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return enter(__func__, [&] { return prof_init(profilerResultPath, length); });
}

aclError aclprofFinalize(void) {
  return enter(__func__, [] { return prof_finalize(); });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents,
                                   uint64_t dataTypeConfig) {
  return enter_value(
      __func__, static_cast<aclprofConfig*>(nullptr), [&]() -> Result<aclprofConfig*> {
        if (aicoreEvents) {
          return fail(Code::invalid_argument, "aicoreEvents is {}; expected 0 (null)",
                      static_cast<const void*>(aicoreEvents));
        }
        ANYNPU_ASSIGN(ProfConfig config,
                      make_config(deviceIdList, deviceNums, static_cast<uint32_t>(aicoreMetrics),
                                  dataTypeConfig));
        return insert_object<aclprofConfig*>(std::make_shared<ProfConfig>(std::move(config)));
      });
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return enter(__func__, [&]() -> Status { return remove_object<ProfConfig>(profilerConfig); });
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  return enter(__func__,
               [&] { return prof_set(static_cast<int32_t>(configType), config, configLength); });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return enter(__func__, [&] { return with_config(profilerConfig, prof_start); });
}

aclError aclprofWarmup(const aclprofConfig* profilerConfig) {
  return enter(__func__, [&] { return with_config(profilerConfig, prof_warm_up); });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return enter(__func__, [&] { return with_config(profilerConfig, prof_stop); });
}

}  // extern "C"
