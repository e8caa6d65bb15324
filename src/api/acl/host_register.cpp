// SPDX-License-Identifier: Apache-2.0
// Host memory registered with devices, and queries about an address
// (acl.rt.host_register, pointer_get_attributes, mem_flush, get_mem_uce_info and similar).
#include <atomic>
#include <cstring>
#include <span>

#include "acl/rt/memory.h"
#include "api/acl/entry.h"
#include "device/host_memory.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using device::Access;
using device::PointerInfo;
using device::Runtime;

namespace {

constexpr uint32_t kRegisterFlags =
    ACL_HOST_REG_MAPPED | ACL_HOST_REG_IOMEMORY | ACL_HOST_REG_READONLY | ACL_HOST_REG_PINNED;

Status register_host(void* ptr, uint64_t size, uint32_t flags, void** devPtr) {
  ANYNPU_TRY(Runtime::instance().current().status());
  if (flags & ACL_HOST_REG_IOMEMORY) {
    return fail(Code::unsupported_feature,
                "memory of other hardware (IOMEMORY) cannot be registered: devices here see the "
                "memory of the "
                "process only; register ordinary memory as MAPPED");
  }
  ANYNPU_ASSIGN(void* const registered,
                device::register_host(
                    ptr, size, flags & ACL_HOST_REG_READONLY ? Access::read : Access::write));
  if (devPtr) *devPtr = registered;
  return {};
}

// Devices here share the memory and the caches of the process: order is all there is to bring
// about.
Status order_memory(const void* devPtr, size_t size) {
  if (size == 0) return fail(Code::invalid_argument, "size is 0; name at least one byte");
  ANYNPU_TRY(device::check_range(devPtr, size, Access::read, "dev_ptr").status());
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return {};
}

void describe(const PointerInfo& info, aclrtPtrAttributes& out) {
  std::memset(&out, 0, sizeof out);
  out.location.type = info.owner == PointerInfo::Owner::device ? ACL_MEM_LOCATION_TYPE_DEVICE
                      : info.owner == PointerInfo::Owner::host ? ACL_MEM_LOCATION_TYPE_HOST
                                                               : ACL_MEM_LOCATION_TYPE_UNREGISTERED;
  out.location.id = static_cast<uint32_t>(info.device_id);
  out.pageSize = static_cast<uint32_t>(info.page_bytes);
}

// The memory of the host corrects its faults or ends the process: there is never one to repair.
Status repair(int32_t device, std::span<const aclrtMemUceInfo> faults) {
  if (faults.size() > ACL_RT_MEM_UCE_INFO_MAX_NUM) {
    return fail(Code::invalid_argument, "{} entries were passed; expected at most {}",
                faults.size(), ACL_RT_MEM_UCE_INFO_MAX_NUM);
  }
  return fail(Code::invalid_argument,
              "device {} has no faulty memory at {}; pass what get_mem_uce_info returned", device,
              faults[0].addr);
}

}  // namespace

aclError aclrtHostRegister(void* ptr, uint64_t size, aclrtHostRegisterType type, void** devPtr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
    *devPtr = nullptr;
    if (type != ACL_HOST_REGISTER_MAPPED && type != ACL_HOST_REGISTER_IOMEMORY &&
        type != ACL_HOST_REGISTER_READONLY) {
      return fail(Code::invalid_argument,
                  "type is {}; expected 0 (mapped), 4 (IO memory) or 8 (read only)", type);
    }
    return register_host(ptr, size, static_cast<uint32_t>(type), devPtr);
  });
}

aclError aclrtHostRegisterV2(void* ptr, uint64_t size, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    if (flag == 0 || (flag & ~kRegisterFlags)) {
      return fail(Code::invalid_argument, "flag is {:#x}; expected a combination of {:#x}", flag,
                  kRegisterFlags);
    }
    return register_host(ptr, size, flag, nullptr);
  });
}

aclError aclrtHostGetDevicePointer(void* pHost, void** pDevice, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(pDevice, "pDevice"));
    *pDevice = nullptr;
    if (flag != 0) return fail(Code::invalid_argument, "flag is {}; expected 0", flag);
    ANYNPU_ASSIGN(*pDevice, device::device_pointer(pHost));
    return {};
  });
}

aclError aclrtHostUnregister(void* ptr) {
  return enter(__func__, [&] { return device::unregister_host(ptr); });
}

aclError aclrtPointerGetAttributes(const void* ptr, aclrtPtrAttributes* attributes) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(attributes, "attributes"));
    ANYNPU_TRY(check_pointer(ptr, "ptr"));
    describe(device::describe_pointer(ptr), *attributes);
    return {};
  });
}

aclError aclrtMemFlush(void* devPtr, size_t size) {
  return enter(__func__, [&] { return order_memory(devPtr, size); });
}

aclError aclrtMemInvalidate(void* devPtr, size_t size) {
  return enter(__func__, [&] { return order_memory(devPtr, size); });
}

// The memory of the host corrects its faults or ends the process: there is never a list of them.
aclError aclrtGetMemUceInfo(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize,
                            size_t* retSize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(memUceInfoArray, "memUceInfoArray"));
    ANYNPU_TRY(check_pointer(retSize, "retSize"));
    if (arraySize == 0)
      return fail(Code::invalid_argument, "arraySize is 0; give room for at least one entry");
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    *retSize = 0;
    return {};
  });
}

aclError aclrtMemUceRepair(int32_t deviceId, aclrtMemUceInfo* memUceInfoArray, size_t arraySize) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(Runtime::instance().device(deviceId).status());
    if (arraySize == 0) return {};
    ANYNPU_TRY(check_pointer(memUceInfoArray, "memUceInfoArray"));
    return repair(deviceId, {memUceInfoArray, arraySize});
  });
}
