// SPDX-License-Identifier: Apache-2.0
#include "service/device/device_settings.h"

#include <gtest/gtest.h>

#include "device/runtime.h"
#include "service/finalize.h"

namespace anynpu::service {
namespace {

using device::Runtime;

class DeviceSettings : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(Runtime::instance().set_device(0).ok()); }
  void TearDown() override {
    run_finalizers();
    Runtime::instance().reset_all();
  }
};

TEST_F(DeviceSettings, ALimitIsRoundedUpAndForgottenAtTheEnd) {
  EXPECT_FALSE(device_limit(2)->has_value());
  EXPECT_TRUE(set_device_limit(2, 32769).ok());
  EXPECT_EQ(**device_limit(2), 49152u);
  EXPECT_EQ(set_device_limit(2, 0).code(), Code::invalid_argument);
  EXPECT_EQ(set_device_limit(5, 1).code(), Code::invalid_argument);
  EXPECT_EQ(device_limit(-1).status().code(), Code::invalid_argument);
  run_finalizers();
  EXPECT_FALSE(device_limit(2)->has_value());
}

TEST_F(DeviceSettings, CoresAreThoseOfTheStreamInUseElseOfTheDevice) {
  const uint32_t all = core_limit(0, 0).value();
  EXPECT_EQ(set_core_limit(0, 0, all + 1).code(), Code::invalid_argument);
  EXPECT_EQ(set_core_limit(0, 2, 1).code(), Code::invalid_argument);
  EXPECT_TRUE(set_core_limit(0, 0, 1).ok());
  EXPECT_EQ(thread_core_limit(0).value(), 1u);
  EXPECT_TRUE(reset_core_limits(0).ok());
  EXPECT_EQ(thread_core_limit(0).value(), all);
  const Handle stream = (*Runtime::instance().current())->create_stream({}).value();
  EXPECT_TRUE(set_stream_core_limit(stream, 0, 1).ok());
  EXPECT_TRUE(use_stream_core_limits(stream, true).ok());
  EXPECT_EQ(thread_core_limit(0).value(), 1u);
  EXPECT_TRUE(use_stream_core_limits(stream, false).ok());
  EXPECT_EQ(thread_core_limit(0).value(), all);
  EXPECT_TRUE(reset_stream_core_limits(stream).ok());
  EXPECT_EQ(stream_core_limit(stream, 0).value(), all);
}

TEST_F(DeviceSettings, AnOptionIsReadAfterItWasSet) {
  EXPECT_EQ(*system_option(1), 0);
  EXPECT_TRUE(set_system_option(1, 5).ok());
  EXPECT_EQ(system_option(1).value(), 5);
  EXPECT_EQ(system_option(8).status().code(), Code::invalid_argument);
}

TEST_F(DeviceSettings, TimeLimitsNeedAContext) {
  EXPECT_TRUE(set_wait_limit_s(3).ok());
  EXPECT_EQ(wait_limit_ms(), 3000u);
  EXPECT_TRUE(set_execute_limit_us(7).ok());
  EXPECT_EQ(execute_limit_us().value(), 7u);
  Runtime::instance().reset_all();
  EXPECT_EQ(set_wait_limit_s(3).code(), Code::no_context);
}

TEST_F(DeviceSettings, OneModeOfOverflowsIsThere) {
  EXPECT_TRUE(set_overflow_mode(1).ok());
  EXPECT_EQ(set_overflow_mode(0).code(), Code::unsupported_feature);
  EXPECT_EQ(set_overflow_mode(2).code(), Code::invalid_argument);
}

TEST_F(DeviceSettings, ADeviceIsNoPeerOfItself) {
  EXPECT_EQ(enable_peer_access(0).code(), Code::invalid_argument);
  EXPECT_EQ(disable_peer_access(0).code(), Code::invalid_argument);
  EXPECT_FALSE(peer_access(0, 0).value());
}

}  // namespace
}  // namespace anynpu::service
