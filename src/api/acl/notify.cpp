// SPDX-License-Identifier: Apache-2.0
// Notifies (acl.rt.create_notify and similar).
#include "device/notify.h"

#include <span>

#include "acl/rt/event.h"
#include "api/acl/entry.h"
#include "api/acl/share_flags.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::insert_object;
using acl::remove_object;
using acl::to_handle;
using device::Notify;
using device::Runtime;

namespace {

constexpr size_t kMaxNotifies = 65536;

Status insert_notify(aclrtNotify* notify, std::shared_ptr<Notify> made) {
  if (HandleTable::instance().live(HandleTag::notify) >= kMaxNotifies) {
    return fail(Code::out_of_notifies, "{} notifies exist, the most there may be; destroy some",
                kMaxNotifies);
  }
  ANYNPU_ASSIGN(*notify, insert_object<aclrtNotify>(std::move(made)));
  return {};
}

// All are checked before the first is reset.
Status reset_all(std::span<const aclrtNotify> notifies) {
  if (notifies.empty()) return fail(Code::invalid_argument, "num is 0; pass at least one notify");
  for (size_t i = 0; i < notifies.size(); ++i) {
    ANYNPU_TRY(resolve<Notify>(to_handle(notifies[i])).status(), "for notify {} of {}", i,
               notifies.size());
  }
  for (const aclrtNotify notify : notifies) {
    if (auto found = HandleTable::instance().find<Notify>(to_handle(notify))) found->reset();
  }
  return {};
}

Result<std::shared_ptr<Notify>> import_notify(const char* key, uint64_t flags) {
  if (flags & ~uint64_t{ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS}) {
    return fail(Code::invalid_argument, "flags is {}; expected 0 or 2", flags);
  }
  ANYNPU_ASSIGN(const std::string text, acl::check_key(key));
  ANYNPU_TRY(Runtime::instance().current().status());
  return Notify::import(text, 0);
}

}  // namespace

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(notify, "notify"));
    *notify = nullptr;
    if (flag > ACL_NOTIFY_DEVICE_USE_ONLY) {
      return fail(Code::invalid_argument, "flag is {}; expected 0 or 1 (device use only)", flag);
    }
    ANYNPU_TRY(Runtime::instance().current().status());
    return insert_notify(notify, std::make_shared<Notify>(static_cast<uint32_t>(flag)));
  });
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  return enter(__func__, [&] { return remove_object<Notify>(notify); });
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, resolve<Notify>(to_handle(notify)));
    ANYNPU_ASSIGN(auto on, Runtime::instance().stream(to_handle(stream)));
    return found->record(*on);
  });
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, resolve<Notify>(to_handle(notify)));
    ANYNPU_ASSIGN(auto on, Runtime::instance().stream(to_handle(stream)));
    return found->wait_and_reset(*on, timeout);
  });
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(notifies, "notifies"));
    return reset_all({notifies, num});
  });
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(notifyId, "notifyId"));
    ANYNPU_ASSIGN(auto found, resolve<Notify>(to_handle(notify)));
    *notifyId = found->id();
    return {};
  });
}

aclError aclrtNotifyGetExportKey(aclrtNotify notify, char* key, size_t len, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(acl::check_key_room(key, len));
    ANYNPU_ASSIGN(const auto admit,
                  acl::check_share_flags(flags, ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
    ANYNPU_ASSIGN(auto found, resolve<Notify>(to_handle(notify)));
    ANYNPU_ASSIGN(const std::string text, found->export_key(admit));
    std::memcpy(key, text.c_str(), text.size() + 1);
    return {};
  });
}

aclError aclrtNotifyImportByKey(aclrtNotify* notify, const char* key, uint64_t flags) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(notify, "notify"));
    *notify = nullptr;
    ANYNPU_ASSIGN(auto made, import_notify(key, flags));
    return insert_notify(notify, std::move(made));
  });
}

aclError aclrtNotifySetImportPid(aclrtNotify notify, int32_t* pid, size_t num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, resolve<Notify>(to_handle(notify)));
    ANYNPU_ASSIGN(const auto pids, acl::check_pids(pid, num));
    return found->let_in(pids);
  });
}
