// SPDX-License-Identifier: Apache-2.0
#include "collective/exchange.h"

#include <time.h>

#include <algorithm>

#include "base/env.h"
#include "base/interrupt.h"

namespace anynpu::collective {

namespace {

constexpr int64_t kMostSeconds = 7200;

int64_t connect_seconds() {
  return std::clamp<int64_t>(env::integer(env::Name::hccl_connect_timeout), 1, kMostSeconds);
}

}  // namespace

Result<bool> poll_until(const Deadline& deadline, const std::function<bool()>& over) {
  long pause_ns = 20'000;
  for (;;) {
    if (over()) return true;
    if (deadline.passed()) return false;
    if (interrupted()) return fail(Code::cancelled, "the wait for other ranks was interrupted");
    const timespec pause = {0, pause_ns};
    nanosleep(&pause, nullptr);
    pause_ns = std::min(pause_ns * 2, 1'000'000L);
  }
}

std::string list_ranks(const std::vector<uint32_t>& ranks) {
  constexpr size_t kNamed = 8;
  std::string text = ranks.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < std::min(ranks.size(), kNamed); ++i) {
    const bool last = i + 1 == ranks.size();
    text += format("{}{}", i == 0 ? " " : last ? " and " : ", ", ranks[i]);
  }
  if (ranks.size() > kNamed) text += format(" and {} more", ranks.size() - kNamed);
  return text;
}

Deadline connect_deadline() { return Deadline::after_ms(connect_seconds() * 1000); }
std::string connect_limit() { return format("{} s (HCCL_CONNECT_TIMEOUT)", connect_seconds()); }

}  // namespace anynpu::collective
