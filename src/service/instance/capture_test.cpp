// SPDX-License-Identifier: Apache-2.0
#include "service/instance/capture.h"

#include "service/instance/instance_for_test.h"

namespace anynpu::service {
namespace {

using CaptureService = InstanceTest;

TEST_F(CaptureService, BetweenBeginAndEndTasksAreRecorded) {
  EXPECT_EQ(capture_info(s_)->status, CaptureStatus::none);
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_EQ(capture_info(s_)->status, CaptureStatus::active);
  EXPECT_TRUE(leave('a', s_).ok());
  const Handle instance = *end_capture(s_);
  EXPECT_EQ(take(), "");
  EXPECT_TRUE(run(instance).ok());
  EXPECT_EQ(take(), "a");
}

TEST_F(CaptureService, AForbiddenCallBreaksIt) {
  ASSERT_TRUE(begin_capture(s_, 0).ok());
  EXPECT_EQ(device::check_unsafe_call("a test").code(), Code::capture_mode_forbids);
  EXPECT_EQ(capture_info(s_)->status, CaptureStatus::invalidated);
  EXPECT_EQ(leave('a', s_).code(), Code::capture_invalidated);
  EXPECT_EQ(end_capture(s_).status().code(), Code::capture_invalidated);
  EXPECT_TRUE(device::check_unsafe_call("a test").ok()) << "no capture is open";
}

TEST_F(CaptureService, ModesAreZeroToTwo) {
  EXPECT_EQ(begin_capture(s_, 3).code(), Code::invalid_argument);
  EXPECT_EQ(exchange_capture_mode(-1).status().code(), Code::invalid_argument);
  EXPECT_EQ(*exchange_capture_mode(2), 0);
  EXPECT_EQ(*exchange_capture_mode(0), 2);
  EXPECT_EQ(begin_capture(0, 0).code(), Code::default_stream_captured);
  EXPECT_EQ(end_capture(s_).status().code(), Code::stream_not_capturing);
  EXPECT_EQ(begin_capture_into(s_, captured("a"), 0).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
