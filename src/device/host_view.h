// SPDX-License-Identifier: Apache-2.0
// Host access to device memory: a function is run while the ranges it works on are mapped for the
// host, or bytes are copied. On devices whose memory the host can read both cost one branch. Ranges
// must have been checked (memory.h) and be kept alive by the caller. Thread-safe.
#pragma once

#include <span>
#include <utility>

#include "device/device_memory.h"

namespace anynpu::device {

// The slow path of with_host_view.
Status with_translated_ranges(std::span<HostRange> ranges, const HostWork& work);

// Runs `work`, a Status(), in this thread; meanwhile ranges[i].address is an address that the host
// can use. Ranges of host memory stay as they are.
template <typename Work>
Status with_host_view(std::span<HostRange> ranges, Work&& work) {
  if (host_reads_all_memory()) [[likely]]
    return work();
  return with_translated_ranges(ranges, HostWork(work));
}
// The same for one range: `work` takes the address.
template <typename Work>
Status with_host_view(const HostRange& range, Work&& work) {
  HostRange view = range;
  return with_host_view(std::span(&view, 1), [&] { return work(view.address); });
}

// Bytes from or to any memory, at once.
Status copy_rows(const CopyRows& rows);
inline Status copy_bytes(void* to, const void* from, size_t bytes) {
  return copy_rows({to, from, bytes});
}
Status fill_bytes(void* address, int value, size_t bytes);

}  // namespace anynpu::device
