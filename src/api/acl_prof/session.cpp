// SPDX-License-Identifier: Apache-2.0
// Sessions (guide 7.11): configurations are objects, the order of the calls is the service's.
#include "acl/acl_prof.h"
#include "api/acl/entry.h"
#include "service/profile/control.h"

using namespace anynpu;
using namespace anynpu::acl;
using service::ProfilingConfig;
using service::ProfilingControl;

namespace {

Status check_events(const aclprofAicoreEvents* events) {
  if (!events) return {};
  return fail(Code::invalid_argument, "aicoreEvents is {}; expected 0 (null)",
              static_cast<const void*>(events));
}

// The handle of a new configuration.
Result<aclprofConfig*> insert_config(Result<ProfilingConfig> config) {
  ANYNPU_TRY(config.status());
  return insert_object<aclprofConfig*>(std::make_shared<ProfilingConfig>(std::move(*config)));
}

}  // namespace

extern "C" {

aclError aclprofInit(const char* profilerResultPath, size_t length) {
  return enter(__func__,
               [&] { return ProfilingControl::instance().initialise(profilerResultPath, length); });
}

aclError aclprofFinalize(void) {
  return enter(__func__, [] { return ProfilingControl::instance().finalise(); });
}

aclprofConfig* aclprofCreateConfig(uint32_t* deviceIdList, uint32_t deviceNums,
                                   aclprofAicoreMetrics aicoreMetrics,
                                   const aclprofAicoreEvents* aicoreEvents, uint64_t types) {
  const auto create = [&]() -> Result<aclprofConfig*> {
    ANYNPU_TRY(check_events(aicoreEvents));
    const auto metrics = static_cast<uint32_t>(aicoreMetrics);
    return insert_config(service::make_profiling_config(deviceIdList, deviceNums, metrics, types));
  };
  return enter_value(__func__, static_cast<aclprofConfig*>(nullptr), create);
}

aclError aclprofDestroyConfig(const aclprofConfig* profilerConfig) {
  return enter(__func__, [&] { return remove_object<ProfilingConfig>(profilerConfig); });
}

aclError aclprofSetConfig(aclprofConfigType configType, const char* config, size_t configLength) {
  return enter(__func__, [&] {
    return ProfilingControl::instance().set(static_cast<int32_t>(configType), config, configLength);
  });
}

aclError aclprofStart(const aclprofConfig* profilerConfig) {
  return enter(__func__,
               [&] { return ProfilingControl::instance().start(to_handle(profilerConfig)); });
}

aclError aclprofWarmup(const aclprofConfig* profilerConfig) {
  return enter(__func__,
               [&] { return ProfilingControl::instance().warm_up(to_handle(profilerConfig)); });
}

aclError aclprofStop(const aclprofConfig* profilerConfig) {
  return enter(__func__,
               [&] { return ProfilingControl::instance().stop(to_handle(profilerConfig)); });
}

}  // extern "C"
