// SPDX-License-Identifier: Apache-2.0
// Somebody is told when a program has waited for a stream: pools of memory give back then what they
// do not need.
#pragma once

#include <atomic>

namespace anynpu::device {

class Stream;

// Called after the wait, in the thread that waited and with no lock held. Null ends it.
using SynchronizeObserver = void (*)(const Stream& stream);
inline std::atomic<SynchronizeObserver> synchronize_observer{nullptr};

inline void tell_synchronized(const Stream& stream) {
  if (const auto observer = synchronize_observer.load(std::memory_order_acquire)) [[unlikely]]
    observer(stream);
}

}  // namespace anynpu::device
