// SPDX-License-Identifier: Apache-2.0
#include "service/profile/user_trace.h"

#include <gtest/gtest.h>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

TEST(UserTraces, AreTasksOfAStreamWithAtMostEighteenBytes) {
  ASSERT_TRUE(device::Runtime::instance().set_device(0).ok());
  const std::byte data[18] = {};
  EXPECT_EQ(check_user_trace(0).code(), Code::invalid_argument);
  EXPECT_EQ(check_user_trace(19).code(), Code::invalid_argument);
  EXPECT_TRUE(check_user_trace(18).ok());
  EXPECT_TRUE(submit_user_trace(data, 0).ok());
  EXPECT_TRUE((*device::Runtime::instance().stream(0))->synchronize().ok());
  device::Runtime::instance().reset_all();
}

}  // namespace
}  // namespace anynpu::service
