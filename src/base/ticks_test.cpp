// SPDX-License-Identifier: Apache-2.0
#include "base/ticks.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace anynpu {
namespace {

TEST(Ticks, NeverRunsBackwards) {
  uint64_t last_ns = now_ns();
  uint64_t last_ticks = ticks();
  for (int i = 0; i < 10'000; ++i) {
    const uint64_t ns = now_ns();
    const uint64_t t = ticks();
    ASSERT_GE(ns, last_ns);
    ASSERT_GE(t, last_ticks);
    last_ns = ns;
    last_ticks = t;
  }
}

// The rate is good to 0.1 %, and this thread may stand still for any time in between.
int64_t allowed_error(const ClockPair& since) {
  return 100'000 + static_cast<int64_t>(now_ns() - since.ns) / 1000;
}

TEST(Ticks, TicksConvertToTheSteadyClock) {
  const ClockPair start = read_clock_pair();
  const TickScale scale = tick_scale();
  for (int i = 0; i < 5; ++i) {
    const ClockPair pair = read_clock_pair();
    const auto error = static_cast<int64_t>(scale.to_ns(pair.ticks) - pair.ns);
    EXPECT_LT(std::llabs(error), allowed_error(start)) << "ticks and the steady clock are apart";
  }
}

TEST(Ticks, TicksBeforeTheAnchorConvertToo) {
  const ClockPair early = read_clock_pair();
  while (now_ns() - early.ns < 2'000'000) {
  }
  const TickScale scale = tick_scale();
  const auto error = static_cast<int64_t>(scale.to_ns(early.ticks) - early.ns);
  EXPECT_LT(std::llabs(error), allowed_error(early));
}

TEST(Ticks, PairsTooCloseTogetherStillGiveAUsableRate) {
  const TickScale reference = tick_scale();
  const ClockPair a = read_clock_pair();
  const TickScale scale(a, a);
  EXPECT_NEAR(scale.ns_per_tick() / reference.ns_per_tick(), 1.0, 0.05);
}

}  // namespace
}  // namespace anynpu
