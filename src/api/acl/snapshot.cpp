// SPDX-License-Identifier: Apache-2.0
// Snapshots of the process on its devices (acl/rt/snapshot.h).
#include "acl/rt/snapshot.h"

#include "api/acl/entry.h"
#include "service/snapshot/snapshot.h"

using namespace anynpu;
using acl::enter;

namespace {

Status check_unused(const void* reserve) {
  if (!reserve) return {};
  return fail(Code::invalid_argument, "reserve or args is {}; expected null", reserve);
}

}  // namespace

extern "C" {

aclError aclrtSnapShotProcessLock(int pid, void* reserve) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_unused(reserve));
    return service::lock_process(pid);
  });
}

aclError aclrtSnapShotProcessBackup(int pid, aclrtSnapShotBackupArgs* args) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_unused(args));
    return service::back_up_process(pid);
  });
}

aclError aclrtSnapShotProcessRestore(int pid, aclrtSnapShotRestoreArgs* args) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_unused(args));
    return service::restore_process(pid);
  });
}

aclError aclrtSnapShotProcessUnlock(int pid, void* reserve) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_unused(reserve));
    return service::unlock_process(pid);
  });
}

aclError aclrtSnapShotCallbackRegister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback,
                                       void* args) {
  return enter(__func__, [&] {
    return service::add_snapshot_callback(static_cast<int>(stage),
                                          reinterpret_cast<const void*>(callback),
                                          [=](int32_t device) { return callback(device, args); });
  });
}

aclError aclrtSnapShotCallbackUnregister(aclrtSnapShotStage stage, aclrtSnapShotCallBack callback) {
  return enter(__func__, [&] {
    return service::remove_snapshot_callback(static_cast<int>(stage),
                                             reinterpret_cast<const void*>(callback));
  });
}

}  // extern "C"
