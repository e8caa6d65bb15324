// SPDX-License-Identifier: Apache-2.0
// Physical memory shared with other processes, by handles of two kinds, and attributes of shared
// memory (acl/rt/memory_map.h).
#include <cstring>

#include "acl/rt/memory_map.h"
#include "api/acl/entry.h"
#include "api/acl/share_flags.h"
#include "device/physical_memory.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_array;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using device::PhysicalMemory;
using device::Runtime;

namespace {

Status check_share_type(aclrtMemSharedHandleType type) {
  if (type == ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT || type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC)
    return {};
  return fail(Code::invalid_argument, "shareType is {}; expected 1 (default) or 2 (fabric)",
              static_cast<int>(type));
}

// A number is 8 bytes; a fabric handle has it in front of zeros.
Result<uint64_t> read_shareable(const void* shareable, aclrtMemSharedHandleType type) {
  ANYNPU_TRY(check_share_type(type));
  const bool fabric = type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
  const auto* bytes = static_cast<const char*>(shareable);
  ANYNPU_TRY(check_array(bytes, fabric ? sizeof(aclrtMemFabricHandle) : sizeof(uint64_t),
                         "shareableHandle"));
  uint64_t number = 0;
  std::memcpy(&number, shareable, sizeof number);
  return number;
}

void write_shareable(void* shareable, aclrtMemSharedHandleType type, uint64_t number) {
  const bool fabric = type == ACL_MEM_SHARE_HANDLE_TYPE_FABRIC;
  std::memset(shareable, 0, fabric ? sizeof(aclrtMemFabricHandle) : sizeof number);
  std::memcpy(shareable, &number, sizeof number);
}

Result<uint64_t> export_shareable(aclrtDrvMemHandle handle, uint64_t flags) {
  ANYNPU_ASSIGN(const auto admit,
                acl::check_share_flags(flags, ACL_RT_VMM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  ANYNPU_ASSIGN(auto memory, resolve<PhysicalMemory>(to_handle(handle)));
  return memory->export_number(admit);
}

Result<Handle> import_shareable(uint64_t number, uint64_t flags) {
  if (flags != 0) return fail(Code::invalid_argument, "flags is {}; expected 0", flags);
  ANYNPU_ASSIGN(const auto context, Runtime::instance().current());
  ANYNPU_TRY(device::check_importer(number));
  ANYNPU_ASSIGN(auto memory, PhysicalMemory::import(number, *context->device()));
  return memory->retain();
}

}  // namespace

extern "C" {

aclError aclrtMemExportToShareableHandleV2(aclrtDrvMemHandle handle, uint64_t flags,
                                           aclrtMemSharedHandleType shareType,
                                           void* shareableHandle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(read_shareable(shareableHandle, shareType).status());
    ANYNPU_ASSIGN(const uint64_t number, export_shareable(handle, flags));
    write_shareable(shareableHandle, shareType, number);
    return {};
  });
}

aclError aclrtMemSetPidToShareableHandleV2(void* shareableHandle,
                                           aclrtMemSharedHandleType shareType, int32_t* pid,
                                           size_t pidNum) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const uint64_t number, read_shareable(shareableHandle, shareType));
    ANYNPU_ASSIGN(const auto pids, acl::check_pids(pid, pidNum));
    return device::let_in(number, pids);
  });
}

aclError aclrtMemImportFromShareableHandleV2(void* shareableHandle,
                                             aclrtMemSharedHandleType shareType, uint64_t flags,
                                             aclrtDrvMemHandle* handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_ASSIGN(const uint64_t number, read_shareable(shareableHandle, shareType));
    ANYNPU_ASSIGN(const Handle given, import_shareable(number, flags));
    *handle = from_handle<aclrtDrvMemHandle>(given);
    return {};
  });
}

aclError aclrtIpcMemSetAttr(const char* key, aclrtIpcMemAttrType type, uint64_t attr) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(acl::check_key(key).status());
    if (type != ACL_RT_IPC_MEM_ATTR_ACCESS_LINK || attr > ACL_RT_MEM_ACCESS_UB_MULTI_PORT_PATH) {
      return fail(Code::invalid_argument, "type is {}, attr {}; expected 0, and 0 to 3",
                  static_cast<int>(type), attr);
    }
    if (attr == ACL_RT_MEM_ACCESS_LINK_SIO) return {};
    return fail(Code::unsupported_feature, "link {} is not there; 0 is the only one", attr);
  });
}

}  // extern "C"
