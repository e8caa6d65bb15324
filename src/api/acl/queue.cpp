// SPDX-License-Identifier: Apache-2.0
// Queues of buffers and their attributes (acl_tdt_queue.h).
#include <cstring>
#include <mutex>

#include "acl/acl_tdt_queue.h"
#include "api/acl/entry.h"
#include "api/acl/queue_objects.h"
#include "device/memory.h"

namespace anynpu::acl {

namespace {

using device::BufferQueues;
using device::QueueBuffer;
using device::QueueOptions;

constexpr size_t kLongestName = 127;

struct Attributes {
  std::mutex mutex;
  // By reference, so that a name that was given out stays where it is.
  NumberedObjects<std::unique_ptr<QueueOptions>> held{255, "set of queue attributes"};
};

Attributes& attributes() {
  static auto* all = new Attributes;
  return *all;
}

BufferQueues& queues() {
  static auto& all = []() -> BufferQueues& {
    on_finalize([] { BufferQueues::instance().clear(); });
    return BufferQueues::instance();
  }();
  return all;
}

template <typename Use>
Status with_attributes(const void* number, Use use) {
  const std::lock_guard lock(attributes().mutex);
  ANYNPU_ASSIGN(auto* found, attributes().held.find(number));
  return use(**found);
}

Status check_length(acltdtQueueAttrType type, size_t length) {
  if (type != ACL_TDT_QUEUE_NAME_PTR && type != ACL_TDT_QUEUE_DEPTH_UINT32) {
    return fail(Code::invalid_argument, "queue attribute {} is not known; expected 0 or 1",
                static_cast<int>(type));
  }
  const size_t expected = type == ACL_TDT_QUEUE_NAME_PTR ? sizeof(char*) : sizeof(uint32_t);
  if (length == expected) return {};
  return fail(Code::invalid_argument, "len is {}; queue attribute {} has {} bytes", length,
              static_cast<int>(type), expected);
}

template <typename T>
T read_param(const void* param) {
  T value;
  std::memcpy(&value, param, sizeof value);
  return value;
}

Status set_name(QueueOptions& options, const char* name) {
  ANYNPU_TRY(device::check_range(name, 1, device::Access::read, "the name behind param").status());
  const size_t length = strnlen(name, kLongestName + 1);
  if (length > kLongestName) {
    return fail(Code::invalid_argument, "the name has more than {} bytes; shorten it",
                kLongestName);
  }
  options.name.assign(name, length);
  return {};
}

Status set_depth(QueueOptions& options, uint32_t depth) {
  if (depth == 0) return fail(Code::invalid_argument, "the depth is 0; expected 1 or more");
  options.depth = depth;
  return {};
}

// A failure with the number that is documented for queues; `late` is that of a timeout.
Failure queue_failure(Status status, aclError late) {
  if (status.code() == Code::not_found) return {ACL_ERROR_INVALID_QUEUE_ID, std::move(status)};
  if (status.code() == Code::timeout) return {late, std::move(status)};
  return status;
}

Result<Deadline> queue_deadline(int32_t timeout_ms) {
  if (timeout_ms >= -1) return Deadline::after_ms(timeout_ms);
  return fail(Code::invalid_argument, "timeout is {} ms; expected -1 (for ever) or more",
              timeout_ms);
}

// Null is no memory where nothing is to be copied.
Result<device::Range> check_part(const void* address, size_t bytes, device::Access access,
                                 const char* what) {
  if (bytes == 0) return device::Range{};
  return device::check_range(address, bytes, access, what);
}

Status check_user_size(size_t bytes) {
  if (bytes <= QueueBuffer::kUserBytes) return {};
  return fail(Code::invalid_argument, "userDataSize is {}; a buffer has room for {}", bytes,
              QueueBuffer::kUserBytes);
}

void copy_part(void* to, const void* from, size_t bytes) {
  if (bytes) std::memcpy(to, from, bytes);
}

Failure enqueue(uint32_t id, acltdtBuf number, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  ANYNPU_ASSIGN(HeldBuffer held, take_in(number));
  Status status = queues().push(id, held.buffer, deadline);
  if (status.ok()) return {};
  put_back(number, std::move(held));
  return queue_failure(std::move(status), ACL_ERROR_RT_QUEUE_FULL);
}

}  // namespace

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

acltdtQueueAttr* acltdtCreateQueueAttr(void) {
  return enter_value(__func__, static_cast<acltdtQueueAttr*>(nullptr),
                     []() -> Result<acltdtQueueAttr*> {
                       const std::lock_guard lock(attributes().mutex);
                       return static_cast<acltdtQueueAttr*>(
                           attributes().held.add(std::make_unique<QueueOptions>()));
                     });
}

aclError acltdtDestroyQueueAttr(const acltdtQueueAttr* attr) {
  return enter<When::before_init>(__func__, [&]() -> Status {
    return with_attributes(attr, [&](QueueOptions&) -> Status {
      (void)attributes().held.remove(attr);
      return {};
    });
  });
}

aclError acltdtSetQueueAttr(acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                            const void* param) {
  return enter(__func__, [&]() -> Status {
    return with_attributes(attr, [&](QueueOptions& options) -> Status {
      ANYNPU_TRY(check_length(type, len));
      ANYNPU_TRY(device::check_range(param, len, device::Access::read, "param").status());
      if (type == ACL_TDT_QUEUE_NAME_PTR) return set_name(options, read_param<const char*>(param));
      return set_depth(options, read_param<uint32_t>(param));
    });
  });
}

aclError acltdtGetQueueAttr(const acltdtQueueAttr* attr, acltdtQueueAttrType type, size_t len,
                            size_t* paramRetSize, void* param) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(paramRetSize, "paramRetSize"));
    return with_attributes(attr, [&](QueueOptions& options) -> Status {
      ANYNPU_TRY(check_length(type, len));
      ANYNPU_TRY(device::check_range(param, len, device::Access::write, "param").status());
      const char* name = options.name.c_str();
      const void* value =
          type == ACL_TDT_QUEUE_NAME_PTR ? static_cast<const void*>(&name) : &options.depth;
      std::memcpy(param, value, len);
      *paramRetSize = len;
      return {};
    });
  });
}

