// SPDX-License-Identifier: Apache-2.0
#include "service/instance/task_update.h"

#include "device/memory.h"
#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using TaskUpdates = InstanceTest;

TEST_F(TaskUpdates, NeedATaskOfABoundStreamOfTheirKind) {
  EXPECT_EQ(update_task_async(s_, 1, {}, t_).code(), Code::stream_not_of_instance);
  EXPECT_EQ(update_task_async(0, 1, {}, t_).code(), Code::invalid_handle);
  const Handle instance = *begin_build();
  const Handle head = make_stream(4);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  EXPECT_TRUE(leave('a', head).ok());
  EXPECT_EQ(update_task_async(head, 2, {}, t_).code(), Code::invalid_argument);
  EXPECT_EQ(update_task_async(head, 1, {}, t_).code(), Code::invalid_argument);
  TaskUpdate kernel;
  kernel.kind = TaskUpdate::Kind::kernel;
  EXPECT_EQ(update_task_async(head, 1, kernel, t_).code(), Code::invalid_argument);
}

TEST_F(TaskUpdates, ChangeTheRequestOfRandomNumbersWhenTheStreamComesToThem) {
  const Handle instance = *begin_build();
  const Handle head = make_stream(4);
  ASSERT_TRUE(bind_stream(instance, head, kHeadStream).ok());
  auto* memory = static_cast<std::byte*>(*device::allocate_host(64));
  RandomRequest request;
  request.first.bytes = request.second.bytes = 4;
  request.seed.bytes = request.count.bytes = 8;
  request.result = memory;
  request.counter = memory + 16;
  ASSERT_TRUE(submit_random_numbers(request, head).ok());
  TaskUpdate update;
  update.source = memory;
  update.bytes = 8;
  update.read = [](std::span<const std::byte> bytes) {
    RandomRequest changed;
    changed.seed.bytes = static_cast<uint8_t>(bytes.size());
    return changed;
  };
  ASSERT_TRUE(update_task_async(head, 1, update, t_).ok());
  ASSERT_TRUE(stream(t_)->synchronize().ok());
  const auto& task = *(*find_instance(instance))->lanes()[0].tasks[0];
  EXPECT_EQ(task.random->request.seed.bytes, 8);
  EXPECT_EQ(task.random->request.result, nullptr);
  EXPECT_TRUE(device::free_host(memory).ok());
}

}  // namespace
}  // namespace anynpu::service
