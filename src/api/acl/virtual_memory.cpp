// SPDX-License-Identifier: Apache-2.0
// Virtual and physical memory (acl.rt.reserve_mem_address, malloc_physical, map_mem and similar).
#include "device/virtual_memory.h"

#include "acl/rt/shared_memory.h"
#include "api/acl/entry.h"
#include "api/acl/share_flags.h"
#include "base/align.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using device::PhysicalMemory;
using device::Runtime;

namespace {

constexpr size_t kNormalPage = 4096;
constexpr size_t kHugePageBytes = size_t{2} << 20;
constexpr size_t kGigaPage = size_t{1} << 30;
constexpr uint64_t kMostReserveFlags = 1;  // 1: huge pages, which reserve nothing different here

size_t granularity_of(aclrtMemAttr attribute) {
  switch (attribute) {
    case ACL_DDR_MEM_NORMAL:
    case ACL_HBM_MEM_NORMAL:
    case ACL_DDR_MEM_P2P_NORMAL:
    case ACL_HBM_MEM_P2P_NORMAL:
    case ACL_MEM_NORMAL:
    case ACL_MEM_P2P_NORMAL:
      return kNormalPage;
    case ACL_HBM_MEM_HUGE1G:
    case ACL_HBM_MEM_P2P_HUGE1G:
    case ACL_MEM_HUGE1G:
    case ACL_MEM_P2P_HUGE1G:
      return kGigaPage;
    default:
      return kHugePageBytes;
  }
}

Status check_property(const aclrtPhysicalMemProp* prop) {
  ANYNPU_TRY(check_pointer(prop, "prop"));
  if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE &&
      prop->handleType != ACL_MEM_HANDLE_TYPE_POSIX) {
    return fail(Code::invalid_argument, "prop.handleType is {}; expected 0 (none) or 2",
                prop->handleType);
  }
  if (prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return fail(Code::invalid_argument, "prop.allocationType is {}; expected 0 (pinned)",
                prop->allocationType);
  }
  if (prop->memAttr < ACL_DDR_MEM || prop->memAttr > ACL_MEM_P2P_HUGE1G) {
    return fail(Code::invalid_argument, "prop.memAttr is {}; expected 0 to 17 (aclrtMemAttr)",
                prop->memAttr);
  }
  const auto type = prop->location.type;
  if (type == ACL_MEM_LOCATION_TYPE_DEVICE) {
    return Runtime::instance().device(static_cast<int32_t>(prop->location.id)).status();
  }
  if (type == ACL_MEM_LOCATION_TYPE_HOST || type == ACL_MEM_LOCATION_TYPE_HOST_NUMA) return {};
  return fail(Code::invalid_argument,
              "prop.location.type is {}; expected 0 (host), 1 (device) or 4 (host NUMA)", type);
}

Status malloc_physical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp& prop) {
  const size_t unit = granularity_of(prop.memAttr);
  if (size == 0 || size > SIZE_MAX - unit) {
    return fail(Code::invalid_argument,
                "the size is {}; ask for at least one byte and at most what a device has", size);
  }
  std::shared_ptr<device::Device> owner;
  if (prop.location.type == ACL_MEM_LOCATION_TYPE_DEVICE) {
    ANYNPU_ASSIGN(owner, Runtime::instance().device(static_cast<int32_t>(prop.location.id)));
  }
  ANYNPU_ASSIGN(auto memory, PhysicalMemory::create(owner.get(), round_up(size, unit)));
  memory->properties = {prop.handleType,    prop.allocationType, prop.memAttr,
                        prop.location.type, prop.location.id,    prop.reserve};
  ANYNPU_ASSIGN(const Handle given, memory->retain());
  *handle = from_handle<aclrtDrvMemHandle>(given);
  return {};
}

