// SPDX-License-Identifier: Apache-2.0
#include "device/cpu/cpu_memory.h"

#include <sys/mman.h>

#include <cerrno>
#include <cstring>

#include "base/align.h"

namespace anynpu::device {

namespace {

constexpr size_t kReturnPages = 1 << 20;  // freed blocks from this size on give their pages back
constexpr size_t kPageBytes = 4096;
constexpr size_t kHugePageBytes = size_t{2} << 20;

}  // namespace

Result<std::shared_ptr<CpuMemory>> CpuMemory::reserve(size_t bytes, size_t unit) {
  bytes = round_up(bytes, kHugePageBytes);
  void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (base == MAP_FAILED) {
    return fail(
        Code::out_of_memory,
        "cannot reserve {} bytes of addresses for a device ({}); lower ANYNPU_DEVICE_MEMORY or "
        "raise the limit of the process (ulimit -v)",
        bytes, std::strerror(errno));
  }
  auto memory =
      std::shared_ptr<CpuMemory>(new CpuMemory(reinterpret_cast<uintptr_t>(base), bytes, unit));
  make_known(memory);
  return memory;
}

CpuMemory::CpuMemory(uintptr_t base, size_t size, size_t unit)
    : DeviceMemory(Host::reads), blocks_(base, size, unit) {}

CpuMemory::~CpuMemory() { munmap(reinterpret_cast<void*>(blocks_.base()), blocks_.size()); }

void CpuMemory::give_back(uintptr_t base, size_t bytes) {
  const size_t whole = round_up(bytes, blocks_.unit());
  if (whole >= kReturnPages) {
    const uintptr_t first = round_up(base, kPageBytes);
    const uintptr_t last = (base + whole) / kPageBytes * kPageBytes;
    if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
  }
  blocks_.give_back(base, bytes);
}

Status CpuMemory::copy(const CopyRows& rows) {
  copy_on_host(rows);
  return {};
}

Status CpuMemory::fill(void* address, int value, size_t bytes) {
  std::memset(address, value, bytes);
  return {};
}

Status CpuMemory::with_host_view(std::span<HostRange* const>, const HostWork& work) {
  return work();
}

void CpuMemory::prefer_huge_pages(uintptr_t base, size_t bytes) {
  madvise(reinterpret_cast<void*>(base), bytes / kHugePageBytes * kHugePageBytes, MADV_HUGEPAGE);
}

}  // namespace anynpu::device
