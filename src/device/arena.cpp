// SPDX-License-Identifier: Apache-2.0
#include "device/arena.h"

#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/align.h"

namespace anynpu::device {

namespace {

constexpr size_t kReturnPages = 1 << 20;  // freed blocks from this size on give their pages back
constexpr size_t kPageBytes = 4096;

// Every arena alive, for any_contains. Few, and rarely changed.
struct Registry {
  std::mutex mutex;
  std::vector<const Arena*> arenas;
};
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

}  // namespace

Result<std::shared_ptr<Arena>> Arena::reserve(size_t bytes, size_t unit) {
  bytes = round_up(bytes, size_t{2} << 20);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fail(
        Code::out_of_memory,
        "cannot reserve {} bytes of addresses for a device ({}); lower ANYNPU_DEVICE_MEMORY or "
        "raise the limit of the process (ulimit -v)",
        bytes, std::strerror(errno));
  }
  return std::shared_ptr<Arena>(new Arena(reinterpret_cast<uintptr_t>(base), bytes, unit));
}

Arena::Arena(uintptr_t base, size_t size, size_t unit) : base_(base), size_(size), unit_(unit) {
  insert_free(base, size);
  std::lock_guard lock(registry().mutex);
  registry().arenas.push_back(this);
}

Arena::~Arena() {
  {
    std::lock_guard lock(registry().mutex);
    std::erase(registry().arenas, this);
  }
  munmap(reinterpret_cast<void*>(base_), size_);
}

bool Arena::any_contains(uintptr_t address) {
  std::lock_guard lock(registry().mutex);
  for (const Arena* arena : registry().arenas) {
    if (arena->contains(address)) return true;
  }
  return false;
}

void Arena::insert_free(uintptr_t base, size_t bytes) {
  free_by_address_.emplace(base, bytes);
  free_by_size_.emplace(bytes, base);
}

void Arena::erase_free(std::map<uintptr_t, size_t>::iterator block) {
  free_by_size_.erase({block->second, block->first});
  free_by_address_.erase(block);
}

uintptr_t Arena::take(size_t bytes, size_t alignment) {
  if (bytes == 0 || bytes > size_) return 0;
  bytes = round_up(bytes, unit_);
  alignment = std::max(alignment, unit_);
  std::lock_guard lock(mutex_);
  for (auto fit = free_by_size_.lower_bound({bytes, 0}); fit != free_by_size_.end(); ++fit) {
    const auto [block_bytes, block_base] = *fit;
    const uintptr_t base = round_up(block_base, alignment);
    if (base + bytes > block_base + block_bytes) continue;
    erase_free(free_by_address_.find(block_base));
    if (base > block_base) insert_free(block_base, base - block_base);
    const uintptr_t end = block_base + block_bytes;
    if (base + bytes < end) insert_free(base + bytes, end - base - bytes);
    used_ += bytes;
    if (used_ > peak_) peak_ = used_;
    return base;
  }
  return 0;
}

void Arena::give_back(uintptr_t base, size_t bytes) {
  bytes = round_up(bytes, unit_);
  if (bytes >= kReturnPages) {
    const uintptr_t first = round_up(base, kPageBytes);
    const uintptr_t last = round_down(base + bytes, kPageBytes);
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  std::lock_guard lock(mutex_);
  used_ -= bytes;
  auto next = free_by_address_.lower_bound(base);
  if (next != free_by_address_.end() && next->first == base + bytes) {
    bytes += next->second;
    auto after = std::next(next);
    erase_free(next);
    next = after;
  }
  if (next != free_by_address_.begin()) {
    auto previous = std::prev(next);
    if (previous->first + previous->second == base) {
      base = previous->first;
      bytes += previous->second;
      erase_free(previous);
    }
  }
  insert_free(base, bytes);
}

size_t Arena::used() const {
  std::lock_guard lock(mutex_);
  return used_;
}

size_t Arena::peak() const {
  std::lock_guard lock(mutex_);
  return peak_;
}

}  // namespace anynpu::device
