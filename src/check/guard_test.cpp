// SPDX-License-Identifier: Apache-2.0
#include "check/guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "check/findings_for_test.h"
#include "check/order.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kGuardStream = 96;

class Guards : public testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    void* pages =
        mmap(nullptr, 3 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(pages, MAP_FAILED);
    memory_ = static_cast<uint8_t*>(pages);
    std::memset(memory_, 1, 3 * page_);
    set_guard_mode(GuardMode::all);
  }
  void TearDown() override {
    host_waited_for(clock_of(kGuardStream));
    settle_guards();
    munmap(memory_, 3 * page_);
    all_done();
  }
  // A queued copy of 2s to the first two pages and a half.
  uint8_t* guard() {
    auto* shadow = static_cast<uint8_t*>(guard_target(memory_, bytes(), 0));
    if (!shadow) return nullptr;
    Function function = made_up("aclrtMemcpyAsync");
    {
      Call one(function, {});
      queue_work(one, kGuardStream, {{"dst", word(memory_), bytes(), Access::write}});
      one.finish(0);
    }
    guard_queued(shadow, kGuardStream, true);
    std::memset(shadow, 2, bytes());  // the copy
    return shadow;
  }
  size_t bytes() const { return 2 * page_ + page_ / 2; }
  uint8_t read(size_t at) const { return *static_cast<volatile uint8_t*>(memory_ + at); }

  size_t page_ = 0;
  uint8_t* memory_ = nullptr;
  Findings findings;
};

TEST_F(Guards, BytesArriveWhenTheHostHasWaited) {
  ASSERT_NE(guard(), nullptr);
  host_waited_for(clock_of(kGuardStream));
  settle_guards();
  EXPECT_EQ(read(0), 2);
  EXPECT_EQ(read(bytes() - 1), 2);
  EXPECT_EQ(read(bytes()), 1) << "nothing behind the target";
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Guards, AnEarlyTouchIsReportedAndSeesTheOldBytes) {
  ASSERT_NE(guard(), nullptr);
  EXPECT_EQ(read(page_), 1);
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-synchronize"});
  EXPECT_EQ(read(page_), 1) << "the program goes on";
  EXPECT_EQ(findings.kinds().size(), 1u);
}

TEST_F(Guards, NeighboursOfTheWholePagesAreNotTouched) {
  ASSERT_NE(guard(), nullptr);
  EXPECT_EQ(read(bytes()), 1);
  EXPECT_EQ(findings.kinds(), Kinds{});
  EXPECT_EQ(guard_target(memory_ + 8, page_, 0), nullptr) << "no whole page";
}

TEST_F(Guards, ACopyThatWasNotQueuedIsForgotten) {
  void* shadow = guard_target(memory_, bytes(), 0);
  ASSERT_NE(shadow, nullptr);
  guard_queued(shadow, kGuardStream, false);
  EXPECT_EQ(read(0), 1);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Guards, ACallWithTheMemoryAsArgumentLiftsTheGuard) {
  ASSERT_NE(guard(), nullptr);
  call("aclrtMemset", {word(memory_)});
  EXPECT_EQ(read(0), 2);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

}  // namespace
}  // namespace anynpu::check
