// SPDX-License-Identifier: Apache-2.0
#include "device/ipc_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>

#include "base/align.h"
#include "base/fork_guard.h"
#include "base/log.h"
#include "device/device_memory.h"
#include "device/range_map.h"

namespace anynpu::device {

namespace {

constexpr std::string_view kKeyKind = "anynpu-memory";
constexpr size_t kIpcPage = SharedFile::kPageBytes;

// Pages of a block that are shared; their end puts private ones back for the next allocation.
struct SharedPages {
  uintptr_t base;
  size_t bytes;
  std::shared_ptr<SharedFile> file;

  ~SharedPages() {
    file->close_to_others();
    const void* back = mmap(reinterpret_cast<void*>(base), bytes, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    if (back == MAP_FAILED) ANYNPU_LOG(error, "pages at {:#x} could not be taken back", base);
  }
};

// Pages of another process.
struct ImportedPages {
  void* address;
  size_t bytes;
  ~ImportedPages() { munmap(address, bytes); }
};

struct Keys {
  std::mutex mutex;
  std::map<std::string, std::weak_ptr<SharedPages>, std::less<>> exports;
  std::map<std::string, std::weak_ptr<Allocation>, std::less<>> imports;
};
Keys& keys() {
  static auto* all = new Keys;
  return *all;
}

// Copies pages that hold anything; the others stay untouched on both sides.
void copy_pages(uint8_t* to, const uint8_t* from, size_t bytes) {
  static constexpr uint8_t kZeros[kIpcPage] = {};
  for (size_t at = 0; at < bytes; at += kIpcPage) {
    if (std::memcmp(from + at, kZeros, kIpcPage) != 0) std::memcpy(to + at, from + at, kIpcPage);
  }
}

Result<std::shared_ptr<SharedPages>> make_shared_pages(const Allocation& allocation) {
  const size_t bytes = round_up(allocation.bytes, kIpcPage);
  ANYNPU_ASSIGN(auto file, SharedFile::create(bytes, allocation.bytes));
  ANYNPU_ASSIGN(void* copy, file->map(nullptr, bytes, 0));
  copy_pages(static_cast<uint8_t*>(copy), reinterpret_cast<const uint8_t*>(allocation.base), bytes);
  munmap(copy, bytes);
  ANYNPU_TRY(file->map(reinterpret_cast<void*>(allocation.base), bytes, 0).status());
  return std::shared_ptr<SharedPages>(new SharedPages{allocation.base, bytes, std::move(file)});
}

Result<std::shared_ptr<Allocation>> find_exportable(void* address, size_t bytes) {
  const auto start = reinterpret_cast<uintptr_t>(address);
  auto allocation = RangeMap::instance().find(start);
  if (!allocation || allocation->kind != MemoryKind::device || allocation->base != start) {
    return fail(Code::invalid_address,
                "{} is not the start of a device allocation{}; export what a malloc returned",
                address, allocation ? format(" ({})", name_of(allocation->kind)) : "");
  }
  if (!allocation->memory->host_readable()) {
    return fail(Code::unsupported_feature,
                "memory of device {} cannot be shared between processes; copy it through the host",
                allocation->device_id);
  }
  if (bytes == 0 || bytes > allocation->bytes) {
    return fail(Code::invalid_argument, "the size is {}, but the allocation at {} has {} bytes",
                bytes, address, allocation->bytes);
  }
  return allocation;
}

}  // namespace

Result<std::string> export_memory(void* address, size_t bytes, SharedFile::Admit admit) {
  ANYNPU_ASSIGN(auto allocation, find_exportable(address, bytes));
  auto& all = keys();
  std::lock_guard lock(all.mutex);
  auto pages = std::static_pointer_cast<SharedPages>(allocation->backing);
  if (!pages) {
    ANYNPU_ASSIGN(pages, make_shared_pages(*allocation));
    allocation->backing = pages;
  }
  if (!pages->file->is_shared()) {
    pages->file->share(admit);
  } else if (admit == SharedFile::Admit::anyone) {
    pages->file->let_anyone_in();
  }
  std::string key = to_key(kKeyKind, pages->file->ticket());
  std::erase_if(all.exports, [](const auto& entry) { return entry.second.expired(); });
  all.exports[key] = pages;
  return key;
}

Status let_in_by_key(std::string_view key, std::span<const int32_t> pids) {
  ANYNPU_TRY(from_key(kKeyKind, key).status());
  auto& all = keys();
  std::lock_guard lock(all.mutex);
  const auto found = all.exports.find(key);
  const auto pages = found == all.exports.end() ? nullptr : found->second.lock();
  if (!pages) {
    return fail(
        Code::not_found,
        "key '{}' is not exported by this process; process ids are set where the memory was "
        "exported, before it is closed or freed",
        key);
  }
  return pages->file->let_in(pids);
}

Result<void*> import_memory(std::string_view key, Device& device) {
  ANYNPU_ASSIGN(const ShareTicket ticket, from_key(kKeyKind, key));
  ANYNPU_TRY(check_shared_memory(device));
  mark_runtime_used();
  auto& all = keys();
  std::lock_guard lock(all.mutex);
  if (const auto known = all.imports.find(key);
      known != all.imports.end() && !known->second.expired()) {
    return fail(Code::already_exists,
                "key '{}' is imported by this process already; use that address, or close it first",
                key);
  }
  ANYNPU_ASSIGN(auto file, SharedFile::open(ticket));
  ANYNPU_ASSIGN(void* address, file->map(nullptr, file->bytes(), 0));
  auto allocation = std::make_shared<Allocation>();
  allocation->base = reinterpret_cast<uintptr_t>(address);
  allocation->bytes = std::min<size_t>(file->label(), file->bytes());
  allocation->kind = MemoryKind::imported;
  allocation->device_id = device.id();
  allocation->backing = std::shared_ptr<ImportedPages>(new ImportedPages{address, file->bytes()});
  if (allocation->bytes == 0 || !RangeMap::instance().insert(allocation)) {
    return fail(Code::internal, "imported memory at {} overlaps a known range", address);
  }
  all.imports[std::string(key)] = allocation;
  return address;
}

Status close_memory_key(std::string_view key) {
  ANYNPU_TRY(from_key(kKeyKind, key).status());
  auto& all = keys();
  std::lock_guard lock(all.mutex);
  if (const auto known = all.imports.find(key); known != all.imports.end()) {
    const auto allocation = known->second.lock();
    all.imports.erase(known);
    if (allocation && RangeMap::instance().remove(allocation->base, MemoryKind::imported))
      return {};
  }
  if (const auto known = all.exports.find(key); known != all.exports.end()) {
    const auto pages = known->second.lock();
    all.exports.erase(known);
    if (pages) {
      pages->file->close_to_others();
      return {};
    }
  }
  return fail(Code::not_found,
              "key '{}' is neither imported nor exported by this process, or was closed", key);
}

}  // namespace anynpu::device
