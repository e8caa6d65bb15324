// SPDX-License-Identifier: Apache-2.0
// acltdtBuf: memory that goes through queues (acl_tdt_queue.h).
#include <algorithm>
#include <cstring>
#include <mutex>

#include "acl/acl_tdt_queue.h"
#include "api/acl/entry.h"
#include "api/acl/queue_objects.h"
#include "device/memory.h"

namespace anynpu::acl {

namespace {

using device::QueueBuffer;

struct Buffers {
  std::mutex mutex;
  NumberedObjects<HeldBuffer> held{254, "buffer of a queue"};
};

Buffers& buffers() {
  static auto* all = [] {
    on_finalize([] {
      const std::lock_guard lock(buffers().mutex);
      buffers().held.clear();
    });
    return new Buffers;
  }();
  return *all;
}

// Calls `use` with the buffer while nobody else can use it.
template <typename Use>
Status with_buffer(const void* number, Use use) {
  const std::lock_guard lock(buffers().mutex);
  ANYNPU_ASSIGN(HeldBuffer * held, buffers().held.find(number));
  return use(*held);
}

Status check_alone(const void* number, const HeldBuffer& held) {
  if (!held.head) return {};
  return fail(Code::invalid_argument,
              "buffer {} is part of the chain of buffer {}, which owns it; pass the head", number,
              held.head);
}

// The part of the user data that a call means.
Result<std::byte*> user_part(QueueBuffer& buffer, size_t size, size_t offset) {
  if (size <= QueueBuffer::kUserBytes && offset <= QueueBuffer::kUserBytes - size) {
    return buffer.user.data() + offset;
  }
  return fail(Code::invalid_argument,
              "{} bytes of user data at offset {} are asked for; a buffer has {}", size, offset,
              QueueBuffer::kUserBytes);
}

std::shared_ptr<QueueBuffer> copy_reference(const QueueBuffer& buffer) {
  auto copy = std::make_shared<QueueBuffer>(buffer);
  for (auto& next : copy->chain) next = std::make_shared<QueueBuffer>(*next);
  return copy;
}

Status append_to_chain(const void* head_number, const void* number) {
  return with_buffer(head_number, [&](HeldBuffer& head) -> Status {
    ANYNPU_ASSIGN(HeldBuffer * held, buffers().held.find(number));
    ANYNPU_TRY(check_alone(head_number, head));
    ANYNPU_TRY(check_alone(number, *held));
    if (held == &head || !held->chain.empty()) {
      return fail(Code::invalid_argument, "buffer {} is {}; append buffers one by one, each alone",
                  number, held == &head ? "the head itself" : "the head of a chain");
    }
    head.buffer->chain.push_back(buffers().held.remove(number).buffer);
    head.chain.push_back(nullptr);
    return {};
  });
}

Status find_in_chain(const void* head_number, uint32_t index, acltdtBuf* found) {
  return with_buffer(head_number, [&](HeldBuffer& head) -> Status {
    if (index > head.chain.size()) {
      return fail(Code::invalid_argument, "index is {}; the chain of buffer {} has {}", index,
                  head_number, head.chain.size() + 1);
    }
    if (index == 0) {
      *found = const_cast<void*>(head_number);
      return {};
    }
    const size_t at = index - 1;
    if (!head.chain[at]) {
      // Adding moves no other object of the table.
      head.chain[at] = buffers().held.add({head.buffer->chain[at], head_number});
    }
    *found = head.chain[at];
    return {};
  });
}

}  // namespace

void* hand_out(std::shared_ptr<QueueBuffer> buffer) {
  const std::lock_guard lock(buffers().mutex);
  std::vector<void*> chain(buffer->chain.size());
  return buffers().held.add({std::move(buffer), nullptr, std::move(chain)});
}

Result<HeldBuffer> take_in(const void* number) {
  const std::lock_guard lock(buffers().mutex);
  ANYNPU_ASSIGN(HeldBuffer * held, buffers().held.find(number));
  ANYNPU_TRY(check_alone(number, *held));
  for (void* next : held->chain) {
    if (next) (void)buffers().held.remove(next);
  }
  std::fill(held->chain.begin(), held->chain.end(), nullptr);
  return buffers().held.remove(number);
}

void put_back(const void* number, HeldBuffer buffer) {
  const std::lock_guard lock(buffers().mutex);
  buffers().held.put_back(number, std::move(buffer));
}

}  // namespace anynpu::acl

