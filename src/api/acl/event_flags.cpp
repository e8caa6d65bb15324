// SPDX-License-Identifier: Apache-2.0
// Records and waits with flags, waits with a time limit, and events of several processes.
#include "acl/rt/event_flags.h"

#include <cstring>

#include "acl/rt/event.h"
#include "api/acl/entry.h"
#include "service/event/events.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::from_handle;
using acl::to_handle;
using device::EventUse;
using device::SharedMarks;

namespace {

Result<EventUse> to_use(uint32_t flag) {
  if (flag <= ACL_EVENT_RECORD_EXTERNAL) return static_cast<EventUse>(flag);
  return fail(Code::invalid_argument, "flag is {}; expected 0 (DEFAULT) or 1 (EXTERNAL)", flag);
}

}  // namespace

aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream, uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const EventUse use, to_use(flag));
    return service::record_event(to_handle(event), to_handle(stream), use);
  });
}

aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event, uint32_t timeout,
                                      uint32_t flag) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(const EventUse use, to_use(flag));
    return service::wait_event_for(to_handle(stream), to_handle(event), timeout, use);
  });
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  return enter(__func__, [&] {
    return service::wait_event_for(to_handle(stream), to_handle(event), timeout, EventUse::inside);
  });
}

aclError aclrtIpcGetEventHandle(aclrtEvent event, aclrtIpcEventHandle* handle) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(handle, "handle"));
    ANYNPU_ASSIGN(const SharedMarks::Key key, service::share_event(to_handle(event)));
    static_assert(sizeof handle->reserved == sizeof key);
    std::memcpy(handle->reserved, key.data(), key.size());
    return {};
  });
}

aclError aclrtIpcOpenEventHandle(aclrtIpcEventHandle handle, aclrtEvent* event) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(event, "event"));
    SharedMarks::Key key;
    std::memcpy(key.data(), handle.reserved, key.size());
    ANYNPU_ASSIGN(const Handle opened, service::open_shared_event(key));
    *event = from_handle<aclrtEvent>(opened);
    return {};
  });
}