// A mapping is that of the whole handle.
Status check_whole(const PhysicalMemory& memory, size_t size, size_t offset) {
  const bool told_below = offset % kNormalPage != 0;  // as an alignment
  if (told_below || (offset == 0 && size == memory.bytes())) return {};
  return fail(Code::invalid_argument,
              "size is {}, offset {}; expected the {} bytes of the handle, and 0", size, offset,
              memory.bytes());
}

Result<size_t> granularity(const aclrtPhysicalMemProp* property,
                           aclrtMemGranularityOptions option) {
  ANYNPU_TRY(check_property(property));
  const size_t least = granularity_of(property->memAttr);
  if (option == ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM) return least;
  if (option == ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) return std::max(least, kHugePageBytes);
  return fail(Code::invalid_argument, "option is {}; expected 0 (minimum) or 1 (recommended)",
              option);
}

Result<Handle> import_physical(uint64_t shareable, int32_t device) {
  ANYNPU_ASSIGN(auto owner, Runtime::instance().device(device));
  ANYNPU_TRY(device::check_importer(shareable));
  ANYNPU_ASSIGN(auto memory, PhysicalMemory::import(shareable, *owner));
  return memory->retain();
}

Status check_handle_type(aclrtMemHandleType type) {
  if (type == ACL_MEM_HANDLE_TYPE_NONE) return {};
  return fail(Code::invalid_argument, "handleType is {}; expected 0 (none)", type);
}

}  // namespace

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(virPtr, "virPtr"));
    if (flags > kMostReserveFlags)
      return fail(Code::invalid_argument, "flags is {}; expected 0 or 1", flags);
    ANYNPU_ASSIGN(*virPtr, device::reserve_addresses(size, alignment, expectPtr));
    return {};
  });
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  return enter(__func__, [&] { return device::release_addresses(virPtr); });
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size,
                             const aclrtPhysicalMemProp* prop, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    *handle = nullptr;
    if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
    ANYNPU_TRY(check_property(prop));
    return malloc_physical(handle, size, *prop);
  });
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto memory, resolve<PhysicalMemory>(to_handle(handle)));
    return memory->release(to_handle(handle));
  });
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle,
                     uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
    ANYNPU_ASSIGN(auto memory, resolve<PhysicalMemory>(to_handle(handle)));
    ANYNPU_TRY(check_whole(*memory, size, offset));
    return device::map_memory(virPtr, size, offset, memory.share());
  });
}

aclError aclrtUnmapMem(void* virPtr) {
  return enter(__func__, [&] { return device::unmap_memory(virPtr); });
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop,
                                          aclrtMemGranularityOptions option, size_t* granularity) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(granularity, "granularity"));
    ANYNPU_ASSIGN(*granularity, ::granularity(prop, option));
    return {};
  });
}

aclError aclrtMemExportToShareableHandle(aclrtDrvMemHandle handle, aclrtMemHandleType handleType,
                                         uint64_t flags, uint64_t* shareableHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(shareableHandle, "shareableHandle"));
    ANYNPU_TRY(check_handle_type(handleType));
    ANYNPU_ASSIGN(const auto admit,
                  acl::check_share_flags(flags, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    ANYNPU_ASSIGN(auto memory, resolve<PhysicalMemory>(to_handle(handle)));
    ANYNPU_ASSIGN(*shareableHandle, memory->export_number(admit));
    return {};
  });
}

aclError aclrtMemImportFromShareableHandle(uint64_t shareableHandle, int32_t deviceId,
                                           aclrtDrvMemHandle* handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    *handle = nullptr;
    ANYNPU_ASSIGN(const Handle given, import_physical(shareableHandle, deviceId));
    *handle = from_handle<aclrtDrvMemHandle>(given);
    return {};
  });
}

aclError aclrtMemSetPidToShareableHandle(uint64_t shareableHandle, int32_t* pid, size_t pidNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const auto pids, acl::check_pids(pid, pidNum));
    return device::let_in(shareableHandle, pids);
  });
}
