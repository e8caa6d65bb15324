// SPDX-License-Identifier: Apache-2.0
// Device memory shared between processes by key (acl.rt.ipc_mem_get_export_key and similar).
#include "device/ipc_memory.h"

#include "acl/rt/shared_memory.h"
#include "api/acl/entry.h"
#include "api/acl/share_flags.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_key;
using acl::check_pointer;
using acl::enter;
using device::Runtime;

namespace {

Result<void*> import_by_key(const char* key, uint64_t flags) {
  if (flags > ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS) {
    return fail(Code::invalid_argument, "flags is {}; expected 0 or 1", flags);
  }
  ANYNPU_ASSIGN(const std::string text, check_key(key));
  ANYNPU_ASSIGN(auto context, Runtime::instance().current());
  return device::import_memory(text, *context->device());
}

}  // namespace

aclError aclrtIpcMemGetExportKey(void* devPtr, size_t size, char* key, size_t len, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(acl::check_key_room(key, len));
    ANYNPU_ASSIGN(const auto admit,
                  acl::check_share_flags(flags, ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    ANYNPU_ASSIGN(const std::string text, device::export_memory(devPtr, size, admit));
    std::memcpy(key, text.c_str(), text.size() + 1);
    return {};
  });
}

aclError aclrtIpcMemSetImportPid(const char* key, int32_t* pid, size_t num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const std::string text, check_key(key));
    ANYNPU_ASSIGN(const auto pids, acl::check_pids(pid, num));
    return device::let_in_by_key(text, pids);
  });
}

aclError aclrtIpcMemImportByKey(void** devPtr, const char* key, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(devPtr, "devPtr"));
    *devPtr = nullptr;
    ANYNPU_ASSIGN(*devPtr, import_by_key(key, flags));
    return {};
  });
}

aclError aclrtIpcMemClose(const char* key) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const std::string text, check_key(key));
    return device::close_memory_key(text);
  });
}
