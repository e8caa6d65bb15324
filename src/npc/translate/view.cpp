// SPDX-License-Identifier: Apache-2.0
#include "npc/translate/view.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

namespace anynpu::npc {

namespace {

constexpr size_t kSpaceBytes = size_t{1} << 32;
constexpr uint32_t kPages = kSpaceBytes / kPageBytes;
constexpr size_t kWhole = kStateDistance + kSpaceBytes + kViewGuard;

int protection(uint8_t permission) {
  return (permission & kRead ? PROT_READ : 0) | (permission & kWrite ? PROT_WRITE : 0);
}

}  // namespace

Result<std::unique_ptr<View>> View::create(std::shared_ptr<Memory> memory, int core) {
  const auto reserve = [](size_t bytes, int protect) {
    return mmap(nullptr, bytes, protect, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  };
  void* whole = reserve(kWhole, PROT_NONE);
  void* applied = reserve(kPages, PROT_READ | PROT_WRITE);
  auto* low = static_cast<std::byte*>(whole);
  bool good = whole != MAP_FAILED && applied != MAP_FAILED;
  std::byte* base = low + kStateDistance;
  good = good && mprotect(low, kPageBytes, PROT_READ | PROT_WRITE) == 0;
  good = good && mmap(base, kLocalBase, PROT_NONE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
                      memory->file(), 0) != MAP_FAILED;
  good = good && mmap(base + kLocalBase, kLocalBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED | MAP_NORESERVE, memory->file(),
                      static_cast<off_t>(memory->local_offset(core))) != MAP_FAILED;
  if (!good) {
    const int error = errno;
    if (whole != MAP_FAILED) munmap(whole, kWhole);
    if (applied != MAP_FAILED) munmap(applied, kPages);
    return fail(Code::io_error, "cannot reserve 4 GiB of address space for an NPC: {}",
                std::strerror(error));
  }
  madvise(base, kLocalBase, MADV_DONTDUMP);
  return std::unique_ptr<View>(new View(std::move(memory), low, static_cast<std::byte*>(applied)));
}

View::View(std::shared_ptr<Memory> memory, std::byte* whole, std::byte* applied)
    : memory_(std::move(memory)),
      base_(whole + kStateDistance),
      applied_(reinterpret_cast<uint8_t*>(applied)) {
  for (uint32_t page = kLocalBase / kPageBytes; page < (kLocalBase + kLocalBytes) / kPageBytes;
       ++page) {
    applied_[page] = kReadWrite;
  }
}

View::~View() {
  munmap(base_ - kStateDistance, kWhole);
  munmap(applied_, kPages);
}

bool View::contains(const void* at) const {
  return at >= base_ - kViewGuard && at < base_ + kSpaceBytes + kViewGuard;
}

Status View::apply(uint32_t first, uint32_t end) {
  for (uint32_t page = first; page < end;) {
    const Permission wanted = memory_->permission(page * kPageBytes);
    if (applied_[page] == wanted) {
      ++page;
      continue;
    }
    uint32_t behind = page + 1;
    while (behind < end && memory_->permission(behind * kPageBytes) == wanted) ++behind;
    if (mprotect(base_ + size_t{page} * kPageBytes, size_t{behind - page} * kPageBytes,
                 protection(wanted)) != 0) {
      return fail(Code::io_error, "the pages of an NPC cannot be protected: {}",
                  std::strerror(errno));
    }
    std::memset(applied_ + page, wanted, behind - page);
    page = behind;
  }
  return {};
}

Status View::update() {
  const auto changes = memory_->changes_since(seen_);
  for (const auto& [first, end] : changes.pages) ANYNPU_TRY(apply(first, end));
  seen_ = changes.now;
  return {};
}

bool View::admit(uint32_t address, bool store) {
  const uint32_t page = address / kPageBytes;
  const Permission now = memory_->permission(address);
  if (!(now & (store ? kWrite : kRead)) || applied_[page] == now) return false;
  if (mprotect(base_ + size_t{page} * kPageBytes, kPageBytes, protection(now)) != 0) return false;
  applied_[page] = now;
  return true;
}

}  // namespace anynpu::npc
