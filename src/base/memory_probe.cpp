// SPDX-License-Identifier: Apache-2.0
#include "base/memory_probe.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <initializer_list>

namespace anynpu {

namespace {

// Values of Linux 5.14 and later; older headers lack the names, older kernels answer EINVAL.
constexpr int kPopulateRead = 22;
constexpr int kPopulateWrite = 23;

bool kernel_can_populate() {
  static const bool can = [] {
    char byte = 0;
    const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
    void* base = reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(&byte) / page * page);
    return madvise(base, page, kPopulateRead) == 0;
  }();
  return can;
}

bool probe(uintptr_t address, size_t bytes, int access) {
  if (address == 0) return false;
  if (bytes == 0) return true;
  if (bytes > UINTPTR_MAX - address) return false;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = address / page * page;
  const uintptr_t last = (address + bytes - 1) / page * page;
  // Every page of the range is mapped ...
  if (msync(reinterpret_cast<void*>(first), last + page - first, MS_ASYNC) != 0) return false;
  if (!kernel_can_populate()) return true;
  // ... and its ends allow the access (guard pages and read-only data are mapped too).
  for (uintptr_t at : {first, last}) {
    if (madvise(reinterpret_cast<void*>(at), page, access) != 0 && errno != EBUSY) return false;
    if (first == last) break;
  }
  return true;
}

}  // namespace

bool probe_readable(const void* address, size_t bytes) {
  return probe(reinterpret_cast<uintptr_t>(address), bytes, kPopulateRead);
}

bool probe_writable(void* address, size_t bytes) {
  return probe(reinterpret_cast<uintptr_t>(address), bytes, kPopulateWrite);
}

}  // namespace anynpu

extern "C" __attribute__((visibility("default"))) int anynpu_probe_readable(const void* address,
                                                                            size_t bytes) {
  return anynpu::probe_readable(address, bytes);
}
