// SPDX-License-Identifier: Apache-2.0
// Copies beyond the single one: batches with one answer, and copies described by a block in device
// memory that is read when the stream comes to it. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "device/memory.h"
#include "device/stream.h"

namespace anynpu::device {

// Where a program says one side of its copies lies.
struct BatchPlace {
  bool on_device = false;
  int32_t device_id = 0;
};
struct BatchCopy {
  void* to = nullptr;
  size_t to_bytes = 0;
  const void* from = nullptr;
  size_t bytes = 0;
  BatchPlace to_place;
  BatchPlace from_place;
};
// Checks every copy before the first byte moves. All go from the host to devices, or all from
// devices to the host. When a place or the direction is wrong, `failed` says of which copy.
Status copy_batch(std::span<const BatchCopy> copies, size_t* failed);
Status copy_batch_async(std::span<const BatchCopy> copies, size_t* failed, Stream& stream);

// A copy description. Programs keep it in device memory and treat it as opaque.
constexpr size_t kCopyDescBytes = 64;
Status write_copy_desc(void* desc, void* to, const void* from, size_t bytes);
// Addresses and size are those that stand in the description when the copy runs.
Status copy_described_async(const void* desc, Stream& stream);

// A copy inside devices whose addresses stand in device memory: the pointers at `to` and `from` are
// read when the stream comes to it, and the offsets added.
struct IndirectCopy {
  const void* to = nullptr;
  size_t to_bytes = 0;  // room behind the pointer and the offset
  size_t to_offset = 0;
  const void* from = nullptr;
  size_t bytes = 0;
  size_t from_offset = 0;
};
Status copy_indirect_async(const IndirectCopy& request, Stream& stream);

// Brings memory towards the caches, or orders what was written before what follows.
enum class CacheOperation : int32_t { prefetch = 0, write_back = 1, invalidate = 2, flush = 3 };
Status cache_async(void* address, size_t bytes, CacheOperation operation, Stream& stream);
// The same for memory that a description in device memory names; it is read when the stream comes
// to it.
constexpr size_t kCacheDescBytes = 64;
Status write_cache_desc(void* desc, void* address, size_t bytes);
Status cache_described_async(const void* desc, CacheOperation operation, Stream& stream);
// Until the operations before it are done. Caches are coherent, so other streams' need no wait.
Status cache_barrier_async(Stream& stream);

}  // namespace anynpu::device
