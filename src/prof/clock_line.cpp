// SPDX-License-Identifier: Apache-2.0
#include "prof/clock_line.h"

#include <algorithm>

namespace anynpu::prof {

namespace {
constexpr uint64_t kPieceNs = 100'000'000;
// In which the line would meet the steady clock; not sooner than a late caller may come again.
constexpr uint64_t kHorizonNs = 1'000'000'000;
}  // namespace

void ClockLine::restart() {
  const double rate = tick_scale().ns_per_tick();
  const ClockPair now = read_clock_pair();
  pieces_.assign(1, {now.ticks, now.ns, rate});
}

void ClockLine::advance() {
  const Piece& last = pieces_.back();
  const ClockPair now = read_clock_pair();
  if (now.ns - last.ns < kPieceNs) return;
  const uint64_t here = last.at(now.ticks);
  const double behind = static_cast<double>(static_cast<int64_t>(now.ns - here));
  const double rate = tick_scale().ns_per_tick();
  const auto horizon = static_cast<double>(std::max(kHorizonNs, now.ns - last.ns));
  pieces_.push_back({now.ticks, here, rate * (1 + behind / horizon)});
}

}  // namespace anynpu::prof
