// SPDX-License-Identifier: Apache-2.0
// An observer of stream creation and destruction, including default streams. Thread-safe; there is
// none at first.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/handle_table.h"

namespace anynpu::device {

enum class StreamState : uint8_t { made = 1, ending = 2 };
// Called without a lock of ours held.
using StreamObserver = void (*)(Handle stream, StreamState state);
inline std::atomic<StreamObserver> stream_observer{nullptr};

inline void tell_stream_state(Handle stream, StreamState state) {
  if (const auto observer = stream_observer.load(std::memory_order_acquire)) [[unlikely]]
    observer(stream, state);
}

}  // namespace anynpu::device
