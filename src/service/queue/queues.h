// SPDX-License-Identifier: Apache-2.0
// Buffer queues between a program's threads and its models (device/buffer_queue.h), with the
// program's interface: timeouts in milliseconds (-1 waits forever), by buffer or by copy.
// Failures are unknown_queue, queue_full and queue_empty. Thread-safe; finalising ends all queues.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "base/result.h"

namespace anynpu::device {
class BufferQueues;
}

namespace anynpu::service {

// All queues of the process.
device::BufferQueues& all_queues();
// The end of a wait in milliseconds: -1 is forever, less is refused.
Result<Deadline> queue_deadline(int32_t timeout_ms);

// From attributes (queue_attributes.h); null: no name, room for 8 buffers.
Result<uint32_t> create_queue(const void* attributes);
Status destroy_queue(uint32_t id);

// A buffer of queue_buffers.h; after a failure the program still has it.
Status enqueue(uint32_t id, const void* buffer, int32_t timeout_ms);
Result<void*> dequeue(uint32_t id, int32_t timeout_ms);

// Bytes of the program, copied, and those that travel beside them (at most 96).
template <typename Pointer>
struct QueueData {
  Pointer data;
  size_t size;
  Pointer user;
  size_t user_size;
};
Status enqueue_data(uint32_t id, const QueueData<const void*>& from, int32_t timeout_ms);
// Returns the number of bytes. A buffer that does not fit stays in the queue.
Result<size_t> dequeue_data(uint32_t id, const QueueData<void*>& to, int32_t timeout_ms);

}  // namespace anynpu::service
