// SPDX-License-Identifier: Apache-2.0
// Queue buffers while a program holds them. They have numbers that are never reused; a buffer in a
// queue has none. Chains: a head owns the buffers appended to it. Thread-safe; finalising drops
// all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "device/buffer_queue.h"

namespace anynpu::service {

// A new buffer of up to 4 GiB; none of its bytes count until a length is set. `kind` is 0 (normal).
Result<void*> allocate_queue_buffer(size_t bytes, uint32_t kind);

// Passes a buffer from a queue to the program.
void* hand_out(std::shared_ptr<device::QueueBuffer> buffer);

// A buffer that moves from the program into a queue, with its chain: the program can no longer use
// it, unless it is put back with all its numbers.
struct HeldBuffer {
  std::shared_ptr<device::QueueBuffer> buffer;
  const void* head = nullptr;  // of the chain that it is part of
  std::vector<void*> chain{};  // numbers of those chained behind it; null before they are asked for
};
Result<HeldBuffer> take_in(const void* number);
void put_back(const void* number, HeldBuffer buffer);

struct QueueBufferView {
  void* data;
  size_t capacity;
  size_t length;      // how many of the bytes count
  uint32_t in_chain;  // with the head
};
Result<QueueBufferView> view_queue_buffer(const void* number);
Status set_queue_buffer_length(const void* number, size_t length);

// The bytes beside the data that travel with a buffer.
Status write_user_data(const void* number, const void* from, size_t size, size_t offset);
Status read_user_data(const void* number, void* to, size_t size, size_t offset);

// A second buffer over the same bytes.
Result<void*> copy_buffer_reference(const void* number);

Status append_to_chain(const void* head, const void* number);
// Item `index` of the chain; 0 is the head.
Result<void*> find_in_chain(const void* head, uint32_t index);

}  // namespace anynpu::service
