// SPDX-License-Identifier: Apache-2.0
#include "service/instance/tasks.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using InstanceTasks = InstanceTest;

TEST_F(InstanceTasks, AreListedAndDisabled) {
  const Handle instance = captured("abc");
  const auto streams = *streams_of_instance(instance);
  ASSERT_EQ(streams.size(), 1u);
  EXPECT_EQ(*streams_of_instance(instance), streams) << "the same handles each time";
  EXPECT_EQ(leave('x', streams[0]).code(), Code::invalid_stream) << "it takes no tasks";
  const auto tasks = *tasks_of_stream(streams[0]);
  ASSERT_EQ(tasks.size(), 3u);
  EXPECT_EQ(task_parameters(tasks[2])->number, 3u);
  EXPECT_EQ(task_parameters(tasks[0])->type, TaskType::other);
  EXPECT_EQ(kernel_attribute(tasks[0], 1).status().code(), Code::invalid_argument);
  EXPECT_EQ(set_task_parameters(tasks[0], {}).code(), Code::invalid_argument);
  EXPECT_TRUE(disable_task(tasks[0]).ok());
  EXPECT_TRUE(update_instance(instance).ok());
  EXPECT_TRUE(run(instance).ok());
  EXPECT_EQ(take(), "bc");
  EXPECT_EQ(tasks_of_stream(s_).status().code(), Code::stream_not_of_instance);
  EXPECT_TRUE(Instance::destroy(instance).ok());
  EXPECT_EQ(task_parameters(tasks[0]).status().code(), Code::invalid_handle);
}

TEST_F(InstanceTasks, AnInstanceInUseIsNotUpdated) {
  const Handle handle = captured("a");
  const auto instance = *find_instance(handle);
  instance->begin_use();
  EXPECT_EQ(update_instance(handle).code(), Code::instance_not_updated);
  instance->end_use();
  EXPECT_TRUE(update_instance(handle).ok());
}

}  // namespace
}  // namespace anynpu::service
