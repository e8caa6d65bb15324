// SPDX-License-Identifier: Apache-2.0
// Kernels for the cores of a card, which cannot run here.
#include "runtime/kernel.h"

#include "api/acl/entry.h"

using namespace anynpu;

namespace {

aclError refuse_device_code(const char* function) {
  return acl::enter<acl::When::before_init>(function, []() -> Status {
    return fail(Code::unsupported_feature,
                "code for the cores of a card cannot run here; launch kernels with "
                "aclrtLaunchKernel (docs/single_operators.md says how they are made), or turn off "
                "the fused kernels of the framework");
  });
}

}  // namespace

aclError rtDevBinaryRegister(const rtDevBinary_t*, void** handle) {
  if (handle != nullptr) *handle = nullptr;
  return refuse_device_code(__func__);
}

aclError rtDevBinaryUnRegister(void*) { return refuse_device_code(__func__); }

aclError rtFunctionRegister(void*, const void*, const char*, const void*, uint32_t) {
  return refuse_device_code(__func__);
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
