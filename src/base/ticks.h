// SPDX-License-Identifier: Apache-2.0
// ticks(): the cheapest clock, half the cost of now_ns(): the time stamp counter if the CPU says
// that it is constant and never stops, else now_ns() itself. Ticks have a meaning only together
// with a ClockPair, which relates them to now_ns(). Thread-safe, no allocation, cannot fail.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "base/clock.h"

namespace anynpu {

namespace detail {
struct TickSource {
  TickSource();
  bool is_tsc;
};
extern const TickSource tick_source;  // settled before any other initialiser of the library runs
}  // namespace detail

inline bool ticks_are_tsc() { return detail::tick_source.is_tsc; }

inline uint64_t ticks() {
#if defined(__x86_64__)
  if (detail::tick_source.is_tsc) return __rdtsc();
#endif
  return now_ns();
}

// Both clocks at one moment.
struct ClockPair {
  uint64_t ticks = 0;
  uint64_t ns = 0;
};

// Reads ticks around the steady clock a few times and keeps the tightest reading.
ClockPair read_clock_pair();

// Converts ticks near `anchor` to the steady clock.
class TickScale {
 public:
  TickScale() = default;
  // The rate is taken between the two pairs, or from the start of the process where they are too
  // close together for a good rate.
  TickScale(const ClockPair& earlier, const ClockPair& anchor);

  uint64_t to_ns(uint64_t ticks) const {
    const auto distance = static_cast<double>(static_cast<int64_t>(ticks - anchor_.ticks));
    return anchor_.ns + static_cast<uint64_t>(static_cast<int64_t>(distance * ns_per_tick_));
  }
  double duration_ns(uint64_t ticks) const { return static_cast<double>(ticks) * ns_per_tick_; }
  double ns_per_tick() const { return ns_per_tick_; }

 private:
  ClockPair anchor_;
  double ns_per_tick_ = 1.0;
};

// The rate since the start of the process, anchored now. In the first milliseconds of a process
// this waits until a millisecond has passed, so that the rate is good to about 0.1 %.
TickScale tick_scale();

}  // namespace anynpu
