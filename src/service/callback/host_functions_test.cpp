// SPDX-License-Identifier: Apache-2.0
#include "service/callback/host_functions.h"

#include <gtest/gtest.h>
#include <pthread.h>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Runtime;

class HostFunctionService : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Runtime::instance().set_device(0).ok()); }
  void TearDown() override { Runtime::instance().reset_all(); }
  static void count(void* data) { ++*static_cast<int*>(data); }
};

TEST_F(HostFunctionService, RunBetweenTheTasksOfAStream) {
  int calls = 0;
  EXPECT_TRUE(launch_host_function(0, count, &calls).ok());
  EXPECT_TRUE((*Runtime::instance().stream(0))->synchronize().ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(launch_host_function(0, nullptr, nullptr).code(), Code::invalid_argument);
}

TEST_F(HostFunctionService, AThreadServesTheStreamsThatAreSubscribedToIt) {
  const auto self = static_cast<uint64_t>(pthread_self());
  const Handle stream = *(*Runtime::instance().current())->create_stream({});
  EXPECT_EQ(subscribe_host_functions(self, 0).code(), Code::invalid_handle);
  ASSERT_TRUE(subscribe_host_functions(self, stream).ok());
  int calls = 0;
  ASSERT_TRUE(launch_host_function(stream, count, &calls).ok());
  EXPECT_TRUE(process_host_functions(-1).ok());
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(process_host_functions(1).code(), Code::callback_timeout);
  EXPECT_EQ(process_host_functions(0).code(), Code::invalid_argument);
  EXPECT_TRUE(unsubscribe_host_functions(self, stream).ok());
  EXPECT_EQ(unsubscribe_host_functions(self, stream).code(), Code::stream_not_subscribed);
}

}  // namespace
}  // namespace anynpu::service
