// SPDX-License-Identifier: Apache-2.0
#include "base/page_release.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "base/align.h"

namespace anynpu {

void release_pages(std::span<const std::byte> bytes) {
  static const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto address = reinterpret_cast<uintptr_t>(bytes.data());
  const uintptr_t begin = round_up(address, page), end = round_down(address + bytes.size(), page);
  if (end <= begin) return;
#ifdef MADV_PAGEOUT
  ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_PAGEOUT);
#endif
}

}  // namespace anynpu
