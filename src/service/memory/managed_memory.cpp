// SPDX-License-Identifier: Apache-2.0
#include "service/memory/managed_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "base/align.h"
#include "base/fork_guard.h"
#include "device/device_memory.h"
#include "device/memory.h"
#include "device/range_map.h"
#include "device/runtime.h"

namespace anynpu::service {

namespace {

using device::Runtime;

constexpr uint64_t kMostManaged = uint64_t{3} << 40;
constexpr uintptr_t kManagedAddresses = 0x90000000000;  // where cards have such memory
constexpr int32_t kNoLocation = 0, kOnDevice = 1, kOnHost = 2, kMostLocation = 4;
constexpr int32_t kHostId = -1, kNoId = -2;

constinit device::TaskKind kPrefetch{"mem_managed_prefetch_async", device::Engine::control};

struct Page {
  bool read_mostly = false;
  PageLocation preferred, prefetched;
  std::set<int32_t> accessed_by;  // kHostId for the host
};

// One allocation; ends when it was freed and no task uses it any more.
struct ManagedBlock {
  uintptr_t base;
  uint64_t bytes;
  std::vector<Page> pages;

  ManagedBlock(uintptr_t base, uint64_t bytes)
      : base(base), bytes(bytes), pages(bytes / kManagedPage) {}
  ~ManagedBlock();
};

struct ManagedBlocks {
  std::mutex mutex;  // guards the pages too
  std::map<uintptr_t, ManagedBlock*> by_base;
  uint64_t bytes = 0;
};

ManagedBlocks& managed() {
  static auto* all = new ManagedBlocks;
  return *all;
}

ManagedBlock::~ManagedBlock() {
  const std::lock_guard lock(managed().mutex);
  managed().by_base.erase(base);
  managed().bytes -= bytes;
  munmap(reinterpret_cast<void*>(base), bytes);
}

// The pages of a range; the lock is held.
Result<std::span<Page>> pages_at(const void* address, uint64_t bytes) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  if (bytes == 0 || bytes % kManagedPage) {
    return fail(Code::invalid_argument, "size is {}; expected a multiple of {}", bytes,
                kManagedPage);
  }
  auto next = managed().by_base.upper_bound(start);
  const ManagedBlock* block = next == managed().by_base.begin() ? nullptr : std::prev(next)->second;
  if (!block || start - block->base > block->bytes ||
      bytes > block->bytes - (start - block->base)) {
    return fail(Code::invalid_argument,
                "{} bytes at {} do not lie in memory of aclrtMemAllocManaged", bytes, address);
  }
  const size_t first = (start - block->base) / kManagedPage;
  const size_t count = (start - block->base) % kManagedPage + bytes > kManagedPage
                           ? ceil_div((start - block->base) % kManagedPage + bytes, kManagedPage)
                           : 1;
  auto& pages = const_cast<ManagedBlock*>(block)->pages;
  return std::span(pages).subspan(first, std::min(count, pages.size() - first));
}

Status check_location(const PageLocation& location) {
  if (location.type < kOnDevice || location.type > kMostLocation) {
    return fail(Code::invalid_argument, "location.type is {}; expected 1 (device) to 4 (host NUMA)",
                location.type);
  }
  if (location.type != kOnDevice) return {};
  return Runtime::instance().device(location.id).status();
}

int32_t id_of(const PageLocation& location) {
  return location.type == kOnDevice ? location.id : location.type == kNoLocation ? kNoId : kHostId;
}

// What all pages have; no location when they differ.
PageLocation common(std::span<const Page> pages, PageLocation Page::*field) {
  for (const Page& page : pages) {
    if (page.*field != pages[0].*field) return {};
  }
  return pages[0].*field;
}

Status check_preferred(std::span<const Page> pages, const PageLocation& location) {
  for (const Page& page : pages) {
    if (page.read_mostly || page.prefetched.type == kNoLocation || page.prefetched == location) {
      continue;
    }
    return fail(Code::bad_call_order,
                "the pages lie in another place (type {}, id {}) and are not read-mostly; advise "
                "before they are prefetched",
                page.prefetched.type, page.prefetched.id);
  }
  return {};
}

void apply(Page& page, PageAdvice advice, const PageLocation& location) {
  switch (advice) {
    case PageAdvice::set_read_mostly:
    case PageAdvice::unset_read_mostly:
      page.read_mostly = advice == PageAdvice::set_read_mostly;
      break;
    case PageAdvice::set_preferred:
      page.preferred = location;
      break;
    case PageAdvice::unset_preferred:
      page.preferred = {};
      break;
    case PageAdvice::set_accessed_by:
      page.accessed_by.insert(id_of(location));
      break;
    case PageAdvice::unset_accessed_by:
      page.accessed_by.erase(id_of(location));
      break;
  }
}

int32_t word_of(PageAttribute attribute, std::span<const Page> pages) {
  switch (attribute) {
    case PageAttribute::read_mostly:
      return std::all_of(pages.begin(), pages.end(), [](const Page& p) { return p.read_mostly; });
    case PageAttribute::preferred:
    case PageAttribute::preferred_id:
      return id_of(common(pages, &Page::preferred));
    case PageAttribute::preferred_type:
      return common(pages, &Page::preferred).type;
    case PageAttribute::prefetched:
    case PageAttribute::prefetched_id:
      return id_of(common(pages, &Page::prefetched));
    case PageAttribute::prefetched_type:
      return common(pages, &Page::prefetched).type;
    case PageAttribute::accessed_by:
      break;
  }
  return kNoId;
}

void write_accessors(std::span<const Page> pages, std::span<int32_t> ids) {
  std::fill(ids.begin(), ids.end(), kNoId);
  size_t at = 0;
  for (const int32_t id : pages[0].accessed_by) {
    const bool all = std::all_of(pages.begin(), pages.end(),
                                 [&](const Page& p) { return p.accessed_by.contains(id); });
    if (all && at < ids.size()) ids[at++] = id;
  }
}

Result<void*> map_pages(uint64_t bytes) {
  void* got = mmap(reinterpret_cast<void*>(kManagedAddresses), bytes + kManagedPage,
                   PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (got == MAP_FAILED) {
    return fail(Code::out_of_memory, "cannot map {} bytes ({}); ask for less", bytes,
                std::string(std::strerror(errno)));
  }
  const auto start = reinterpret_cast<uintptr_t>(got);
  const uintptr_t base = round_up(start, kManagedPage);
  if (base > start) munmap(got, base - start);
  munmap(reinterpret_cast<void*>(base + bytes), start + kManagedPage - base);
  return reinterpret_cast<void*>(base);
}

}  // namespace

Result<void*> allocate_managed(uint64_t bytes) {
  if (bytes == 0 || bytes > kMostManaged) {
    return fail(Code::invalid_argument, "size is {}; expected 1 to {} bytes", bytes, kMostManaged);
  }
  bytes = round_up(bytes, kManagedPage);
  ANYNPU_ASSIGN(const auto context, Runtime::instance().current());
  ANYNPU_ASSIGN(const auto memory, context->device()->memory());
  if (!memory->host_readable()) {
    return fail(Code::unsupported_feature,
                "the host cannot read the memory of device {}; use aclrtMalloc and copies",
                context->device()->id());
  }
  mark_runtime_used();
  std::unique_lock lock(managed().mutex);
  if (managed().bytes + bytes > kMostManaged) {
    return fail(Code::out_of_memory, "{} bytes were asked for; {} of {} are in use", bytes,
                managed().bytes, kMostManaged);
  }
  ANYNPU_ASSIGN(void* address, map_pages(bytes));
  auto block = std::make_shared<ManagedBlock>(reinterpret_cast<uintptr_t>(address), bytes);
  managed().by_base[block->base] = block.get();
  managed().bytes += bytes;
  lock.unlock();
  auto allocation = std::make_shared<device::Allocation>();
  allocation->base = block->base;
  allocation->bytes = bytes;
  allocation->kind = device::MemoryKind::device;
  allocation->device_id = context->device()->id();
  allocation->backing = std::move(block);
  if (device::RangeMap::instance().insert(std::move(allocation))) return address;
  return fail(Code::internal, "managed memory at {} overlaps a known range", address);
}

Status advise_pages(const void* address, uint64_t bytes, int advice, PageLocation location) {
  if (advice < 0 || advice > static_cast<int>(PageAdvice::unset_accessed_by)) {
    return fail(Code::invalid_argument, "advise is {}; expected 0 to 5", advice);
  }
  const auto checked = static_cast<PageAdvice>(advice);
  const bool needs_location = checked == PageAdvice::set_preferred ||
                              checked == PageAdvice::set_accessed_by ||
                              checked == PageAdvice::unset_accessed_by;
  if (needs_location) ANYNPU_TRY(check_location(location));
  const std::lock_guard lock(managed().mutex);
  ANYNPU_ASSIGN(const auto pages, pages_at(address, bytes));
  if (checked == PageAdvice::set_preferred) ANYNPU_TRY(check_preferred(pages, location));
  for (Page& page : pages) apply(page, checked, location);
  return {};
}

Status read_page_attribute(int attribute, const void* address, size_t bytes, void* data,
                           size_t data_bytes) {
  if (attribute < 1 || attribute > static_cast<int>(PageAttribute::prefetched_id)) {
    return fail(Code::invalid_argument, "attribute is {}; expected 1 to 8", attribute);
  }
  const auto checked = static_cast<PageAttribute>(attribute);
  const bool list = checked == PageAttribute::accessed_by;
  if (data_bytes == 0 || data_bytes % sizeof(int32_t) || (!list && data_bytes != sizeof(int32_t))) {
    return fail(Code::invalid_argument, "dataSize is {}; expected {}", data_bytes,
                list ? "a multiple of 4" : "4");
  }
  ANYNPU_TRY(device::check_host_range(data, data_bytes, device::Access::write, "data").status());
  const std::lock_guard lock(managed().mutex);
  ANYNPU_ASSIGN(const auto pages, pages_at(address, round_up(bytes, kManagedPage)));
  std::vector<int32_t> words(data_bytes / sizeof(int32_t));
  if (list) {
    write_accessors(pages, words);
  } else {
    words[0] = word_of(checked, pages);
  }
  std::memcpy(data, words.data(), data_bytes);
  return {};
}

Status prefetch_pages(std::span<const PageRange> ranges, Handle stream_handle) {
  ANYNPU_ASSIGN(const auto stream, Runtime::instance().stream(stream_handle));
  {
    const std::lock_guard lock(managed().mutex);
    for (const PageRange& range : ranges) {
      ANYNPU_TRY(check_location(range.location));
      ANYNPU_TRY(pages_at(range.address, range.bytes).status());
    }
  }
  return stream->submit(kPrefetch,
                        [ranges = std::vector(ranges.begin(), ranges.end())]() -> Status {
                          const std::lock_guard lock(managed().mutex);
                          for (const PageRange& range : ranges) {
                            ANYNPU_ASSIGN(const auto pages, pages_at(range.address, range.bytes));
                            for (Page& page : pages) page.prefetched = range.location;
                          }
                          return {};
                        });
}

}  // namespace anynpu::service
