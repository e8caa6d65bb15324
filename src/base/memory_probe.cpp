// SPDX-License-Identifier: Apache-2.0
#include "base/memory_probe.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
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

// What /proc/self/maps says of one address, without reading it all: Linux 6.11 and later. The
// layout is the kernel's (struct procmap_query); older headers lack it.
struct MapQuery {
  uint64_t size, flags, address;
  uint64_t start, end, allows, page_size, offset, inode;
  uint32_t device_major, device_minor, name_size, build_id_size;
  uint64_t name, build_id;
};
static_assert(sizeof(MapQuery) == 104);
constexpr unsigned long kQueryMap = _IOWR('f', 17, MapQuery);
constexpr uint64_t kReadable = 1;
constexpr uint64_t kWritable = 2;

// The file, opened on first use; a forked child opens its own. -1 where there is none.
int maps_file() {
  static std::atomic<int64_t> opened{0};  // process << 32 | file + 1
  const int64_t self = getpid();
  int64_t known = opened.load(std::memory_order_acquire);
  if (known >> 32 != self) {
    const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    const int64_t mine = self << 32 | static_cast<int64_t>(file + 1);
    if (opened.compare_exchange_strong(known, mine, std::memory_order_acq_rel)) {
      known = mine;
    } else if (file >= 0) {
      close(file);  // another thread was first
    }
  }
  return static_cast<int>(known & 0x7fff'ffff) - 1;
}

enum class Answer { yes, no, unknown };

// Whether every mapping from `first` up to `last` allows the access: guard pages in between too.
Answer ask_maps(uintptr_t first, uintptr_t last, uint64_t access) {
  const int file = maps_file();
  if (file < 0) return Answer::unknown;
  for (uintptr_t at = first; at <= last;) {
    MapQuery query{};
    query.size = sizeof query;
    query.address = at;
    if (ioctl(file, kQueryMap, &query) != 0) return errno == ENOENT ? Answer::no : Answer::unknown;
    if ((query.allows & access) != access || query.end <= at) return Answer::no;
    at = query.end;
  }
  return Answer::yes;
}

bool probe(uintptr_t address, size_t bytes, int access) {
  if (address == 0) return false;
  if (bytes == 0) return true;
  if (bytes > UINTPTR_MAX - address) return false;
  const uintptr_t page = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t first = address / page * page;
  const uintptr_t last = (address + bytes - 1) / page * page;
  // Every page of the range is mapped and allows the access; older kernels only say mapped ...
  switch (ask_maps(first, last, access == kPopulateRead ? kReadable : kWritable)) {
    case Answer::yes:
      break;
    case Answer::no:
      return false;
    case Answer::unknown:
      if (msync(reinterpret_cast<void*>(first), last + page - first, MS_ASYNC) != 0) return false;
  }
  if (!kernel_can_populate()) return true;
  // ... and its ends can be touched (a mapping may be longer than the file behind it).
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
