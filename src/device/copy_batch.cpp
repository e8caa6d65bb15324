// SPDX-License-Identifier: Apache-2.0
#include "device/copy_batch.h"

#include <atomic>
#include <memory>
#include <vector>

#include "device/host_view.h"
#include "device/queue.h"
#include "trace/trace.h"

namespace anynpu::device {

namespace {

constinit TaskKind kCopyBatch = TaskKind::queued("memcpy_batch_async", Engine::d2d);
constinit TaskKind kCopyDescribed{"memcpy_async_with_desc", Engine::d2d};
constinit TaskKind kCopyIndirect{"memcpy_async_with_offset", Engine::d2d};
constinit TaskKind kCache{"cmo_async", Engine::control};

constexpr uint64_t kDescMagic = 0x3143534544594e41;  // "ANYDESC1"

struct CopyDesc {
  uint64_t magic;
  uint64_t to;
  uint64_t from;
  uint64_t bytes;
  uint64_t check;  // of the three above: a description is either whole or refused
  uint64_t reserved[3];

  uint64_t sum() const { return (to * 31 + from) * 31 + bytes + kDescMagic; }
};
static_assert(sizeof(CopyDesc) == kCopyDescBytes && kCacheDescBytes == kCopyDescBytes);

// The description at `desc` now.
Result<CopyDesc> read_desc(const Range& desc) {
  if (!desc.owner) {
    ANYNPU_TRY(check_range(desc.address, kCopyDescBytes, Access::read, "desc").status());
  }
  CopyDesc read;
  ANYNPU_TRY(copy_bytes(&read, desc.address, sizeof read));
  if (read.magic == kDescMagic && read.check == read.sum()) return read;
  return fail(Code::invalid_argument,
              "the description at {} was overwritten or never set; set it before it is used",
              static_cast<const void*>(desc.address));
}

Status write_desc(void* desc, void* to, const void* from, size_t bytes) {
  CopyDesc written = {
      kDescMagic, reinterpret_cast<uintptr_t>(to), reinterpret_cast<uintptr_t>(from), bytes, 0, {}};
  written.check = written.sum();
  return copy_bytes(desc, &written, sizeof written);
}

Status check_place(const Range& range, const BatchPlace& place, const char* what) {
  if (range.on_device() == place.on_device &&
      (!place.on_device || range.owner->device_id == place.device_id)) {
    return {};
  }
  return fail(Code::invalid_argument, "{} = {} is memory of {}, but its location says {}", what,
              static_cast<void*>(range.address),
              range.on_device() ? format("device {}", range.owner->device_id) : "the host",
              place.on_device ? format("device {}", place.device_id) : "host");
}

struct CheckedCopy {
  Range to;
  Range from;
};

Result<CheckedCopy> check_memory(const BatchCopy& copy) {
  if (copy.bytes == 0 || copy.bytes > copy.to_bytes) {
    return fail(Code::invalid_argument,
                "the size is {}, dst has room for {}; expected 1 byte up to that", copy.bytes,
                copy.to_bytes);
  }
  CheckedCopy checked;
  ANYNPU_ASSIGN(checked.from, check_range(copy.from, copy.bytes, Access::read, "src"));
  ANYNPU_ASSIGN(checked.to, check_range(copy.to, copy.bytes, Access::write, "dst"));
  return checked;
}

// Whether a copy is what its attributes say, and goes the way of the first one.
Status check_way(const CheckedCopy& checked, const BatchCopy& copy, const BatchCopy& first) {
  ANYNPU_TRY(check_place(checked.from, copy.from_place, "src"));
  ANYNPU_TRY(check_place(checked.to, copy.to_place, "dst"));
  if (checked.from.on_device() == checked.to.on_device()) {
    return fail(Code::invalid_argument,
                "src and dst are both {} memory; a batch copies between the host and a device",
                checked.to.on_device() ? "device" : "host");
  }
  if (copy.to_place.on_device == first.to_place.on_device) return {};
  return fail(Code::invalid_argument,
              "the copy goes {}, the first one the other way; use a batch for each way",
              copy.to_place.on_device ? "to a device" : "to the host");
}

Result<std::vector<CheckedCopy>> check_all(std::span<const BatchCopy> copies, size_t* failed) {
  std::vector<CheckedCopy> checked;
  checked.reserve(copies.size());
  for (size_t i = 0; i < copies.size(); ++i) {
    ANYNPU_ASSIGN(CheckedCopy one, check_memory(copies[i]), "in copy {} of {}", i, copies.size());
    const Status way = check_way(one, copies[i], copies[0]);
    if (!way.ok()) {
      *failed = i;
      return way.with_note(format("in copy {} of {}", i, copies.size()));
    }
    checked.push_back(std::move(one));
  }
  return checked;
}

uint64_t total_bytes(std::span<const BatchCopy> copies) {
  uint64_t total = 0;
  for (const BatchCopy& copy : copies) total += copy.bytes;
  return total;
}

// The address that a pointer in device memory holds, plus `offset` bytes.
Result<uint8_t*> follow(const Range& pointer, size_t offset) {
  uint64_t address = 0;
  ANYNPU_TRY(copy_bytes(&address, pointer.address, sizeof address));
  return reinterpret_cast<uint8_t*>(address + offset);
}

void work_on_caches(const Range& range, CacheOperation operation) {
  if (operation == CacheOperation::prefetch && host_reads_all_memory()) {
    constexpr size_t kMostPrefetched = size_t{8} << 20;  // what a last-level cache may hold
    const size_t end = std::min(range.bytes, kMostPrefetched);
    for (size_t at = 0; at < end; at += 64) __builtin_prefetch(range.address + at);
  }
  // The CPU's caches are coherent with everything that reads this memory: order is all it takes.
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

}  // namespace

Status copy_batch(std::span<const BatchCopy> copies, size_t* failed) {
  ANYNPU_ASSIGN(const auto checked, check_all(copies, failed));
  ANYNPU_TRACE_ZONE(copy, "memcpy_batch", trace::current_correlation(), total_bytes(copies));
  for (const CheckedCopy& one : checked)
    ANYNPU_TRY(copy_bytes(one.to.address, one.from.address, one.to.bytes));
  return {};
}

Status copy_batch_async(std::span<const BatchCopy> copies, size_t* failed, Stream& stream) {
  ANYNPU_ASSIGN(auto checked, check_all(copies, failed));
  Queue& queue = stream.queue();
  return stream.submit({kCopyBatch, total_bytes(copies)}, [checked = std::move(checked), &queue] {
    for (const CheckedCopy& one : checked) {
      // Host memory may have been freed by now; ours is kept by the range.
      if (!one.from.owner)
        ANYNPU_TRY(check_range(one.from.address, one.to.bytes, Access::read, "src").status());
      if (!one.to.owner)
        ANYNPU_TRY(check_range(one.to.address, one.to.bytes, Access::write, "dst").status());
      ANYNPU_TRY(queue.copy({one.to.address, one.from.address, one.to.bytes}));
    }
    return Status();
  });
}

Status write_copy_desc(void* desc, void* to, const void* from, size_t bytes) {
  ANYNPU_TRY(check_range(desc, kCopyDescBytes, Access::write, "desc").status());
  if (bytes == 0)
    return fail(Code::invalid_argument, "count is 0; describe a copy of at least one byte");
  ANYNPU_TRY(check_range(from, bytes, Access::read, "src_addr").status());
  ANYNPU_TRY(check_range(to, bytes, Access::write, "dst_addr").status());
  return write_desc(desc, to, from, bytes);
}

Status copy_described_async(const void* desc, Stream& stream) {
  ANYNPU_ASSIGN(Range range, check_range(desc, kCopyDescBytes, Access::read, "desc"));
  return stream.submit(kCopyDescribed, [range = std::move(range)]() -> Status {
    ANYNPU_ASSIGN(const CopyDesc read, read_desc(range));
    return copy({reinterpret_cast<void*>(read.to), read.bytes,
                 reinterpret_cast<const void*>(read.from), read.bytes, CopyKind::by_address});
  });
}

Status copy_indirect_async(const IndirectCopy& request, Stream& stream) {
  if (request.bytes > request.to_bytes) {
    return fail(Code::invalid_argument, "count is {}, but dst has room for {} (destMax)",
                request.bytes, request.to_bytes);
  }
  ANYNPU_ASSIGN(Range to, check_range(request.to, sizeof(void*), Access::read, "dst"));
  ANYNPU_ASSIGN(Range from, check_range(request.from, sizeof(void*), Access::read, "src"));
  if (!to.on_device() || !from.on_device()) {
    return fail(Code::invalid_address,
                "{} is memory of the host; the pointers of this copy stand in device memory",
                to.on_device() ? request.from : request.to);
  }
  return stream.submit(
      {kCopyIndirect, request.bytes},
      [to = std::move(to), from = std::move(from), request]() -> Status {
        ANYNPU_ASSIGN(uint8_t * target, follow(to, request.to_offset));
        ANYNPU_ASSIGN(const uint8_t* source, follow(from, request.from_offset));
        return copy({target, request.bytes, source, request.bytes, CopyKind::inside_device});
      });
}

Status cache_async(void* address, size_t bytes, CacheOperation operation, Stream& stream) {
  if (bytes == 0) return fail(Code::invalid_argument, "size is 0; name at least one byte");
  ANYNPU_ASSIGN(Range range, check_range(address, bytes, Access::read, "src"));
  return stream.submit({kCache, bytes}, [range = std::move(range), operation] {
    work_on_caches(range, operation);
    return Status();
  });
}

Status write_cache_desc(void* desc, void* address, size_t bytes) {
  ANYNPU_TRY(check_range(desc, kCacheDescBytes, Access::write, "cmoDesc").status());
  if (bytes == 0) return fail(Code::invalid_argument, "size is 0; name at least one byte");
  ANYNPU_TRY(check_range(address, bytes, Access::read, "src").status());
  return write_desc(desc, address, address, bytes);
}

Status cache_described_async(const void* desc, CacheOperation operation, Stream& stream) {
  ANYNPU_ASSIGN(Range range, check_range(desc, kCacheDescBytes, Access::read, "cmoDesc"));
  return stream.submit(kCache, [range = std::move(range), operation]() -> Status {
    ANYNPU_ASSIGN(const CopyDesc read, read_desc(range));
    ANYNPU_ASSIGN(const Range memory, check_range(reinterpret_cast<const void*>(read.from),
                                                  read.bytes, Access::read, "src"));
    work_on_caches(memory, operation);
    return {};
  });
}

Status cache_barrier_async(Stream& stream) {
  return stream.submit(kCache, [] { return Status(); });
}

}  // namespace anynpu::device
