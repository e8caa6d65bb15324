// SPDX-License-Identifier: Apache-2.0
// Memory of devices and of the host.
#include "api/hpe/entry.h"
#include "npc/host/host.h"
#include "npc/host/host_memory.h"

using namespace anynpu;
using hpe::check_pointer;
using hpe::enter;

namespace {

void* to_pointer(uint32_t address) { return reinterpret_cast<void*>(uintptr_t{address}); }

}  // namespace

stcError_t stcMalloc(void** pointer, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(pointer, "pointer"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(const uint32_t address, device->cluster().allocate(size));
    *pointer = to_pointer(address);
    return {};
  });
}

stcError_t stcMallocHigh(void** pointer, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(pointer, "pointer"));
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    ANYNPU_ASSIGN(const uint32_t address, device->cluster().allocate_high(size));
    *pointer = to_pointer(address);
    return {};
  });
}

stcError_t stcFree(void* pointer) {
  return enter(__func__, [&]() -> Status {
    if (!pointer) return {};
    ANYNPU_ASSIGN(auto* device, npc::current_device());
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    if (address > UINT32_MAX) {
      return fail(Code::invalid_address,
                  "{:#x} is no address of a cluster; pass what stcMalloc gave", address);
    }
    return device->cluster().release(static_cast<uint32_t>(address));
  });
}

stcError_t stcMallocHost(void** pointer, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(pointer, "pointer"));
    ANYNPU_ASSIGN(*pointer, npc::allocate_locked(size));
    return {};
  });
}

stcError_t stcFreeHost(void* pointer) {
  return enter(__func__, [&]() -> Status {
    if (!pointer) return {};
    return npc::free_locked(pointer);
  });
}

stcError_t stcHostRegister(void* pointer, size_t size) {
  return enter(__func__, [&] { return npc::register_host(pointer, size); });
}

stcError_t stcHostUnregister(void* pointer) {
  return enter(__func__, [&] { return npc::unregister_host(pointer); });
}
