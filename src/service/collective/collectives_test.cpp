// SPDX-License-Identifier: Apache-2.0
#include "service/collective/collectives.h"

#include <chrono>
#include <thread>

#include "service/collective/group_for_test.h"

namespace anynpu::service {
namespace {

using Collectives = TwoRanks;

constexpr int64_t kF32 = 4, kSum = 0;

TEST_F(Collectives, AStreamParksUntilTheOtherRankIsThere) {
  floats(0)[0] = 1, floats(1)[0] = 2;
  ASSERT_TRUE(all_reduce({groups[0], streams[0]}, floats(0), floats(0), 1, kF32, kSum).ok());
  auto stream = *runtime().stream(streams[0]);
  EXPECT_EQ(stream->synchronize(Deadline::after_ms(30)).code(), Code::timeout);
  ASSERT_TRUE(all_reduce({groups[1], streams[1]}, floats(1), floats(1), 1, kF32, kSum).ok());
  EXPECT_TRUE(wait(0).ok());
  EXPECT_TRUE(wait(1).ok());
  EXPECT_EQ(floats(0)[0], 3);
  EXPECT_EQ(floats(1)[0], 3);
}

TEST_F(Collectives, OutputsMayLieAcrossInputs) {
  constexpr uint64_t kCount = 50'000;
  for (int rank = 0; rank < 2; ++rank) {
    for (uint64_t i = 0; i < kCount; ++i) floats(rank)[i] = static_cast<float>(i);
    ASSERT_TRUE(all_reduce({groups[rank], streams[static_cast<size_t>(rank)]}, floats(rank),
                           floats(rank) + 100, kCount, kF32, kSum)
                    .ok());
  }
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_TRUE(wait(rank).ok());
    for (uint64_t i = 0; i < kCount; ++i) {
      ASSERT_EQ(floats(rank)[100 + i], 2 * static_cast<float>(i));
    }
  }
}

TEST_F(Collectives, ADroppedOperationEndsTheCommunicator) {
  ASSERT_TRUE(barrier({groups[0], streams[0]}).ok());
  (*runtime().stream(streams[0]))->abort();
  Status failure;
  for (int i = 0; i < 1000 && failure.ok(); ++i) {
    ASSERT_TRUE(communicator_failure(groups[0], &failure).ok());
    if (failure.ok()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(failure.code(), Code::aborted);
  // Rank 0 may have sent its part before it was dropped; the next operation finds nobody.
  Status seen;
  for (int i = 0; i < 2 && seen.ok(); ++i) {
    ASSERT_TRUE(barrier({groups[1], streams[1]}).ok());
    seen = wait(1);
  }
  EXPECT_EQ(seen.code(), Code::task_failed);
  EXPECT_NE(seen.to_string().find("dropped"), std::string::npos);
}

TEST_F(Collectives, WrongCallsLeaveTheOrderAlone) {
  const Where where{groups[0], streams[0]};
  EXPECT_EQ(all_reduce(where, floats(0), floats(0), 1, 99, kSum).code(), Code::invalid_argument);
  EXPECT_EQ(all_reduce(where, nullptr, floats(0), 1, kF32, kSum).code(), Code::invalid_address);
  EXPECT_EQ(all_reduce({groups[0], streams[1]}, floats(0), floats(0), 1, kF32, kSum).code(),
            Code::wrong_context);
  EXPECT_EQ(broadcast(where, floats(0), 1, kF32, 2).code(), Code::invalid_argument);
  const TransferRequest self{true, floats(0), 1, kF32, 0};
  EXPECT_EQ(transfer_one(where, self).code(), Code::invalid_argument);
  EXPECT_EQ(transfer(where, std::span(&self, 1)).code(), Code::invalid_argument);
  ASSERT_TRUE(barrier(where).ok());
  ASSERT_TRUE(barrier({groups[1], streams[1]}).ok());
  EXPECT_TRUE(wait(0).ok());
}

TEST_F(Collectives, ABatchSendsToItselfToo) {
  floats(0)[0] = 5;
  const TransferRequest both[] = {{true, floats(0), 1, kF32, 0},
                                  {false, floats(0) + 9, 1, kF32, 0}};
  ASSERT_TRUE(transfer({groups[0], streams[0]}, both).ok());
  ASSERT_TRUE(wait(0).ok());
  EXPECT_EQ(floats(0)[9], 5);
}

}  // namespace
}  // namespace anynpu::service
