// SPDX-License-Identifier: Apache-2.0
// Batches of copies with one result, and copies described by a block in device memory that is read
// when the stream reaches them. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/result.h"
#include "device/memory.h"
#include "device/stream.h"

namespace anynpu::device {

// The location (host or device) of one side of a copy, as the program states it.
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
// Checks every copy before the first byte moves. All go from host to device, or all from device to
// host. If a location or direction is wrong, `failed` is the index of that copy.
Status copy_batch(std::span<const BatchCopy> copies, size_t* failed);
Status copy_batch_async(std::span<const BatchCopy> copies, size_t* failed, Stream& stream);

// A copy description. Programs keep it in device memory and treat it as opaque.
constexpr size_t kCopyDescBytes = 64;
Status write_copy_desc(void* desc, void* to, const void* from, size_t bytes);
// Addresses and size are read from the description when the copy runs.
Status copy_described_async(const void* desc, Stream& stream);

// A device-to-device copy whose addresses are in device memory: the pointers at `to` and `from` are
// read when the stream reaches the copy, and the offsets are added.
struct IndirectCopy {
  const void* to = nullptr;
  size_t to_bytes = 0;  // room after pointer + offset
  size_t to_offset = 0;
  const void* from = nullptr;
  size_t bytes = 0;
  size_t from_offset = 0;
};
Status copy_indirect_async(const IndirectCopy& request, Stream& stream);

// Cache maintenance: prefetch, or ordering of writes.
enum class CacheOperation : int32_t { prefetch = 0, write_back = 1, invalidate = 2, flush = 3 };
Status cache_async(void* address, size_t bytes, CacheOperation operation, Stream& stream);
// The same for memory given by a description in device memory, which is read when the stream
// reaches the operation.
constexpr size_t kCacheDescBytes = 64;
Status write_cache_desc(void* desc, void* address, size_t bytes);
Status cache_described_async(const void* desc, CacheOperation operation, Stream& stream);
// Waits for earlier cache operations. Caches are coherent: those of other streams do not matter.
Status cache_barrier_async(Stream& stream);

}  // namespace anynpu::device
