// SPDX-License-Identifier: Apache-2.0
#include "service/instance/task_group.h"

#include "service/instance/instance_for_test.h"
#include "service/task_kinds.h"

namespace anynpu::service {
namespace {

class TaskGroups : public InstanceTest {
 protected:
  Status launch(Handle on, std::string& text, const char* name) {
    return stream(on)->submit(kernel_task, [&text, name] {
      text += name;
      return Status();
    });
  }
  std::string text_;
};

TEST_F(TaskGroups, AnUpdatePutsOtherLaunchesIntoTheirPlace) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  ASSERT_TRUE(begin_task_group(s_).ok());
  EXPECT_EQ(begin_task_group(s_).code(), Code::task_group_state);
  EXPECT_EQ(leave('x', s_).code(), Code::task_kind_refused);
  ASSERT_TRUE(launch(s_, text_, "1").ok());
  ASSERT_TRUE(launch(s_, text_, "2").ok());
  const Handle group = *end_task_group(s_);
  const Handle instance = *end_capture(s_);
  ASSERT_TRUE(begin_group_update(t_, group).ok());
  EXPECT_EQ(begin_group_update(s_, group).code(), Code::task_group_state);
  ASSERT_TRUE(launch(t_, text_, "3").ok());
  EXPECT_EQ(end_group_update(t_).code(), Code::invalid_argument) << "one of two";
  ASSERT_TRUE(begin_group_update(t_, group).ok());
  ASSERT_TRUE(launch(t_, text_, "3").ok());
  ASSERT_TRUE(launch(t_, text_, "4").ok());
  EXPECT_EQ(launch(t_, text_, "5").code(), Code::invalid_argument);
  ASSERT_TRUE(end_group_update(t_).ok());
  EXPECT_TRUE(run(instance).ok());
  EXPECT_TRUE(stream(t_)->synchronize().ok());
  text_.clear();
  EXPECT_TRUE(run(instance).ok());
  EXPECT_EQ(text_, "34");
}

TEST_F(TaskGroups, OnlyLaunchesAreTaken) {
  EXPECT_TRUE(is_launch(kernel_task));
  EXPECT_TRUE(is_launch(operator_task));
  EXPECT_FALSE(is_launch(letter_task));
  EXPECT_EQ(begin_task_group(s_).code(), Code::stream_not_capturing);
  EXPECT_EQ(end_group_update(s_).code(), Code::task_group_state);
  EXPECT_EQ(begin_group_update(s_, 0).code(), Code::invalid_handle);
}

TEST_F(TaskGroups, AnotherKindOfLaunchCannotReplaceOne) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  ASSERT_TRUE(begin_task_group(s_).ok());
  ASSERT_TRUE(launch(s_, text_, "1").ok());
  const Handle group = *end_task_group(s_);
  ASSERT_TRUE(end_capture(s_).ok());
  ASSERT_TRUE(begin_group_update(t_, group).ok());
  EXPECT_EQ(stream(t_)->submit(operator_task, [] { return Status(); }).code(),
            Code::op_not_updatable);
  EXPECT_TRUE(end_group_update(t_).ok());
}

}  // namespace
}  // namespace anynpu::service