using namespace anynpu;
using namespace anynpu::acl;

extern "C" {

aclError acltdtAllocBuf(size_t size, uint32_t type, acltdtBuf* buf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    if (size == 0) return fail(Code::invalid_argument, "size is 0; pass the bytes of the buffer");
    if (type > ACL_TDT_DVPP_MEM) {
      return fail(Code::invalid_argument, "type is {}; expected 0 (normal) or 1 (media)", type);
    }
    ANYNPU_ASSIGN(auto buffer, QueueBuffer::create(size));
    *buf = hand_out(std::move(buffer));
    return {};
  });
}

aclError acltdtFreeBuf(acltdtBuf buf) {
  return enter<When::before_init>(__func__, [&]() -> Status { return take_in(buf).status(); });
}

aclError acltdtGetBufData(const acltdtBuf buf, void** dataPtr, size_t* size) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(dataPtr, "dataPtr"));
    ANYNPU_TRY(check_pointer(size, "size"));
    return with_buffer(buf, [&](HeldBuffer& held) -> Status {
      *dataPtr = held.buffer->data.get();
      *size = held.buffer->capacity;
      return {};
    });
  });
}

aclError acltdtSetBufDataLen(acltdtBuf buf, size_t len) {
  return enter(__func__, [&]() -> Status {
    return with_buffer(buf, [&](HeldBuffer& held) -> Status {
      if (len > held.buffer->capacity) {
        return fail(Code::invalid_argument, "len is {}; the buffer has {} bytes", len,
                    held.buffer->capacity);
      }
      held.buffer->length = len;
      return {};
    });
  });
}

aclError acltdtGetBufDataLen(acltdtBuf buf, size_t* len) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(len, "len"));
    return with_buffer(buf, [&](HeldBuffer& held) -> Status {
      *len = held.buffer->length;
      return {};
    });
  });
}

aclError acltdtSetBufUserData(acltdtBuf buf, const void* dataPtr, size_t size, size_t offset) {
  return enter(__func__, [&]() -> Status {
    return with_buffer(buf, [&](HeldBuffer& held) -> Status {
      ANYNPU_ASSIGN(std::byte * part, user_part(*held.buffer, size, offset));
      ANYNPU_ASSIGN(const auto from,
                    device::check_range(dataPtr, size, device::Access::read, "dataPtr"));
      std::memcpy(part, from.address, size);
      return {};
    });
  });
}

aclError acltdtGetBufUserData(const acltdtBuf buf, void* dataPtr, size_t size, size_t offset) {
  return enter(__func__, [&]() -> Status {
    return with_buffer(buf, [&](HeldBuffer& held) -> Status {
      ANYNPU_ASSIGN(const std::byte* part, user_part(*held.buffer, size, offset));
      ANYNPU_ASSIGN(const auto to,
                    device::check_range(dataPtr, size, device::Access::write, "dataPtr"));
      std::memcpy(to.address, part, size);
      return {};
    });
  });
}

aclError acltdtCopyBufRef(const acltdtBuf buf, acltdtBuf* newBuf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(newBuf, "newBuf"));
    std::shared_ptr<QueueBuffer> copy;
    ANYNPU_TRY(with_buffer(buf, [&](HeldBuffer& held) -> Status {
      copy = copy_reference(*held.buffer);
      return {};
    }));
    *newBuf = hand_out(std::move(copy));
    return {};
  });
}

aclError acltdtAppendBufChain(acltdtBuf headBuf, acltdtBuf buf) {
  return enter(__func__, [&]() -> Status { return append_to_chain(headBuf, buf); });
}

aclError acltdtGetBufChainNum(acltdtBuf headBuf, uint32_t* num) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(num, "num"));
    return with_buffer(headBuf, [&](HeldBuffer& head) -> Status {
      *num = static_cast<uint32_t>(head.chain.size() + 1);
      return {};
    });
  });
}

aclError acltdtGetBufFromChain(acltdtBuf headBuf, uint32_t index, acltdtBuf* buf) {
  return enter(__func__, [&]() -> Status {
    ANYNPU_TRY(check_pointer(buf, "buf"));
    return find_in_chain(headBuf, index, buf);
  });
}

}  // extern "C"
