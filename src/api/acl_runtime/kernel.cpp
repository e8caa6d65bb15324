// SPDX-License-Identifier: Apache-2.0
// Kernels for the cores of a card, which cannot run here.
#include "runtime/kernel.h"

#include "api/acl/entry.h"
#include "api/arguments.h"

using namespace anynpu;

namespace {

aclError refuse_device_code(const char* function) {
  return acl::enter<acl::When::before_init>(function, []() -> Status {
    return fail(Code::unsupported_feature,
                "code for the cores of a card cannot run here; launch kernels with "
                "aclrtLaunchKernel (docs/single_operators.md says how they are made), or turn off "
                "the fused kernels of the framework (MindSpore: jit_level O0, or "
                "MS_DEV_GRAPH_KERNEL_FLAGS=--opt_level=0)");
  });
}

}  // namespace

// Registration is accepted: MindSpore's fused kernels (jit_level O1) end the process if it is not.
// What is registered is not kept, and launches are refused.
aclError rtDevBinaryRegister(const rtDevBinary_t* bin, void** handle) {
  return acl::enter<acl::When::before_init>(__func__, [&]() -> Status {
    ANYNPU_TRY(api::check_pointer(handle, "handle"));
    *handle = nullptr;
    ANYNPU_TRY(api::check_pointer(bin, "bin"));
    *handle = const_cast<rtDevBinary_t*>(bin);
    return {};
  });
}

aclError rtDevBinaryUnRegister(void*) { return ACL_SUCCESS; }

aclError rtFunctionRegister(void*, const void*, const char*, const void*, uint32_t) {
  return ACL_SUCCESS;
}

aclError rtKernelLaunch(const void*, uint32_t, void*, uint32_t, void*, aclrtStream) {
  return refuse_device_code(__func__);
}

aclError rtLaunch(const void*) { return refuse_device_code(__func__); }

aclError rtGetC2cCtrlAddr(uint64_t* addr, uint32_t* len) {
  if (addr != nullptr) *addr = 0;
  if (len != nullptr) *len = 0;
  return refuse_device_code(__func__);
}
