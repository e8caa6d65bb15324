// SPDX-License-Identifier: Apache-2.0
#include "service/queue/queues.h"

#include "device/buffer_queue.h"
#include "device/host_view.h"
#include "device/memory.h"
#include "service/finalize.h"
#include "service/queue/queue_attributes.h"
#include "service/queue/queue_buffers.h"

namespace anynpu::service {

namespace {

using device::BufferQueues;
using device::QueueBuffer;

constexpr uint32_t kDefaultDepth = 8;  // of a queue without attributes

// The failure of a queue; `late` is the cause of a timeout.
Status queue_status(const Status& status, Code late) {
  if (status.code() == Code::not_found) return status.with_code(Code::unknown_queue);
  if (status.code() == Code::timeout) return status.with_code(late);
  return status;
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

Status copy_part(void* to, const void* from, size_t bytes) {
  return bytes ? device::copy_bytes(to, from, bytes) : Status();
}

}  // namespace

device::BufferQueues& all_queues() {
  static auto& all = []() -> BufferQueues& {
    on_finalize([] { BufferQueues::instance().clear(); });
    return BufferQueues::instance();
  }();
  return all;
}

Result<Deadline> queue_deadline(int32_t timeout_ms) {
  if (timeout_ms >= -1) return Deadline::after_ms(timeout_ms);
  return fail(Code::invalid_argument, "timeout is {} ms; expected -1 (for ever) or more",
              timeout_ms);
}

Result<uint32_t> create_queue(const void* attributes) {
  device::QueueOptions options{"", kDefaultDepth};
  if (attributes) {
    ANYNPU_ASSIGN(options, queue_options(attributes));
  }
  return all_queues().create(options);
}

Status destroy_queue(uint32_t id) { return queue_status(all_queues().destroy(id), Code::timeout); }

Status enqueue(uint32_t id, const void* number, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  ANYNPU_ASSIGN(HeldBuffer held, take_in(number));
  const Status status = all_queues().push(id, held.buffer, deadline);
  if (status.ok()) return {};
  put_back(number, std::move(held));
  return queue_status(status, Code::queue_full);
}

Result<void*> dequeue(uint32_t id, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  auto taken = all_queues().pop(id, deadline);
  if (!taken.ok()) return queue_status(taken.status(), Code::queue_empty);
  return hand_out(std::move(*taken));
}

Status enqueue_data(uint32_t id, const QueueData<const void*>& from, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  ANYNPU_TRY(check_user_size(from.user_size));
  ANYNPU_ASSIGN(const auto data, check_part(from.data, from.size, device::Access::read, "data"));
  ANYNPU_ASSIGN(const auto user,
                check_part(from.user, from.user_size, device::Access::read, "userData"));
  ANYNPU_ASSIGN(const auto buffer, QueueBuffer::create(from.size));
  ANYNPU_TRY(copy_part(buffer->data.get(), data.address, from.size));
  ANYNPU_TRY(copy_part(buffer->user.data(), user.address, from.user_size));
  return queue_status(all_queues().push(id, buffer, deadline), Code::queue_full);
}

Result<size_t> dequeue_data(uint32_t id, const QueueData<void*>& to, int32_t timeout_ms) {
  ANYNPU_ASSIGN(const Deadline deadline, queue_deadline(timeout_ms));
  ANYNPU_TRY(check_user_size(to.user_size));
  ANYNPU_ASSIGN(const auto data, check_part(to.data, to.size, device::Access::write, "data"));
  ANYNPU_ASSIGN(const auto user,
                check_part(to.user, to.user_size, device::Access::write, "userData"));
  auto taken = all_queues().pop(id, deadline, to.size);
  if (!taken.ok()) return queue_status(taken.status(), Code::queue_empty);
  const QueueBuffer& buffer = **taken;
  ANYNPU_TRY(copy_part(data.address, buffer.data.get(), buffer.length));
  ANYNPU_TRY(copy_part(user.address, buffer.user.data(), to.user_size));
  return buffer.length;
}

}  // namespace anynpu::service
