// SPDX-License-Identifier: Apache-2.0
// Memory that host and devices access at one address. Devices here see the memory of the process,
// so pages never migrate: advice and prefetches are recorded for each 2 MiB page and can be
// queried. Freed like device memory. Thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/handle_table.h"
#include "base/result.h"

namespace anynpu::service {

inline constexpr size_t kManagedPage = size_t{2} << 20;

// `bytes` is rounded up to pages; needs a current context. unsupported_feature where the host
// cannot read the device's memory.
Result<void*> allocate_managed(uint64_t bytes);

// Where pages may lie, as the interface numbers it: 1 is a device, 2 the host.
struct PageLocation {
  int32_t type = 0;  // 0: none
  int32_t id = 0;
  bool operator==(const PageLocation&) const = default;
};

enum class PageAdvice : int {
  set_read_mostly = 0,
  unset_read_mostly = 1,
  set_preferred = 2,
  unset_preferred = 3,
  set_accessed_by = 4,
  unset_accessed_by = 5,
};
// `bytes` is a multiple of a page.
Status advise_pages(const void* address, uint64_t bytes, int advice, PageLocation location);

enum class PageAttribute : int {
  read_mostly = 1,
  preferred = 2,    // a device, -1 for the host, -2 for none or several
  accessed_by = 3,  // devices, -1 for the host, the rest -2
  preferred_type = 4,
  preferred_id = 5,
  prefetched = 6,
  prefetched_type = 7,
  prefetched_id = 8,
};
// The answer for the whole range, in 4 bytes; accessed_by in as many as there is room for.
Status read_page_attribute(int attribute, const void* address, size_t bytes, void* data,
                           size_t data_bytes);

struct PageRange {
  const void* address = nullptr;
  size_t bytes = 0;
  PageLocation location{};
};
// Checks all ranges; records the locations when the stream reaches the task.
Status prefetch_pages(std::span<const PageRange> ranges, Handle stream);

}  // namespace anynpu::service
