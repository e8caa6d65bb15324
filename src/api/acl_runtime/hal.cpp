// SPDX-License-Identifier: Apache-2.0
// What published binaries link of the driver's library.
#include "api/acl/entry.h"
#include "api/arguments.h"
#include "device/host_memory.h"
#include "driver/ascend_hal.h"

using namespace anynpu;

namespace {

constexpr drvError_t kWrongValue = 3;

drvError_t driver_error(aclError error) { return error == 0 ? 0 : kWrongValue; }

Status register_memory(void* source, uint64_t size, void** seen) {
  ANYNPU_TRY(api::check_pointer(seen, "dstPtr"));
  ANYNPU_ASSIGN(*seen, device::register_host(source, size, device::Access::write));
  return {};
}

}  // namespace

drvError_t halHostRegister(void* srcPtr, uint64_t size, uint32_t, uint32_t, void** dstPtr) {
  return driver_error(acl::enter<acl::When::before_init>(
      __func__, [&] { return register_memory(srcPtr, size, dstPtr); }));
}

drvError_t halHostUnregister(void* srcPtr, uint32_t) {
  return driver_error(acl::enter<acl::When::before_init>(
      __func__, [&] { return device::unregister_host(srcPtr); }));
}
