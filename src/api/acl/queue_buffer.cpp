// SPDX-License-Identifier: Apache-2.0
// acltdtBuf: memory that goes through queues (acl_tdt_queue.h).
#include "acl/acl_tdt_queue.h"
#include "api/acl/entry.h"
#include "service/queue/queue_buffers.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;

extern "C" {

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    ANYNPU_ASSIGN(*buf, service::allocate_queue_buffer(size, type));
    return {};
  });
}

aclError acltdtFreeBuf(acltdtBuf buf) {
  return enter<When::before_init>(__func__, [&] { return service::take_in(buf).status(); });
}

aclError acltdtGetBufData(const acltdtBuf buf, void** dataPtr, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dataPtr, "dataPtr"));
    ANYNPU_TRY(check_pointer(size, "size"));
    ANYNPU_ASSIGN(const auto view, service::view_queue_buffer(buf));
    *dataPtr = view.data;
    *size = view.capacity;
    return {};
  });
}

aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len) {
  return enter(__func__, [&] { return service::set_queue_buffer_length(buf, len); });
}

aclError acltdtGetBufDataLen(acltdtBuf buf, size_t* len) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(len, "len"));
    ANYNPU_ASSIGN(const auto view, service::view_queue_buffer(buf));
    *len = view.length;
    return {};
  });
}

aclError acltdtSetBufUserData(acltdtBuf buf, const void* dataPtr, size_t size, size_t offset) {
  return enter(__func__, [&] { return service::write_user_data(buf, dataPtr, size, offset); });
}

aclError acltdtGetBufUserData(const acltdtBuf buf, void* dataPtr, size_t size, size_t offset) {
  return enter(__func__, [&] { return service::read_user_data(buf, dataPtr, size, offset); });
}

aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf* newBuf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(newBuf, "newBuf"));
    ANYNPU_ASSIGN(*newBuf, service::copy_buffer_reference(buf));
    return {};
  });
}

aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf) {
  return enter(__func__, [&] { return service::append_to_chain(headBuf, buf); });
}

aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t* num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(num, "num"));
    ANYNPU_ASSIGN(const auto view, service::view_queue_buffer(headBuf));
    *num = view.in_chain;
    return {};
  });
}

aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf* buf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    ANYNPU_ASSIGN(*buf, service::find_in_chain(headBuf, index));
    return {};
  });
}

}  // extern "C"
