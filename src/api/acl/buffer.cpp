// SPDX-License-Identifier: Apache-2.0
// Buffers of queues under the names of the runtime (acl/rt/buffer.h): the same objects as
// acltdtBuf.
#include "acl/rt/buffer.h"

#include "acl/acl_tdt_queue.h"
#include "api/acl/entry.h"
#include "service/queue/queue_buffers.h"

using namespace anynpu;
using acl::check_pointer;
using acl::enter;
using acl::When;

extern "C" {

aclError aclrtAllocBuf(aclrtMbuf* buf, size_t size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    ANYNPU_ASSIGN(*buf, service::allocate_queue_buffer(size, ACL_TDT_NORMAL_MEM));
    return {};
  });
}

aclError aclrtFreeBuf(aclrtMbuf buf) {
  return enter<When::before_init>(__func__, [&] { return service::take_in(buf).status(); });
}

aclError aclrtGetBufData(const aclrtMbuf buf, void** dataPtr, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dataPtr, "dataPtr"));
    ANYNPU_TRY(check_pointer(size, "size"));
    ANYNPU_ASSIGN(const auto view, service::view_queue_buffer(buf));
    *dataPtr = view.data;
    *size = view.capacity;
    return {};
  });
}

aclError aclrtSetBufDataLen(aclrtMbuf buf, size_t len) {
  return enter(__func__, [&] { return service::set_queue_buffer_length(buf, len); });
}

aclError aclrtGetBufDataLen(aclrtMbuf buf, size_t* len) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(len, "len"));
    ANYNPU_ASSIGN(const auto view, service::view_queue_buffer(buf));
    *len = view.length;
    return {};
  });
}

aclError aclrtSetBufUserData(aclrtMbuf buf, const void* dataPtr, size_t size, size_t offset) {
  return enter(__func__, [&] { return service::write_user_data(buf, dataPtr, size, offset); });
}

aclError aclrtGetBufUserData(const aclrtMbuf buf, void* dataPtr, size_t size, size_t offset) {
  return enter(__func__, [&] { return service::read_user_data(buf, dataPtr, size, offset); });
}

aclError aclrtCopyBufRef(const aclrtMbuf buf, aclrtMbuf* newBuf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(newBuf, "newBuf"));
    ANYNPU_ASSIGN(*newBuf, service::copy_buffer_reference(buf));
    return {};
  });
}

aclError aclrtAppendBufChain(aclrtMbuf headBuf, aclrtMbuf buf) {
  return enter(__func__, [&] { return service::append_to_chain(headBuf, buf); });
}

aclError aclrtGetBufChainNum(aclrtMbuf headBuf, uint32_t* num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(num, "num"));
    ANYNPU_ASSIGN(const auto view, service::view_queue_buffer(headBuf));
    *num = view.in_chain;
    return {};
  });
}

aclError aclrtGetBufFromChain(aclrtMbuf headBuf, uint32_t index, aclrtMbuf* buf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    ANYNPU_ASSIGN(*buf, service::find_in_chain(headBuf, index));
    return {};
  });
}

}  // extern "C"
