// SPDX-License-Identifier: Apache-2.0
// The wall clock, for names and for relating the steady clock to the date, and the raw clock, in
// which other profilers of the process measure. Cannot fail.
#pragma once

#include <time.h>

#include <cstdint>
#include <string>

namespace anynpu::prof {

inline uint64_t calendar_ns() {
  timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// Not corrected by the network's time; on the steady clock (base/clock.h) it may be seconds away.
inline uint64_t raw_clock_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC_RAW, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// "20260131235959123" in local time.
std::string date_digits(uint64_t calendar);

}  // namespace anynpu::prof
