// SPDX-License-Identifier: Apache-2.0
#include "service/failure/task_exception.h"

#include <gtest/gtest.h>

#include "device/stream.h"
#include "service/finalize.h"

namespace anynpu::service {
namespace {

void fail_a_task(uint32_t task) {
  const Status status = fail(Code::kernel_failed, "no");
  device::report_failure({1, 2, task, 4, "kernel", status});
}

TEST(TaskException, TheCallbackReadsTheIdsWhileItRuns) {
  Handle seen = 0;
  TaskException told;
  ASSERT_TRUE(set_exception_callback([&](Handle info) {
                seen = info;
                told = *resolve<TaskException>(info).value();
              }).ok());
  fail_a_task(3);
  EXPECT_EQ(told.device, 1u);
  EXPECT_EQ(told.stream, 2u);
  EXPECT_EQ(told.task, 3u);
  EXPECT_EQ(told.thread, 4u);
  EXPECT_EQ(told.code, Code::kernel_failed);
  EXPECT_FALSE(resolve<TaskException>(seen).ok());
  ASSERT_TRUE(set_exception_callback({}).ok());
}

TEST(TaskException, OthersAreToldBesideTheOneThatIsSet) {
  int set = 0, added = 0, key = 0;
  ASSERT_TRUE(set_exception_callback([&](Handle) { ++set; }).ok());
  ASSERT_TRUE(add_exception_callback(&key, [&](Handle) { ++added; }).ok());
  ASSERT_TRUE(add_exception_callback(&key, [&](Handle) { ++added; }).ok());
  fail_a_task(1);
  EXPECT_EQ(set, 1);
  EXPECT_EQ(added, 1) << "kept once";
  EXPECT_EQ(add_exception_callback(nullptr, {}).code(), Code::invalid_argument);
  ASSERT_TRUE(set_exception_callback({}).ok());
  fail_a_task(2);
  EXPECT_EQ(added, 2);
  EXPECT_TRUE(remove_exception_callback(&key).ok());
  EXPECT_TRUE(remove_exception_callback(&key).ok()) << "unknown is no failure";
  EXPECT_EQ(remove_exception_callback(nullptr).code(), Code::invalid_argument);
  fail_a_task(3);
  EXPECT_EQ(added, 2);
}

TEST(TaskException, NobodyIsToldAfterItWasRemovedOrTheLibraryFinalised) {
  int calls = 0;
  ASSERT_TRUE(set_exception_callback([&](Handle) { ++calls; }).ok());
  fail_a_task(1);
  ASSERT_TRUE(set_exception_callback({}).ok());
  fail_a_task(2);
  ASSERT_TRUE(set_exception_callback([&](Handle) { ++calls; }).ok());
  run_finalizers();
  fail_a_task(3);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace anynpu::service
