// SPDX-License-Identifier: Apache-2.0
#include "base/interrupt.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace anynpu {
namespace {

std::atomic<int> checks{0};
std::atomic<bool> stops{false};

bool count_checks() {
  ++checks;
  return stops;
}

class InterruptTest : public testing::Test {
 protected:
  void SetUp() override {
    checks = 0;
    stops = false;
    set_interrupt_check(count_checks);
  }
  void TearDown() override { set_interrupt_check(nullptr); }

  // Waits until woken for good, 30 s at most.
  WaitEnd wait(const Deadline& deadline) {
    std::unique_lock lock(mutex_);
    for (;;) {
      const WaitEnd end = wait_turn(wake_, lock, deadline);
      if (end != WaitEnd::woken || done_) return end;
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  bool done_ = false;
};

TEST_F(InterruptTest, AWaitOfTheMainThreadEndsWhenTheCheckSaysSo) {
  stops = true;
  EXPECT_TRUE(interrupted());
  EXPECT_EQ(wait(Deadline::after_ms(30'000)), WaitEnd::interrupted);
  EXPECT_GE(checks, 2);
}

TEST_F(InterruptTest, TheCheckRunsAgainAndAgainUntilTheDeadline) {
  EXPECT_EQ(wait(Deadline::after_ms(180)), WaitEnd::timed_out);
  EXPECT_GE(checks, 2);
}

TEST_F(InterruptTest, OtherThreadsAreNotInterrupted) {
  stops = true;
  std::thread([&] {
    EXPECT_FALSE(interrupted());
    EXPECT_EQ(wait(Deadline::after_ms(120)), WaitEnd::timed_out);
  }).join();
  EXPECT_EQ(checks, 0);
}

TEST_F(InterruptTest, ANotificationWakes) {
  set_interrupt_check(nullptr);
  EXPECT_FALSE(interrupted());
  std::thread other([&] {
    const std::lock_guard lock(mutex_);
    done_ = true;
    wake_.notify_all();
  });
  EXPECT_EQ(wait(Deadline::never()), WaitEnd::woken);
  other.join();
}

TEST_F(InterruptTest, ADeadlineThatHasPassedDoesNotWait) {
  std::unique_lock lock(mutex_);
  EXPECT_EQ(wait_turn(wake_, lock, Deadline::after_ms(0)), WaitEnd::timed_out);
  EXPECT_EQ(checks, 0);
}

}  // namespace
}  // namespace anynpu
