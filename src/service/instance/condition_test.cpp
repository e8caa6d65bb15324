// SPDX-License-Identifier: Apache-2.0
#include "service/instance/condition.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using ConditionService = InstanceTest;

TEST_F(ConditionService, AConditionRunsTheBodyOfItsValue) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  const Handle condition = *create_condition(capture_info(s_)->instance, 1, true);
  const auto bodies = *add_condition_task({condition, 0, 2}, s_);
  ASSERT_EQ(bodies.size(), 2u);
  for (const auto& [body, letter] : {std::pair{bodies[0], 'y'}, {bodies[1], 'n'}}) {
    ASSERT_TRUE(begin_capture_into(t_, body, 0).ok());
    EXPECT_TRUE(leave(letter, t_).ok());
    EXPECT_EQ(*end_capture(t_), body);
  }
  const Handle instance = *end_capture(s_);
  EXPECT_TRUE(run(instance).ok());
  EXPECT_EQ(take(), "y");
  EXPECT_NE(*condition_value(condition), nullptr);
}

TEST_F(ConditionService, SizesFollowTheKind) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  const Handle condition = *create_condition(capture_info(s_)->instance, 0, false);
  for (const ConditionTask& wrong :
       {ConditionTask{condition, 0, 3}, {condition, 1, 2}, {condition, 2, 0}, {condition, 3, 1}}) {
    EXPECT_EQ(add_condition_task(wrong, s_).status().code(), Code::invalid_argument);
  }
  EXPECT_EQ(add_condition_task({condition, 0, 1}, t_).status().code(), Code::stream_not_capturing);
  EXPECT_EQ(create_condition(*begin_build(), 0, false).status().code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
