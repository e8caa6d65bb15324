// SPDX-License-Identifier: Apache-2.0
#include "service/instance/replay.h"

#include <atomic>
#include <thread>

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using Replay = InstanceTest;

TEST_F(Replay, ARunIsOneTaskOfTheStream) {
  const Handle instance = captured("abc");
  const uint64_t before = stream(s_)->submitted();
  ASSERT_TRUE(run(instance).ok());
  EXPECT_EQ(stream(s_)->submitted(), before + 1);
  EXPECT_EQ(take(), "abc");
}

TEST_F(Replay, ATaskThatGoesPendingParksTheRunAndItGoesOnAfterwards) {
  std::atomic<int> pending{0};
  device::Completion held;
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_TRUE(leave('a', s_).ok());
  EXPECT_TRUE(stream(s_)
                  ->submit(letter_task,
                           [&](device::TaskRun& run) {
                             held = run.defer();
                             ++pending;
                             return device::Outcome::pending;
                           })
                  .ok());
  EXPECT_TRUE(leave('b', s_).ok());
  const Handle instance = *end_capture(s_);
  for (int turn = 1; turn <= 3; ++turn) {
    ASSERT_TRUE(execute_instance_async(instance, s_).ok());
    while (pending < turn) std::this_thread::yield();
    EXPECT_FALSE(stream(s_)->idle());
    held.finish({});
    EXPECT_TRUE(stream(s_)->synchronize().ok());
    EXPECT_EQ(take(), "ab");
  }
}

TEST_F(Replay, AFailureEndsTheRunAndNamesTheTask) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_TRUE(
      stream(s_)->submit(letter_task, [] { return fail(Code::task_failed, "on purpose"); }).ok());
  EXPECT_TRUE(leave('b', s_).ok());
  const Status status = run(*end_capture(s_));
  EXPECT_EQ(status.code(), Code::task_failed);
  EXPECT_NE(status.to_string().find("in task 1 (letter)"), std::string::npos);
  EXPECT_EQ(take(), "");
}

TEST_F(Replay, WhatCannotBeExecutedIsRefused) {
  EXPECT_EQ(execute_instance_async(captured(""), s_).code(), Code::bad_call_order);
  EXPECT_EQ(execute_instance(captured("a"), 0).code(), Code::invalid_argument);
  EXPECT_EQ(abort_instance(captured("a")).code(), Code::invalid_argument);
  const Handle instance = captured("a");
  ASSERT_TRUE(begin_capture(t_, 0).ok());
  EXPECT_EQ(execute_instance_async(instance, t_).code(), Code::task_kind_refused);
  ASSERT_TRUE(end_capture(t_).ok());
  const Handle other = *device::Runtime::instance().create_context(0);
  const Handle stranger = make_stream(0);
  EXPECT_EQ(execute_instance_async(instance, stranger).code(), Code::wrong_context);
  EXPECT_TRUE(device::Runtime::instance().destroy_context(other).ok());
}

}  // namespace
}  // namespace anynpu::service
