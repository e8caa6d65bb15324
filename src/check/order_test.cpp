// SPDX-License-Identifier: Apache-2.0
#include "check/order.h"

#include <gtest/gtest.h>

#include "check/findings_for_test.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kMemory = 0x10000;

class Order : public testing::Test {
 protected:
  ~Order() override { all_done(); }

  void queue(uint64_t stream, Access access, uint64_t address = kMemory, uint64_t bytes = 64) {
    Function function = made_up("aclrtMemsetAsync");
    Call one(function, {});
    queue_work(one, stream, {{"dst", address, bytes, access}});
  }
  void touch(Access access, uint64_t address = kMemory, uint64_t bytes = 64) {
    Function function = made_up("aclrtMemcpy");
    Call one(function, {});
    host_work(one, {{"src", address, bytes, access}});
  }

  Findings findings;
};

TEST_F(Order, ReadingAResultBeforeAWaitIsFound) {
  queue(1, Access::write);
  touch(Access::read);
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-synchronize"});
}

TEST_F(Order, WritingOverMemoryThatQueuedWorkReadsIsFound) {
  queue(1, Access::read);
  touch(Access::write);
  EXPECT_EQ(findings.kinds(), Kinds{"write-before-synchronize"});
}

TEST_F(Order, NothingIsFoundAfterTheHostWaited) {
  queue(1, Access::write);
  host_waited_for(clock_of(1));
  touch(Access::read);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Order, AWaitForOneStreamSaysNothingAboutAnother) {
  queue(1, Access::write);
  queue(2, Access::write, 2 * kMemory);
  host_waited_for(clock_of(2));
  touch(Access::read, 2 * kMemory);
  EXPECT_EQ(findings.kinds(), Kinds{});
  touch(Access::read);
  EXPECT_EQ(findings.kinds(), Kinds{"read-before-synchronize"});
}

TEST_F(Order, TwoStreamsThatWriteTheSameBytesRace) {
  queue(1, Access::write);
  queue(2, Access::write, kMemory + 63, 1);
  EXPECT_EQ(findings.kinds(), Kinds{"race"});
}

TEST_F(Order, AnEventOrdersTwoStreams) {
  queue(1, Access::write);
  stream_waits_for(2, clock_of(1));
  queue(2, Access::write);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Order, ReadsAndNeighbouringBytesDoNotCollide) {
  queue(1, Access::read);
  queue(2, Access::read);
  queue(2, Access::write, kMemory + 64);
  touch(Access::read);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(Order, TasksAreCountedAndDoneInTheirOrder) {
  const uint64_t before = last_task(7);
  queue(7, Access::write);
  const Clock first = clock_of(7);
  queue(7, Access::write, 3 * kMemory);
  EXPECT_EQ(last_task(7), before + 2);
  host_waited_for(first);
  EXPECT_TRUE(is_done(7, before + 1));
  EXPECT_FALSE(is_done(7, before + 2));
}

}  // namespace
}  // namespace anynpu::check
