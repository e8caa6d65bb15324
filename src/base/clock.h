// SPDX-License-Identifier: Apache-2.0
// The clock of the process: every time stamp of AnyNPU comes from here, so that events, traces and
// timeouts share one time base (CLOCK_MONOTONIC).
#pragma once

#include <time.h>

#include <cstdint>

namespace anynpu {

inline uint64_t now_ns() {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

// A point in time to wait for. Negative timeouts mean "forever".
class Deadline {
 public:
  static Deadline never() { return Deadline(UINT64_MAX); }
  static Deadline after_ms(int64_t ms) {
    return ms < 0 ? never() : Deadline(now_ns() + static_cast<uint64_t>(ms) * 1'000'000u);
  }
  bool is_never() const { return at_ == UINT64_MAX; }
  bool passed() const { return !is_never() && now_ns() >= at_; }
  // Nanoseconds left, at most `slice`.
  uint64_t left_ns(uint64_t slice) const {
    if (is_never()) return slice;
    const uint64_t now = now_ns();
    const uint64_t left = at_ > now ? at_ - now : 0;
    return left < slice ? left : slice;
  }

 private:
  explicit Deadline(uint64_t at) : at_(at) {}
  uint64_t at_;
};

}  // namespace anynpu
