// SPDX-License-Identifier: Apache-2.0
// Queues of buffers and their attributes (acl_tdt_queue.h).
#include "acl/acl_tdt_queue.h"
#include "api/acl/entry.h"
#include "service/queue/queue_attributes.h"
#include "service/queue/queues.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;
using service::QueueAttribute;

extern "C" {

acltdtQueueAttr* acltdtCreateQueueAttr(void) {
  using Attr = acltdtQueueAttr*;
  return acl::enter_value(__func__, Attr{nullptr}, []() -> Result<Attr> {
    return static_cast<Attr>(service::create_queue_attributes());
  });
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr) {
  return enter<When::before_init>(__func__,
                                  [&] { return service::destroy_queue_attributes(attr); });
}

aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                            const void* param) {
  return enter(__func__, [&] {
    return service::set_queue_attribute(attr, static_cast<QueueAttribute>(type), len, param);
  });
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                            size_t* paramRetSize, void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramRetSize, "paramRetSize"));
    ANYNPU_TRY(service::get_queue_attribute(attr, static_cast<QueueAttribute>(type), len, param));
    *paramRetSize = len;
    return {};
  });
}

aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(qid, "qid"));
    ANYNPU_ASSIGN(*qid, service::create_queue(attr));
    return {};
  });
}

aclError acltdtDestroyQueue(uint32_t qid) {
  return enter(__func__, [&] { return service::destroy_queue(qid); });
}

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout) {
  return enter(__func__, [&] { return service::enqueue(qid, buf, timeout); });
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf* buf, int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    ANYNPU_ASSIGN(*buf, service::dequeue(qid, timeout));
    return {};
  });
}

aclError acltdtEnqueueData(uint32_t qid, const void* data, size_t dataSize, const void* userData,
                           size_t userDataSize, int32_t timeout, uint32_t rsv) {
  return enter(__func__, [&]() -> Status {
    if (rsv != 0) return fail(Code::invalid_argument, "rsv is {}; expected 0", rsv);
    return service::enqueue_data(qid, {data, dataSize, userData, userDataSize}, timeout);
  });
}

aclError acltdtDequeueData(uint32_t qid, void* data, size_t dataSize, size_t* retDataSize,
                           void* userData, size_t userDataSize, int32_t timeout) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(retDataSize, "retDataSize"));
    ANYNPU_ASSIGN(*retDataSize,
                  service::dequeue_data(qid, {data, dataSize, userData, userDataSize}, timeout));
    return {};
  });
}

}  // extern "C"
