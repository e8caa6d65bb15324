// SPDX-License-Identifier: Apache-2.0
// Callbacks of streams (acl.rt.subscribe_report, launch_callback, process_report).
#include "acl/rt/callback.h"

#include <functional>
#include <memory>
#include <utility>

#include "anynpu.h"
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

namespace {

Status launch(std::function<void()> callback, int block_type, aclrtStream stream) {
  if (block_type != ACL_CALLBACK_NO_BLOCK && block_type != ACL_CALLBACK_BLOCK) {
    return fail(Code::invalid_argument, "blockType is {}; expected 0 (no block) or 1 (block)",
                block_type);
  }
  ANYNPU_ASSIGN(auto found, Runtime::instance().stream(to_handle(stream)));
  const auto block =
      block_type == ACL_CALLBACK_BLOCK ? ReportQueues::Block::yes : ReportQueues::Block::no;
  return ReportQueues::instance().launch(std::move(callback), block, *found);
}

}  // namespace

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(reinterpret_cast<const void*>(fn), "fn"));
    return launch([fn, userData] { fn(userData); }, blockType, stream);
  });
}

int anynpu_acl_launch_callback(void (*fn)(void*), void* user_data, void (*release)(void*),
                               int block_type, void* stream) {
  // The last copy of the callback goes when it has run, or when its stream drops it.
  std::shared_ptr<void> owned(user_data, release);
  return enter("aclrtLaunchCallback", [&]() -> Status {
    return launch([fn, owned = std::move(owned)] { fn(owned.get()); }, block_type, stream);
  });
}

aclError aclrtProcessReport(int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    if (timeout < -1 || timeout == 0) {
      return fail(Code::invalid_argument,
                  "the timeout is {} ms; expected -1 (for ever) or more than 0", timeout);
    }
    return ReportQueues::instance().process(Deadline::after_ms(timeout));
  });
}
