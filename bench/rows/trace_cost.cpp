// SPDX-License-Identifier: Apache-2.0
// A trace point that is off must not be felt; one that is on costs little more than its two clock
// reads. Both are measured over an empty loop in the same run.
#include <cstdio>

#include "../harness.h"
#include "trace/registry.h"
#include "trace/trace.h"

namespace anynpu::bench {
namespace {

constexpr size_t kOffCalls = 20'000;  // short enough to fall between two interruptions
constexpr size_t kOnCalls = 4 * trace::kBlockEvents;  // the cost of new blocks is in it

__attribute__((noinline)) void traced(uint64_t value) {
  ANYNPU_TRACE_ZONE(op, "bench zone", 1, value);
  keep(value);
}
__attribute__((noinline)) void plain(uint64_t value) { keep(value); }

double plain_ns(size_t calls) {
  uint64_t i = 0;
  return ns_per_call(calls, [&] { plain(++i); });
}

double traced_ns(size_t calls) {
  uint64_t i = 0;
  return ns_per_call(calls, [&] { traced(++i); });
}

double recorded_ns() {
  trace::set_mask(trace::kAllCategories);
  const double ns = traced_ns(kOnCalls);
  trace::set_mask(0);
  trace::discard();
  return ns;
}

}  // namespace

ANYNPU_BENCH(trace_off) {
  report.add({"trace point, off", 2, "ns",
              difference_of([] { return traced_ns(kOffCalls); }, [] { return plain_ns(kOffCalls); },
                            kShortPairs),
              ""});
}

ANYNPU_BENCH(trace_on) {
  const Estimate clock = value_of([] { return ns_per_call(kOffCalls, [] { keep(ticks()); }); });
  char note[64];
  std::snprintf(note, sizeof note, "one clock read: %.1f ns", clock.median);
  report.add({"trace slice, recorded", 40, "ns",
              difference_of(
                  recorded_ns, [] { return plain_ns(kOnCalls); }, kShortPairs),
              note});
}

}  // namespace anynpu::bench
