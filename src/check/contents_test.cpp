// SPDX-License-Identifier: Apache-2.0
#include "check/contents.h"

#include <gtest/gtest.h>

#include "check/findings_for_test.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kBlock = 0x7000'0000'0000;

class Contents : public testing::Test {
 protected:
  Contents() { begin_contents(kBlock, 4096); }
  ~Contents() override { end_contents(kBlock); }

  void touch(Access access, uint64_t offset, uint64_t bytes) {
    Function function = made_up("aclrtMemcpy");
    Call one(function, {});
    check_contents(one, {{"src", kBlock + offset, bytes, access}});
  }
  // A call without hooks that gets an address.
  void give(const char* name, uint64_t address) {
    Function function = made_up(name);
    const uint64_t words[] = {address, 0, 0};
    Call one(function, words);
    one.finish(0);
  }

  Findings findings;
};

TEST_F(Contents, NewMemoryIsUndefinedUntilSomethingWritesIt) {
  touch(Access::read, 0, 64);
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-write"});
  touch(Access::read, 0, 64);
  EXPECT_EQ(findings.kinds().size(), 1u) << "told once";
  touch(Access::write, 1024, 64);
  touch(Access::read, 1024, 64);
  EXPECT_EQ(findings.kinds().size(), 1u);
}

TEST_F(Contents, AReadThatTouchesWrittenBytesIsLeftAlone) {
  touch(Access::write, 100, 1);
  touch(Access::read, 0, 4096);
  EXPECT_EQ(findings.kinds(), Kinds{});
  touch(Access::write, 200, 100);
  touch(Access::write, 250, 100);
  touch(Access::read, 349, 10);
  EXPECT_EQ(findings.kinds(), Kinds{});
  touch(Access::read, 350, 10);
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-write"});
}

TEST_F(Contents, MemoryThatAnUnknownCallWasGivenCountsAsWritten) {
  give("aclCreateDataBuffer", kBlock);
  touch(Access::read, 0, 8);
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-write"}) << "it only keeps the address";
  give("aclSomething", kBlock + 100);
  touch(Access::read, 512, 8);
  EXPECT_EQ(findings.kinds().size(), 1u);
}

TEST_F(Contents, MemoryThatIsNotFollowedIsNeverReported) {
  stop_following(kBlock + 5);
  touch(Access::read, 0, 8);
  end_contents(kBlock);
  touch(Access::read, 0, 8);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

}  // namespace
}  // namespace anynpu::check
