// SPDX-License-Identifier: Apache-2.0
// Queries about memory, and freeing it after all work (acl/rt/memory_query.h).
#include "acl/rt/memory_query.h"

#include <atomic>
#include <cstring>
#include <span>

#include "acl/rt/memory_map.h"
#include "api/acl/entry.h"
#include "service/memory/memory_query.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;

namespace {

void describe_user(const service::MemoryUser& user, aclrtMemUsageInfo& out) {
  std::memset(&out, 0, sizeof out);
  user.name.copy(out.name, sizeof out.name - 1);
  out.curMemSize = user.bytes;
  out.memPeakSize = user.peak;
}

Status check_reserved(uint64_t value, const char* name) {
  if (value == 0) return {};
  return fail(Code::invalid_argument, "{} is {}; expected 0", name, value);
}

Status check_one_of(void** pbase, size_t* psize) {
  if (!pbase && !psize) {
    return fail(Code::invalid_argument, "pbase and psize are both null; pass one of them");
  }
  ANYNPU_TRY(acl::check_optional(pbase, "pbase"));
  return acl::check_optional(psize, "psize");
}

}  // namespace

extern "C" {

aclError aclrtMemGetAddressRange(void* ptr, void** pbase, size_t* psize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_one_of(pbase, psize));
    ANYNPU_ASSIGN(const auto block, service::memory_block(ptr));
    if (pbase) *pbase = block.base;
    if (psize) *psize = block.bytes;
    return {};
  });
}

aclError aclrtGetMemUsageInfo(int32_t deviceId, aclrtMemUsageInfo* memUsageInfo, size_t inputNum,
                              size_t* outputNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(memUsageInfo, "memUsageInfo"));
    ANYNPU_TRY(check_pointer(outputNum, "outputNum"));
    ANYNPU_ASSIGN(const auto users, service::memory_users(deviceId));
    *outputNum = std::min(inputNum, users.size());
    for (size_t i = 0; i < *outputNum; ++i) describe_user(users[i], memUsageInfo[i]);
    return {};
  });
}

aclError aclrtCheckMemType(void** addrList, uint32_t size, uint32_t memType, uint32_t* checkResult,
                           uint32_t reserve) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(size > 0 ? addrList : nullptr, "addrList (or its size 0)"));
    ANYNPU_TRY(check_pointer(checkResult, "checkResult"));
    ANYNPU_TRY(check_reserved(reserve, "reserve"));
    ANYNPU_ASSIGN(*checkResult, service::are_of_types({addrList, size}, memType));
    return {};
  });
}

aclError aclrtHostMemMapCapabilities(uint32_t deviceId, aclrtHacType hacType,
                                     aclrtHostMemMapCapability* capabilities) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(capabilities, "capabilities"));
    ANYNPU_ASSIGN(const bool reaches, service::reaches_host_memory(static_cast<int32_t>(deviceId),
                                                                   static_cast<int>(hacType)));
    *capabilities = reaches ? ACL_RT_HOST_MEM_MAP_SUPPORTED : ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
    return {};
  });
}

aclError aclrtDeviceL2CacheFlush(void* rsv) {
  return enter(__func__, [&]() -> Status {
    if (rsv) return fail(Code::invalid_argument, "rsv is {}; expected null", rsv);
    // Caches are coherent with everything that reads device memory: order is all it takes.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return {};
  });
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  return enter(__func__, [&] { return service::free_device_after_work(devPtr); });
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
  return enter<When::before_init>(__func__, [&] { return service::free_host_after_work(hostPtr); });
}

}  // extern "C"
