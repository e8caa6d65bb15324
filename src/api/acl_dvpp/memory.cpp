// SPDX-License-Identifier: Apache-2.0
// Memory for media.
#include "service/media/memory.h"

#include "api/acl_dvpp/objects.h"

using namespace anynpu;
using namespace anynpu::acl;
using namespace anynpu::dvpp;

namespace {

Status check_request(aclrtMemMallocPolicy policy, const aclrtMallocConfig* cfg) {
  if (cfg != nullptr) ANYNPU_TRY(acl::check_pointer(cfg, "cfg"));
  if (cfg != nullptr && cfg->numAttrs != 0)
    return fail(Code::unsupported_feature,
                "attributes of allocations are not supported for media memory; pass none");
  if (policy < ACL_MEM_MALLOC_HUGE_FIRST || policy > ACL_MEM_MALLOC_NORMAL_ONLY_P2P)
    return fail(Code::invalid_argument, "the policy is {}; expected 0 to {}", policy,
                ACL_MEM_MALLOC_NORMAL_ONLY_P2P);
  return {};
}

}  // namespace

aclError acldvppMalloc(void** devPtr, size_t size) {
  return give_value(__func__, devPtr, "devPtr", [&] { return media::allocate(size); });
}

aclError acldvppMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy policy,
                              aclrtMallocConfig* cfg) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_request(policy, cfg));
    ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
    ANYNPU_ASSIGN(*devPtr, media::allocate(size));
    return {};
  });
}

aclError acldvppFree(void* devPtr) {
  return enter(__func__, [&] { return device::free_device(devPtr); });
}
