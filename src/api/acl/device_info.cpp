// SPDX-License-Identifier: Apache-2.0
// What a device is: attributes, ids, topology (acl.rt.get_device_info and similar).
#include <unistd.h>

#include <cstring>

#include "acl/rt/device.h"
#include "acl/rt/device_query.h"
#include "api/acl/entry.h"
#include "base/thread_pool.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using device::Runtime;

namespace {

// The attributes that a CPU device can answer truthfully.
Result<int64_t> attribute_of(const device::Device& device, aclrtDevAttr attr) {
  const auto threads = static_cast<int64_t>(ThreadPool::instance().threads());
  switch (attr) {
    case ACL_DEV_ATTR_AICPU_CORE_NUM:
    case ACL_DEV_ATTR_AICORE_CORE_NUM:
    case ACL_DEV_ATTR_CUBE_CORE_NUM:
    case ACL_DEV_ATTR_VECTOR_CORE_NUM:
      return threads;
    case ACL_DEV_ATTR_TOTAL_GLOBAL_MEM_SIZE:
      return static_cast<int64_t>(device.memory_total());
    case ACL_DEV_ATTR_L2_CACHE_SIZE:
      return static_cast<int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE));
    case ACL_DEV_ATTR_PHY_CHIP_ID:
      return int64_t{device.physical_id()};
    case ACL_DEV_ATTR_IS_VIRTUAL:
      return int64_t{1};
    default:
      return fail(Code::unsupported_feature,
                  "device attribute {} describes hardware that a CPU device does not have", attr);
  }
}

Status find_physical(int32_t physical, int32_t* logical) {
  Runtime& runtime = Runtime::instance();
  for (int32_t id = 0; id < runtime.device_count(); ++id) {
    if ((*runtime.device(id))->physical_id() == physical) {
      *logical = id;
      return {};
    }
  }
  return fail(Code::invalid_device, "no visible device has the physical id {}", physical);
}

Status check_feature(aclrtDevFeatureType feature) {
  if (feature == ACL_FEATURE_TSCPU_TASK_UPDATE_SUPPORT_AIC_AIV ||
      feature == ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV) {
    return {};
  }
  return fail(Code::invalid_argument, "feature {} is unknown; expected 1 or 21", feature);
}

}  // namespace

aclError aclrtGetDeviceInfo(uint32_t deviceId, aclrtDevAttr attr, int64_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_ASSIGN(auto device, Runtime::instance().device(static_cast<int32_t>(deviceId)));
    ANYNPU_ASSIGN(*value, attribute_of(*device, attr));
    return {};
  });
}

aclError aclrtGetDeviceCapability(int32_t deviceId, aclrtDevFeatureType devFeatureType,
                                  int32_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    ANYNPU_TRY(check_feature(devFeatureType));
    *value = ACL_DEV_FEATURE_NOT_SUPPORT;
    return {};
  });
}

aclError aclrtDeviceGetUuid(int32_t deviceId, aclrtUuid* uuid) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(uuid, "uuid"));
    ANYNPU_ASSIGN(auto device, Runtime::instance().device(deviceId));
    // The same on every run of this machine, different for each device: host id and device number.
    const uint32_t words[4] = {0x414e5955u, static_cast<uint32_t>(gethostid()), 0x4e505500u,
                               static_cast<uint32_t>(device->physical_id())};
    std::memcpy(uuid->bytes, words, sizeof words);
    return {};
  });
}

aclError aclrtDeviceGetBareTgid(int32_t* pid) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(pid, "pid"));
    *pid = getpid();
    return {};
  });
}

aclError aclrtDeviceGetStreamPriorityRange(int32_t* leastPriority, int32_t* greatestPriority) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(leastPriority, "leastPriority"));
    ANYNPU_TRY(check_pointer(greatestPriority, "greatestPriority"));
    *leastPriority = ThreadPool::kPriorities - 1;
    *greatestPriority = 0;
    return {};
  });
}

aclError aclrtGetDevicesTopo(uint32_t deviceId, uint32_t otherDeviceId, uint64_t* value) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(value, "value"));
    ANYNPU_TRY(Runtime::instance().device(static_cast<int32_t>(deviceId)).status());
    ANYNPU_TRY(Runtime::instance().device(static_cast<int32_t>(otherDeviceId)).status());
    *value = ACL_RT_DEVS_TOPOLOGY_SYS;  // all devices share the memory of one machine
    return {};
  });
}

aclError aclrtGetLogicDevIdByUserDevId(const int32_t userDevid, int32_t* const logicDevId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(logicDevId, "logicDevId"));
    ANYNPU_ASSIGN(auto device, Runtime::instance().device(userDevid));
    *logicDevId =
        device->physical_id();  // what a program passes, before the visible list is applied
    return {};
  });
}

aclError aclrtGetUserDevIdByLogicDevId(const int32_t logicDevId, int32_t* const userDevid) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(userDevid, "userDevid"));
    return find_physical(logicDevId, userDevid);
  });
}

aclError aclrtGetLogicDevIdByPhyDevId(const int32_t phyDevId, int32_t* const logicDevId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(logicDevId, "logicDevId"));
    return find_physical(phyDevId, logicDevId);  // the id that programs pass, as documented
  });
}

aclError aclrtGetPhyDevIdByLogicDevId(const int32_t logicDevId, int32_t* const phyDevId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(phyDevId, "phyDevId"));
    int32_t user;
    ANYNPU_TRY(find_physical(logicDevId, &user));
    *phyDevId = logicDevId;
    return {};
  });
}

aclError aclrtGetPhyDevIdByUserDevId(const int32_t userDevId, int32_t* const phyDevId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(phyDevId, "phyDevId"));
    ANYNPU_ASSIGN(auto device, Runtime::instance().device(userDevId));
    *phyDevId = device->physical_id();
    return {};
  });
}

aclError aclrtGetUserDevIdByPhyDevId(const int32_t phyDevId, int32_t* const userDevId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(userDevId, "userDevId"));
    return find_physical(phyDevId, userDevId);
  });
}
