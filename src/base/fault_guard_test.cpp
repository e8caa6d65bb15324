// SPDX-License-Identifier: Apache-2.0
#include "base/fault_guard.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

namespace anynpu {
namespace {

constexpr size_t kPage = 4096;

// A page without access.
class FaultGuardTest : public testing::Test {
 protected:
  void SetUp() override {
    page_ = static_cast<char*>(mmap(nullptr, kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(page_, MAP_FAILED);
    install_fault_guard();
  }
  void TearDown() override { munmap(page_, kPage); }

  // Makes the page readable, and counts.
  static bool open_page(void* cookie, const siginfo_t& info, ucontext_t&) {
    auto* const test = static_cast<FaultGuardTest*>(cookie);
    if (info.si_addr < test->page_ || info.si_addr >= test->page_ + kPage) return false;
    ++test->faults_;
    return mprotect(test->page_, kPage, PROT_READ | PROT_WRITE) == 0;
  }
  static bool open_for_reading(void* cookie, const siginfo_t&, ucontext_t&) {
    auto* const test = static_cast<FaultGuardTest*>(cookie);
    ++test->faults_;
    return mprotect(test->page_, kPage, PROT_READ) == 0;
  }
  static bool not_mine(void* cookie, const siginfo_t&, ucontext_t&) {
    ++*static_cast<int*>(cookie);
    return false;
  }
  char read(size_t at) { return *static_cast<volatile char*>(page_ + at); }

  char* page_ = nullptr;
  int faults_ = 0;
};

TEST_F(FaultGuardTest, TheHandlerOfTheScopeMayLetTheThreadContinue) {
  const FaultScope scope(open_page, this);
  EXPECT_EQ(read(7), 0);
  EXPECT_EQ(faults_, 1);
  EXPECT_EQ(read(8), 0);
  EXPECT_EQ(faults_, 1) << "the page can be read now";
}

TEST_F(FaultGuardTest, ScopesNestAndTheInnermostIsAsked) {
  const FaultScope scope(open_page, this);
  {
    const FaultScope second(open_for_reading, this);
    EXPECT_EQ(read(0), 0);
  }
  EXPECT_EQ(faults_, 1);
  *static_cast<volatile char*>(page_) = 1;  // writing needs the outer handler
  EXPECT_EQ(faults_, 2);
}

TEST_F(FaultGuardTest, AFaultOutsideOfAScopeEndsTheProcess) {
  EXPECT_DEATH(read(1), "");
}

TEST_F(FaultGuardTest, AFaultThatTheHandlerDoesNotTakeEndsTheProcess) {
  int asked = 0;
  const FaultScope scope(not_mine, &asked);
  EXPECT_DEATH(read(1), "");
}

TEST_F(FaultGuardTest, AKnownRangeIsExplainedBeforeTheProcessEnds) {
  static const char kText[] = "this page belongs to the test\n";
  explain_faults(reinterpret_cast<uintptr_t>(page_), kPage, kText);
  EXPECT_DEATH(read(100), "this page belongs to the test");
}

TEST_F(FaultGuardTest, AHandlerThatTheProgramHadStillGetsItsFaults) {
  const auto in_child = [this] {
    struct sigaction own = {};
    own.sa_handler = [](int) { _exit(7); };
    sigaction(SIGSEGV, &own, nullptr);
    install_fault_guard();
    read(1);
  };
  EXPECT_EXIT(in_child(), testing::ExitedWithCode(7), "");
}

}  // namespace
}  // namespace anynpu
