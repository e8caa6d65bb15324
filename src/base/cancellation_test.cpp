// SPDX-License-Identifier: Apache-2.0
#include "base/cancellation.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "base/interrupt.h"

namespace anynpu {
namespace {

// The owner is a number; work of a smaller number is cancelled.
bool is_older(const void* owner, uint64_t number) {
  return number < *static_cast<const uint64_t*>(owner);
}

TEST(Cancellation, WorkOutsideOfAScopeIsNotCancelled) { EXPECT_TRUE(check_cancelled().ok()); }

TEST(Cancellation, TheScopeAsksItsOwner) {
  uint64_t first_valid = 0;
  const CancellationScope scope(is_older, &first_valid, 5);
  EXPECT_TRUE(check_cancelled().ok());
  first_valid = 6;
  EXPECT_EQ(check_cancelled().code(), Code::aborted);
}

TEST(Cancellation, TheInnermostScopeCountsAndTheOuterOneComesBack) {
  const uint64_t first_valid = 6;
  const CancellationScope outer(is_older, &first_valid, 5);
  {
    const CancellationScope inner(is_older, &first_valid, 7);
    EXPECT_TRUE(check_cancelled().ok());
  }
  EXPECT_EQ(check_cancelled().code(), Code::aborted);
}

TEST(Cancellation, AScopeBelongsToItsThread) {
  const uint64_t first_valid = 6;
  const CancellationScope scope(is_older, &first_valid, 5);
  std::thread([] { EXPECT_TRUE(check_cancelled().ok()); }).join();
}

TEST(Cancellation, ASignalEndsWorkOfTheMainThreadSoon) {
  set_interrupt_check([] { return true; });
  Status status;
  for (int i = 0; i < 1000 && status.ok(); ++i) {
    status = check_cancelled();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  set_interrupt_check(nullptr);
  EXPECT_EQ(status.code(), Code::cancelled);
}

}  // namespace
}  // namespace anynpu
