// SPDX-License-Identifier: Apache-2.0
// An observer that is called when a program has waited for a stream: memory pools then release
// unused memory.
#pragma once

#include <atomic>

namespace anynpu::device {

class Stream;

// Called after the wait, in the thread that waited, with no lock held. Null removes it.
using SynchronizeObserver = void (*)(const Stream& stream);
inline std::atomic<SynchronizeObserver> synchronize_observer{nullptr};

inline void tell_synchronized(const Stream& stream) {
  if (const auto observer = synchronize_observer.load(std::memory_order_acquire)) [[unlikely]]
    observer(stream);
}

}  // namespace anynpu::device