aclError acltdtCreateQueue(const acltdtQueueAttr* attr, uint32_t* qid) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(qid, "qid"));
    QueueOptions options;
    ANYNPU_TRY(with_attributes(attr, [&](QueueOptions& given) -> Status {
      options = given;
      return {};
    }));
    ANYNPU_ASSIGN(*qid, queues().create(options));
    return {};
  });
}

aclError acltdtDestroyQueue(uint32_t qid) {
  return enter(__func__, [&]() -> Failure {
    return queue_failure(queues().destroy(qid), ACL_ERROR_FAILURE);
  });
}

aclError acltdtEnqueue(uint32_t qid, acltdtBuf buf, int32_t timeout) {
  return enter(__func__, [&] { return enqueue(qid, buf, timeout); });
}

aclError acltdtDequeue(uint32_t qid, acltdtBuf* buf, int32_t timeout) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout));
    auto taken = queues().pop(qid, deadline);
    if (!taken.ok()) return queue_failure(taken.status(), ACL_ERROR_RT_QUEUE_EMPTY);
    *buf = hand_out(std::move(*taken));
    return {};
  });
}

aclError acltdtEnqueueData(uint32_t qid, const void* data, size_t dataSize, const void* userData,
                           size_t userDataSize, int32_t timeout, uint32_t rsv) {
  return enter(__func__, [&]() -> Failure {
    if (rsv != 0) return fail(Code::invalid_argument, "rsv is {}; expected 0", rsv);
    ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout));
    ANYNPU_TRY(check_user_size(userDataSize));
    ANYNPU_ASSIGN(const auto from, check_part(data, dataSize, device::Access::read, "data"));
    ANYNPU_ASSIGN(const auto user,
                  check_part(userData, userDataSize, device::Access::read, "userData"));
    ANYNPU_ASSIGN(const auto buffer, QueueBuffer::create(dataSize));
    copy_part(buffer->data.get(), from.address, dataSize);
    copy_part(buffer->user.data(), user.address, userDataSize);
    return queue_failure(queues().push(qid, buffer, deadline), ACL_ERROR_RT_QUEUE_FULL);
  });
}

aclError acltdtDequeueData(uint32_t qid, void* data, size_t dataSize, size_t* retDataSize,
                           void* userData, size_t userDataSize, int32_t timeout) {
  return enter(__func__, [&]() -> Failure {
    ANYNPU_TRY(check_pointer(retDataSize, "retDataSize"));
    ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout));
    ANYNPU_TRY(check_user_size(userDataSize));
    ANYNPU_ASSIGN(const auto to, check_part(data, dataSize, device::Access::write, "data"));
    ANYNPU_ASSIGN(const auto user,
                  check_part(userData, userDataSize, device::Access::write, "userData"));
    auto taken = queues().pop(qid, deadline, dataSize);
    if (!taken.ok()) return queue_failure(taken.status(), ACL_ERROR_RT_QUEUE_EMPTY);
    const QueueBuffer& buffer = **taken;
    copy_part(to.address, buffer.data.get(), buffer.length);
    copy_part(user.address, buffer.user.data(), userDataSize);
    *retDataSize = buffer.length;
    return {};
  });
}

}  // extern "C"
