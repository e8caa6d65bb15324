// SPDX-License-Identifier: Apache-2.0
// Counting notifies, and what notifies of other servers need.
#include "acl/rt/event_flags.h"
#include "api/acl/entry.h"
#include "device/notify.h"
#include "service/event/counting_notifies.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::remove_object;
using acl::to_handle;
using device::CountingNotify;

aclError aclrtCntNotifyCreate(aclrtCntNotify* cntNotify, uint64_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(cntNotify, "cntNotify"));
    ANYNPU_ASSIGN(const Handle handle, service::create_counting_notify(flag));
    *cntNotify = from_handle<aclrtCntNotify>(handle);
    return {};
  });
}

aclError aclrtCntNotifyDestroy(aclrtCntNotify cntNotify) {
  return enter(__func__, [&] { return remove_object<CountingNotify>(cntNotify); });
}

aclError aclrtCntNotifyGetId(aclrtCntNotify cntNotify, uint32_t* notifyId) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(notifyId, "notifyId"));
    ANYNPU_ASSIGN(auto found, resolve<CountingNotify>(to_handle(cntNotify)));
    *notifyId = found->id();
    return {};
  });
}

aclError aclrtCntNotifyRecord(aclrtCntNotify cntNotify, aclrtStream stream,
                              aclrtCntNotifyRecordInfo* info) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(info, "info"));
    return service::record_counting_notify(to_handle(cntNotify), to_handle(stream),
                                           static_cast<uint32_t>(info->mode), info->value);
  });
}

aclError aclrtCntNotifyWaitWithTimeout(aclrtCntNotify cntNotify, aclrtStream stream,
                                       aclrtCntNotifyWaitInfo* info) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(info, "info"));
    return service::wait_counting_notify(to_handle(cntNotify), to_handle(stream),
                                         static_cast<uint32_t>(info->mode),
                                         {{}, info->value, info->timeout, info->isClear != 0});
  });
}

aclError aclrtCntNotifyReset(aclrtCntNotify cntNotify, aclrtStream stream) {
  return enter(__func__, [&] {
    return service::reset_counting_notify(to_handle(cntNotify), to_handle(stream));
  });
}

aclError aclrtNotifySetImportPidInterServer(aclrtNotify notify, aclrtServerPid* serverPids,
                                            size_t num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(resolve<device::Notify>(to_handle(notify)).status());
    ANYNPU_TRY(check_pointer(serverPids, "serverPids"));
    return fail(Code::unsupported_feature,
                "{} lists of processes on other servers are given; notifies reach the processes of "
                "this machine alone, use aclrtNotifySetImportPid for those",
                num);
  });
}
