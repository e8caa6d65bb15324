// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queue_buffers.h"

#include <mutex>

#include "device/host_view.h"
#include "device/memory.h"
#include "service/finalize.h"
#include "service/queue/numbered_objects.h"

namespace anynpu::service {

namespace {

using device::QueueBuffer;

constexpr size_t kMostBytes = size_t{4} << 30;
constexpr size_t kLongestChain = 128;  // with its head

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

// Calls `use` with exclusive access to the buffer.
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
  return buffers().held.remove(number);
}

void put_back(const void* number, HeldBuffer buffer) {
  const std::lock_guard lock(buffers().mutex);
  for (size_t i = 0; i < buffer.chain.size(); ++i) {
    if (!buffer.chain[i]) continue;
    buffers().held.put_back(buffer.chain[i], {buffer.buffer->chain[i], number});
  }
  buffers().held.put_back(number, std::move(buffer));
}

Result<void*> allocate_queue_buffer(size_t bytes, uint32_t kind) {
  if (bytes == 0) return fail(Code::invalid_argument, "size is 0; pass the bytes of the buffer");
  if (bytes > kMostBytes) {
    return fail(Code::invalid_argument, "size is {}; expected at most {}", bytes, kMostBytes);
  }
  if (kind != 0) return fail(Code::invalid_argument, "type is {}; expected 0 (normal)", kind);
  ANYNPU_ASSIGN(auto buffer, QueueBuffer::create(bytes));
  buffer->length = 0;
  return hand_out(std::move(buffer));
}

Result<QueueBufferView> view_queue_buffer(const void* number) {
  QueueBufferView view{};
  ANYNPU_TRY(with_buffer(number, [&](HeldBuffer& held) -> Status {
    view = {held.buffer->data.get(), held.buffer->capacity, held.buffer->length,
            static_cast<uint32_t>(held.chain.size() + 1)};
    return {};
  }));
  return view;
}

Status set_queue_buffer_length(const void* number, size_t length) {
  return with_buffer(number, [&](HeldBuffer& held) -> Status {
    if (length > held.buffer->capacity) {
      return fail(Code::invalid_argument, "len is {}; the buffer has {} bytes", length,
                  held.buffer->capacity);
    }
    held.buffer->length = length;
    return {};
  });
}

Status write_user_data(const void* number, const void* from, size_t size, size_t offset) {
  return with_buffer(number, [&](HeldBuffer& held) -> Status {
    ANYNPU_ASSIGN(std::byte * part, user_part(*held.buffer, size, offset));
    ANYNPU_ASSIGN(const auto range,
                  device::check_range(from, size, device::Access::read, "dataPtr"));
    return device::copy_bytes(part, range.address, size);
  });
}

Status read_user_data(const void* number, void* to, size_t size, size_t offset) {
  return with_buffer(number, [&](HeldBuffer& held) -> Status {
    ANYNPU_ASSIGN(const std::byte* part, user_part(*held.buffer, size, offset));
    ANYNPU_ASSIGN(const auto range,
                  device::check_range(to, size, device::Access::write, "dataPtr"));
    return device::copy_bytes(range.address, part, size);
  });
}

Result<void*> copy_buffer_reference(const void* number) {
  std::shared_ptr<QueueBuffer> copy;
  ANYNPU_TRY(with_buffer(number, [&](HeldBuffer& held) -> Status {
    copy = held.buffer->reference();
    return {};
  }));
  return hand_out(std::move(copy));
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
    if (head.chain.size() + 1 >= kLongestChain) {
      return fail(Code::invalid_argument,
                  "the chain of buffer {} has {} buffers, the most there can be", head_number,
                  kLongestChain);
    }
    head.buffer->chain.push_back(held->buffer);
    head.chain.push_back(const_cast<void*>(number));  // programs go on using it
    held->head = head_number;
    return {};
  });
}

Result<void*> find_in_chain(const void* head_number, uint32_t index) {
  void* found = const_cast<void*>(head_number);
  ANYNPU_TRY(with_buffer(head_number, [&](HeldBuffer& head) -> Status {
    if (index > head.chain.size()) {
      return fail(Code::invalid_argument, "index is {}; the chain of buffer {} has {}", index,
                  head_number, head.chain.size() + 1);
    }
    if (index == 0) return {};
    void*& number = head.chain[index - 1];
    // Adding moves no other object of the table.
    if (!number) number = buffers().held.add({head.buffer->chain[index - 1], head_number});
    found = number;
    return {};
  }));
  return found;
}

}  // namespace anynpu::service
