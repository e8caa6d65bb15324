// SPDX-License-Identifier: Apache-2.0
#include "npc/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/align.h"
#include "base/quiet_write.h"
#include "npc/cluster.h"
#include "npc/kernel_watch.h"

namespace anynpu::npc {

namespace {

constexpr size_t kSpaceBytes = size_t{1} << 32;
constexpr size_t kPages = kSpaceBytes / kPageBytes;
constexpr size_t kTrimBytes = 256 << 10;  // smaller spans keep their host pages

constexpr size_t kLocalsBytes = size_t{kLocalBytes} * kCores;
constexpr size_t kMostChanges = 256;

std::byte* map(int file, size_t bytes, size_t offset) {
  void* at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file,
                  static_cast<off_t>(offset));
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

Result<std::shared_ptr<Memory>> Memory::create() {
  const QuietWrite quiet;  // RLIMIT_FSIZE may be smaller
  const int file = memfd_create("anynpu-cluster", MFD_CLOEXEC);
  const bool sized = file >= 0 && ftruncate(file, kSpaceBytes + kLocalsBytes) == 0;
  std::byte* base = sized ? map(file, kSpaceBytes, 0) : nullptr;
  std::byte* locals = sized ? map(file, kLocalsBytes, kSpaceBytes) : nullptr;
  void* pages = mmap(nullptr, kPages, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (!base || !locals || pages == MAP_FAILED) {
    const int error = errno;
    if (base) munmap(base, kSpaceBytes);
    if (locals) munmap(locals, kLocalsBytes);
    if (pages != MAP_FAILED) munmap(pages, kPages);
    if (file >= 0) close(file);
    return fail(
        Code::io_error,
        "cluster: cannot reserve 4 GiB of address space: {}; raise the limit of virtual memory "
        "(ulimit -v) and of files (ulimit -f)",
        std::strerror(error));
  }
  madvise(base, kSpaceBytes, MADV_DONTDUMP);
  return std::shared_ptr<Memory>(
      new Memory(file, base, locals, static_cast<std::atomic<uint8_t>*>(pages)));
}

Memory::Memory(int file, std::byte* base, std::byte* locals, std::atomic<uint8_t>* pages)
    : file_(file), base_(base), locals_(locals), pages_(pages) {
  global_[kGlobalBase] = kGlobalEnd - kGlobalBase;
  high_[kHighBase] = kHighEnd - kHighBase;
  protect(kSharedBase, kSharedBytes, kReadWrite);
  protect(kLocalBase, kLocalBytes, kReadWrite);
}

Memory::~Memory() {
  munmap(base_, kSpaceBytes);
  munmap(locals_, kLocalsBytes);
  munmap(static_cast<void*>(pages_), kPages);
  close(file_);
}

size_t Memory::local_offset(int core) const { return kSpaceBytes + size_t{kLocalBytes} * core; }

Memory::Changes Memory::changes_since(uint64_t seen) const {
  std::lock_guard lock(changes_mutex_);
  const uint64_t missed = changed_ - seen;
  if (missed > changes_.size()) return {changed_, {{0, kPages}}};
  return {changed_, {changes_.end() - static_cast<ptrdiff_t>(missed), changes_.end()}};
}

Result<uint32_t> Memory::take(Space space, size_t bytes, Permission permission) {
  const size_t wanted = round_up(bytes, kPageBytes);
  std::lock_guard lock(mutex_);
  auto& free = spans(space);
  for (auto span = free.begin(); wanted >= bytes && span != free.end(); ++span) {
    if (span->second < wanted) continue;
    const uint32_t base = span->first;
    const size_t left = span->second - wanted;
    free.erase(span);
    if (left > 0) free[base + static_cast<uint32_t>(wanted)] = left;
    protect(base, wanted, permission);
    return base;
  }
  size_t largest = 0;
  for (const auto& [base, size] : free) largest = size > largest ? size : largest;
  return fail(Code::out_of_memory,
              "device memory: {} bytes of {} memory asked for, the largest free piece has {}; free "
              "memory that is no longer used",
              bytes, space == Space::high ? "high" : "global", largest);
}

void Memory::give_back(uint32_t base, size_t bytes) {
  bytes = round_up(bytes, kPageBytes);
  protect(base, bytes, kNone);
  if (bytes >= kTrimBytes) {
    fallocate(file_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, base, static_cast<off_t>(bytes));
  }
  std::lock_guard lock(mutex_);
  auto& free = spans(space_of(base));
  auto next = free.lower_bound(base);
  if (next != free.end() && next->first == base + bytes) {
    bytes += next->second;
    next = free.erase(next);
  }
  if (next != free.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == base) {
      before->second += bytes;
      return;
    }
  }
  free[base] = bytes;
}

void Memory::protect(uint32_t base, size_t bytes, Permission permission) {
  const size_t first = base / kPageBytes;
  const size_t count = ceil_div(bytes, kPageBytes);
  for (size_t i = 0; i < count; ++i) {
    pages_[first + i].store(permission, std::memory_order_relaxed);
  }
  std::lock_guard lock(changes_mutex_);
  changes_.emplace_back(first, first + count);
  if (changes_.size() > kMostChanges) changes_.pop_front();
  ++changed_;
}

Result<uint32_t> Memory::allocate(Space space, size_t bytes) {
  if (bytes == 0) {
    return fail(Code::invalid_argument, "device memory: 0 bytes asked for; ask for at least 1");
  }
  // High memory is only for copies: its pages have no permission for loads and stores.
  if (bytes > kSpaceBytes) return take(space, bytes, kNone);  // refused
  ANYNPU_ASSIGN(const uint32_t base,
                take(space, footprint(bytes), space == Space::high ? kNone : kReadWrite));
  if (const size_t used = round_up(bytes, kPageBytes); footprint(bytes) > used) {
    protect(base + static_cast<uint32_t>(used), footprint(bytes) - used, kNone);
  }
  auto block = std::make_shared<Block>(shared_from_this(), base, static_cast<uint32_t>(bytes));
  std::lock_guard lock(mutex_);
  blocks_.emplace(base, std::move(block));
  return base;
}

size_t Memory::footprint(size_t bytes) {
  static const size_t tail = KernelWatch::is_on() ? kPageBytes : 0;
  return round_up(bytes, kPageBytes) + tail;
}

Status Memory::release(uint32_t address) {
  std::shared_ptr<Block> block;  // given back after the lock
  std::lock_guard lock(mutex_);
  const auto found = blocks_.find(address);
  if (found == blocks_.end()) {
    return fail(
        Code::invalid_address,
        "free: {:#x} is not the start of an allocation; pass the address that the allocation "
        "returned, once",
        address);
  }
  block = std::move(found->second);
  blocks_.erase(found);
  return {};
}

std::shared_ptr<Block> Memory::find(uint32_t address, size_t count) const {
  std::lock_guard lock(mutex_);
  auto next = blocks_.upper_bound(address);
  if (next == blocks_.begin()) return nullptr;
  const auto& block = std::prev(next)->second;
  if (address - block->base() >= block->bytes() || !block->covers(address, count)) return nullptr;
  return block;
}

std::shared_ptr<Block> Memory::nearest(uint32_t address) const {
  std::lock_guard lock(mutex_);
  const auto next = blocks_.upper_bound(address);
  return next == blocks_.begin() ? nullptr : std::prev(next)->second;
}

size_t Memory::free_bytes(Space space) const {
  std::lock_guard lock(mutex_);
  size_t sum = 0;
  for (const auto& [base, size] : space == Space::high ? high_ : global_) sum += size;
  return sum;
}

bool Memory::allows(uint32_t address, size_t count, Permission permission) const {
  if (count == 0) return true;
  const uint64_t end = uint64_t{address} + count;
  if (end > kSpaceBytes) return false;
  for (uint64_t page = address / kPageBytes; page * kPageBytes < end; ++page) {
    if ((pages_[page].load(std::memory_order_relaxed) & permission) != permission) return false;
  }
  return true;
}

Block::~Block() { memory_->give_back(base_, Memory::footprint(bytes_)); }

std::byte* Block::host(uint32_t address) const { return memory_->host(address); }

}  // namespace anynpu::npc
