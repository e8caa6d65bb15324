// SPDX-License-Identifier: Apache-2.0
#include "service/instance/last_task.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using LastTask = InstanceTest;

TEST_F(LastTask, InformationGoesToTheTaskThatThisThreadRecordedLast) {
  const std::byte bytes[3] = {};
  forget_last_task();
  EXPECT_EQ(cache_extend_info("x").code(), Code::bad_call_order);
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_TRUE(leave('a', s_).ok());
  EXPECT_EQ(cache_op_info(bytes).code(), Code::bad_call_order) << "the switch is off";
  stream(s_)->cache_op_info = 1;
  EXPECT_TRUE(leave('b', s_).ok());
  EXPECT_EQ(cache_op_info({}).code(), Code::invalid_argument);
  EXPECT_TRUE(cache_op_info(bytes).ok());
  EXPECT_TRUE(cache_extend_info(std::string(5000, 'x')).ok());
  describe_last_value({nullptr, 3, 1});
  const auto instance = *find_instance(*end_capture(s_));
  const RecordedTask& task = *instance->lanes()[0].tasks[1];
  EXPECT_EQ(task.op_info.size(), 3u);
  EXPECT_EQ(task.extend_info.size(), kMostExtendInfo);
  EXPECT_EQ(task.value->value, 3u);
  EXPECT_TRUE(instance->lanes()[0].tasks[0]->op_info.empty());
}

}  // namespace
}  // namespace anynpu::service
