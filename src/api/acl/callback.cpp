// SPDX-License-Identifier: Apache-2.0
// Callbacks of streams (acl.rt.subscribe_report, launch_callback, process_report).
#include "acl/rt/callback.h"

#include "api/acl/entry.h"
#include "device/report.h"
#include "device/runtime.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::to_handle;
using device::ReportQueues;
using device::Runtime;

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return ReportQueues::instance().subscribe(threadId, found);
  });
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    return ReportQueues::instance().unsubscribe(threadId, *found);
  });
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(fn), "fn"));
    if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
      return fail(Code::invalid_argument, "blockType is {}; expected 0 (no block) or 1 (block)", blockType);
    }
    ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
    const auto block = blockType == ACL_CALLBACK_BLOCK ? ReportQueues::Block::yes : ReportQueues::Block::no;
    return ReportQueues::instance().launch([fn, userData] { fn(userData); }, block, *found);
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    if (timeout < -1 || timeout == 0) {
      return fail(Code::invalid_argument, "the timeout is {} ms; expected -1 (for ever) or more than 0",
                  timeout);
    }
    return ReportQueues::instance().process(Deadline::after_ms(timeout));
  });
}
