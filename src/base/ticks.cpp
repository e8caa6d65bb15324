// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace anynpu {

namespace {

bool tsc_is_constant_and_nonstop() {
#if defined(__x86_64__)
  // Advanced power management leaf, "invariant TSC": what the kernel reports as constant_tsc and
  // nonstop_tsc. CPUID instead of /proc/cpuinfo, because loading the library opens no file.
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  if (__get_cpuid(0x80000007u, &eax, &ebx, &ecx, &edx)) return (edx & (1u << 8)) != 0;
#endif
  return false;
}

constexpr uint64_t kShortestGoodSpanNs = 10'000'000;
constexpr uint64_t kShortestSpanNs = 1'000'000;

double rate_between(const ClockPair& from, const ClockPair& to) {
  if (to.ticks <= from.ticks || to.ns <= from.ns) return 0.0;
  return static_cast<double>(to.ns - from.ns) / static_cast<double>(to.ticks - from.ticks);
}

}  // namespace

namespace detail {
TickSource::TickSource() : is_tsc(tsc_is_constant_and_nonstop()) {}
__attribute__((init_priority(101))) const TickSource tick_source;
}  // namespace detail

namespace {
__attribute__((init_priority(102))) const ClockPair process_start = read_clock_pair();
}

ClockPair read_clock_pair() {
  if (!ticks_are_tsc()) {
    const uint64_t now = now_ns();
    return {now, now};
  }
  ClockPair best;
  uint64_t best_gap = UINT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const uint64_t before = ticks();
    const uint64_t ns = now_ns();
    const uint64_t gap = ticks() - before;
    if (gap < best_gap) {
      best_gap = gap;
      best = {before + gap / 2, ns};
    }
  }
  return best;
}

TickScale::TickScale(const ClockPair& earlier, const ClockPair& anchor) : anchor_(anchor) {
  if (!ticks_are_tsc()) return;
  const bool far_apart = anchor.ns > earlier.ns && anchor.ns - earlier.ns >= kShortestGoodSpanNs;
  ns_per_tick_ = far_apart ? rate_between(earlier, anchor) : rate_between(process_start, anchor);
  if (ns_per_tick_ <= 0.0) ns_per_tick_ = 1.0;
}

TickScale tick_scale() {
  while (now_ns() - process_start.ns < kShortestSpanNs) {
  }
  return TickScale(process_start, read_clock_pair());
}

}  // namespace anynpu
