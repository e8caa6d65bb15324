// SPDX-License-Identifier: Apache-2.0
// Memory for media: device memory whose start is a multiple of 128.
#include "device/memory.h"

#include "api/acl_dvpp/objects.h"
#include "device/runtime.h"

using namespace anynpu;
using namespace anynpu::acl;

namespace {

Status allocate(void** devPtr, size_t size) {
  ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
  ANYNPU_ASSIGN(auto context, device::Runtime::instance().current());
  device::AllocateOptions options;
  options.alignment = 128;
  ANYNPU_ASSIGN(*devPtr, device::allocate_device(*context->device(), size, options));
  return {};
}

}  // namespace

aclError acldvppMalloc(void** devPtr, size_t size) {
  return enter(__func__, [&] { return allocate(devPtr, size); });
}

aclError acldvppMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                              aclrtMallocConfig* cfg) {
  return enter(__func__, [&]() -> Status {
    if (cfg != nullptr && cfg->numAttrs != 0) {
      return fail(Code::unsupported_feature,
                  "attributes of allocations are not supported for media memory; pass none");
    }
    if (policy < ACL_MEM_MALLOC_HUGE_FIRST || policy > ACL_MEM_MALLOC_NORMAL_ONLY_P2P)
      return fail(Code::invalid_argument, "the policy is {}; expected 0 to {}", policy,
                  ACL_MEM_MALLOC_NORMAL_ONLY_P2P);
    return allocate(devPtr, size);
  });
}

aclError acldvppFree(void* devPtr) {
  return enter(__func__, [&] { return device::free_device(devPtr); });
}
