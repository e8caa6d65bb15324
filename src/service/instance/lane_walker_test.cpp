// SPDX-License-Identifier: Apache-2.0
#include "service/instance/lane_walker.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using Walking = InstanceTest;

constinit device::TaskKind kWalk{"walk", device::Engine::control, false, true};

TEST_F(Walking, GoesToTheEndOfTheLaneFromWhereItIsSet) {
  const auto instance = *find_instance(captured("abc"));
  ASSERT_TRUE(begin_run(*instance).ok());
  LaneWalker walker(instance, *instance, 0, 1);
  EXPECT_TRUE(stream(s_)->submit(kWalk, [&](device::TaskRun& run) { return walker.go(run); }).ok());
  EXPECT_TRUE(stream(s_)->synchronize().ok());
  EXPECT_EQ(take(), "bc");
  EXPECT_TRUE(failure_of(*instance).ok());
}

TEST_F(Walking, WhatWasWaitedForMayFail) {
  Status seen;
  EXPECT_TRUE(stream(s_)
                  ->submit(kWalk,
                           [&, turn = 0](device::TaskRun& run) mutable {
                             if (turn++ > 0) {
                               seen = run.status();
                               return device::Outcome::done;
                             }
                             run.defer().finish(fail(Code::timeout, "on purpose"));
                             return device::Outcome::pending;
                           })
                  .ok());
  EXPECT_EQ(stream(s_)->synchronize().code(), Code::timeout);
  EXPECT_EQ(seen.code(), Code::timeout);
}

TEST_F(Walking, ARunBeginsWithoutPassedJoinsAndFailures) {
  const auto instance = *find_instance(captured("a"));
  instance->run().joined.assign(2, 1);
  instance->run().failure = fail(Code::task_failed, "of the run before");
  ASSERT_TRUE(begin_run(*instance).ok());
  EXPECT_EQ(instance->run().joined, std::vector<uint8_t>(2, 0));
  EXPECT_TRUE(failure_of(*instance).ok());
}

}  // namespace
}  // namespace anynpu::service
