// SPDX-License-Identifier: Apache-2.0
// Allocation (acl.rt.malloc, malloc_host and similar).
#include "device/memory.h"

#include "acl/rt/memory.h"
#include "api/acl/entry.h"
#include "base/env.h"
#include "base/memory_probe.h"
#include "base/soc.h"
#include "device/runtime.h"
#include "service/device/chip_facts.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;
using device::AllocateOptions;
using device::Runtime;

namespace {

constexpr int32_t kModifiers =
    ACL_MEM_TYPE_LOW_BAND_WIDTH | ACL_MEM_TYPE_HIGH_BAND_WIDTH | ACL_MEM_ACCESS_USER_SPACE_READONLY;

// Memory behind the caches has no pages for other devices.
Status check_cached_policy(aclrtMemMallocPolicy policy) {
  for (const auto known : {ACL_MEM_MALLOC_HUGE_FIRST, ACL_MEM_MALLOC_HUGE_ONLY,
                           ACL_MEM_MALLOC_NORMAL_ONLY, ACL_MEM_MALLOC_HUGE1G_ONLY}) {
    if (policy == known) return {};
  }
  return fail(Code::invalid_argument,
              "the policy is {}; cached memory takes 0 (huge first), 1 (huge), 2 (normal) or {} (1 "
              "GiB)",
              static_cast<int32_t>(policy), static_cast<int32_t>(ACL_MEM_MALLOC_HUGE1G_ONLY));
}

// An unknown policy is not an error: large blocks get huge pages.
bool wants_huge_pages(aclrtMemMallocPolicy policy, size_t size) {
  constexpr size_t kHugePage = 2u << 20;
  const int32_t base = policy & ~kModifiers;
  if (base < ACL_MEM_MALLOC_HUGE_FIRST || base > ACL_MEM_MALLOC_HUGE1G_ONLY_P2P)
    return size >= kHugePage;
  return base != ACL_MEM_MALLOC_NORMAL_ONLY && base != ACL_MEM_MALLOC_NORMAL_ONLY_P2P;
}

// Memory is allocated on the current device.
Status check_config_device(uint32_t device) {
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  const int32_t own = context->device()->id();
  if (static_cast<int32_t>(device) == own) return {};
  return fail(Code::invalid_argument, "cfg names device {}; the current device is {}", device, own);
}

Status check_config(const aclrtMallocConfig* config) {
  if (!config) return {};
  ANYNPU_TRY(check_pointer(config, "cfg"));
  if (config->numAttrs == 0) return {};
  ANYNPU_TRY(check_pointer(config->attrs, "cfg->attrs"));
  constexpr size_t kMostAttrs = ACL_RT_MEM_ATTR_VA_FLAG + 1;
  if (config->numAttrs > kMostAttrs ||
      !probe_readable(config->attrs, config->numAttrs * sizeof *config->attrs)) {
    return fail(Code::invalid_argument,
                "cfg has {} attributes at {:#x}; expected at most {} in memory that can be read",
                config->numAttrs, reinterpret_cast<uintptr_t>(config->attrs), kMostAttrs);
  }
  for (size_t i = 0; i < config->numAttrs; ++i) {
    if (config->attrs[i].attr > ACL_RT_MEM_ATTR_VA_FLAG || config->attrs[i].attr < 0) {
      return fail(Code::invalid_argument, "cfg attribute {} has the type {}; expected 0 to 3", i,
                  config->attrs[i].attr);
    }
    if (config->attrs[i].attr == ACL_RT_MEM_ATTR_DEVICE_ID) {
      ANYNPU_TRY(check_config_device(config->attrs[i].value.deviceId));
    }
  }
  return {};
}

Status allocate(void** devPtr, size_t size, aclrtMemMallocPolicy policy, size_t tail) {
  ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
  *devPtr = nullptr;
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  AllocateOptions options;
  options.tail = tail;
  options.huge = wants_huge_pages(policy, size);
  ANYNPU_ASSIGN(*devPtr, device::allocate_device(*context->device(), size, options));
  return {};
}

// On the host this is pinned memory; a program that runs on the device gets device memory.
Status allocate_host(void** hostPtr, size_t size) {
  ANYNPU_TRY(check_pointer(hostPtr, "hostPtr"));
  *hostPtr = nullptr;
  if (env::text(env::Name::run_mode) == "device" && Runtime::instance().current().ok()) {
    ANYNPU_ASSIGN(auto context, Runtime::instance().current());
    ANYNPU_ASSIGN(*hostPtr, device::allocate_device(*context->device(), size, {}));
    return {};
  }
  ANYNPU_ASSIGN(*hostPtr, device::allocate_host(size));
  return {};
}

bool is_ddr(aclrtMemAttr attr) {
  return attr == ACL_DDR_MEM || attr == ACL_DDR_MEM_HUGE || attr == ACL_DDR_MEM_NORMAL ||
         attr == ACL_DDR_MEM_P2P_HUGE || attr == ACL_DDR_MEM_P2P_NORMAL;
}

// A chip with HBM has no DDR; one with DDR gives its numbers for both.
Result<device::MemoryInfo> memory_info(aclrtMemAttr attr) {
  if (attr < ACL_DDR_MEM || attr > ACL_MEM_P2P_HUGE1G) {
    return fail(Code::invalid_argument, "the memory attribute is {}; expected 0 to {}", attr,
                static_cast<int>(ACL_MEM_P2P_HUGE1G));
  }
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  if (is_ddr(attr) && service::has_hbm(soc_name())) return device::MemoryInfo{};
  return device::memory_info(*context->device());
}

}  // namespace

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return enter(__func__, [&] { return allocate(devPtr, size, policy, 32); });
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return enter(__func__, [&] { return allocate(devPtr, size, policy, 0); });
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy policy) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_cached_policy(policy));
    return allocate(devPtr, size, policy, 32);
  });
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                            aclrtMallocConfig* cfg) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_config(cfg));
    return allocate(devPtr, size, policy, 32);
  });
}

aclError aclrtMallocForTaskScheduler(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                                     aclrtMallocConfig* cfg) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_config(cfg));
    return allocate(devPtr, size, policy, 32);
  });
}

aclError aclrtFree(void* devPtr) {
  return enter(__func__, [&] { return device::free_device(devPtr); });
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return enter<When::before_init>(__func__, [&] { return allocate_host(hostPtr, size); });
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_config(cfg));
    return allocate_host(ptr, size);
  });
}

aclError aclrtFreeHost(void* hostPtr) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    Status status = device::free_host(hostPtr);
    if (!status.ok() && env::text(env::Name::run_mode) == "device")
      return device::free_device(hostPtr);
    return status;
  });
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(free, "free"));
    ANYNPU_TRY(check_pointer(total, "total"));
    ANYNPU_ASSIGN(const auto info, memory_info(attr));
    *free = info.free;
    *total = info.total;
    return {};
  });
}
