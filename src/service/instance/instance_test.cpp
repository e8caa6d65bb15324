// SPDX-License-Identifier: Apache-2.0
#include "service/instance/instance.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using Instances = InstanceTest;

TEST_F(Instances, NamesAreCutAndCallbacksRunAtTheEnd) {
  const Handle handle = captured("a");
  const auto instance = *find_instance(handle);
  instance->set_name(std::string(600, 'n'));
  EXPECT_EQ(instance->name().size(), Instance::kNameBytes);
  int calls = 0;
  const Instance::Callback count = [](void* data) { ++*static_cast<int*>(data); };
  instance->add_destroy_callback(count, &calls);
  EXPECT_EQ(instance->remove_destroy_callback([](void*) {}).code(), Code::not_found);
  EXPECT_TRUE(Instance::destroy(handle).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(find_instance(handle).status().code(), Code::invalid_handle);
}

TEST_F(Instances, OneThatIsCapturedOrInUseIsNotDestroyed) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_TRUE(leave('a', s_).ok());
  const Handle handle = capture_info(s_)->instance;
  EXPECT_EQ(Instance::destroy(handle).code(), Code::instance_capturing);
  ASSERT_TRUE(end_capture(s_).ok());
  const auto instance = *find_instance(handle);
  instance->begin_use();
  EXPECT_EQ(Instance::destroy(handle).code(), Code::instance_running);
  instance->end_use();
  EXPECT_TRUE(Instance::destroy(handle).ok());
}

TEST_F(Instances, ReplacedTasksGoWhenTheNextRunBegins) {
  const Handle handle = captured("a");
  const auto instance = *find_instance(handle);
  RecordedTask& task = *instance->lanes()[0].tasks[0];
  auto replacement = std::make_unique<device::KeptTask>();
  int runs = 0;
  replacement->emplace(letter_task, [&runs] {
    ++runs;
    return Status();
  });
  instance->replace_work(task, std::move(replacement));
  EXPECT_EQ(task.kept.size(), 2u);
  EXPECT_TRUE(run(handle).ok());
  EXPECT_EQ(task.kept.size(), 1u);
  EXPECT_EQ(runs, 1);
  EXPECT_EQ(take(), "");
}

TEST_F(Instances, FinalisingReleasesThem) {
  const Handle handle = captured("a");
  run_finalizers();
  EXPECT_FALSE(find_instance(handle).ok());
}

}  // namespace
}  // namespace anynpu::service
