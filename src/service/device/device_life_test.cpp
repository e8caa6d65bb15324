// SPDX-License-Identifier: Apache-2.0
#include "service/device/device_life.h"

#include <gtest/gtest.h>

#include <vector>

namespace anynpu::service {
namespace {

using device::Runtime;

TEST(DeviceLife, ObserversAreToldOfTheFirstUseAndTheLastReset) {
  std::vector<int> seen;
  ASSERT_TRUE(observe_devices("test", [&](int32_t id, DeviceChange change) {
                EXPECT_EQ(id, 0);
                seen.push_back(static_cast<int>(change));
              }).ok());
  EXPECT_TRUE(use_device(0).ok());
  EXPECT_TRUE(use_device(0).ok());
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
  EXPECT_TRUE(stop_using_device(0, Runtime::Reset::count_down).ok());
  EXPECT_EQ(seen.size(), 2u);
  EXPECT_TRUE(stop_using_device(0, Runtime::Reset::count_down).ok());
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(use_device(99).code(), Code::invalid_device);
  EXPECT_EQ(stop_using_device(0, Runtime::Reset::force).code(), Code::invalid_device);
  EXPECT_EQ(seen.size(), 4u);
  EXPECT_TRUE(observe_devices("test", {}).ok());
}

TEST(DeviceLife, ObserversStandAroundAnAbort) {
  std::vector<uint32_t> seen;
  ASSERT_TRUE(observe_aborts("test", [&](int32_t, AbortStage stage, uint32_t timeout) {
                seen.insert(seen.end(), {static_cast<uint32_t>(stage), timeout});
              }).ok());
  EXPECT_TRUE(use_device(0).ok());
  EXPECT_TRUE(abort_device_work(0, 500).ok());
  EXPECT_EQ(seen, (std::vector<uint32_t>{0, 500, 1, 500}));
  EXPECT_EQ(abort_device_work(99, 0).code(), Code::invalid_device);
  EXPECT_TRUE(stop_using_device(0, Runtime::Reset::force).ok());
  EXPECT_TRUE(observe_aborts("test", {}).ok());
}

}  // namespace
}  // namespace anynpu::service
