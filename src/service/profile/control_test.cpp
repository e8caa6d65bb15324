// SPDX-License-Identifier: Apache-2.0
#include "service/profile/control.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>

#include "prof/config.h"
#include "prof/ownership.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

class ProfilingControlTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override {
    ServiceTest::TearDown();
    std::filesystem::remove_all(folder_);
  }
  Status initialise() { return control_.initialise(folder_.c_str(), folder_.size()); }
  static std::shared_ptr<ProfilingConfig> config(uint64_t types) {
    return std::make_shared<ProfilingConfig>(ProfilingConfig{{0}, 255, types});
  }
  static constexpr uint64_t kTaskTime = 2;
  ProfilingControl& control_ = ProfilingControl::instance();
  std::string folder_ = testing::TempDir() + format("profiling_control_test_{}", ::getpid());
};

TEST_F(ProfilingControlTest, CallsOutOfOrderHaveTheirCause) {
  const HandleForTest<ProfilingConfig> one(config(kTaskTime));
  EXPECT_EQ(control_.start(one).code(), Code::profiling_not_running);
  EXPECT_EQ(control_.finalise().code(), Code::profiling_not_running);
  ASSERT_TRUE(initialise().ok());
  EXPECT_EQ(initialise().code(), Code::already_initialized);
  EXPECT_EQ(control_.stop(one).code(), Code::profiling_not_running);
  EXPECT_TRUE(control_.finalise().ok());
}

TEST_F(ProfilingControlTest, ADeviceIsProfiledOnceAtATime) {
  const HandleForTest<ProfilingConfig> one(config(kTaskTime)), other(config(1));
  ASSERT_TRUE(initialise().ok());
  const Status status = control_.start(one);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(control_.start(other).code(), Code::profiling_running);
  EXPECT_EQ(control_.stop(other).code(), Code::invalid_profiling_config);
  EXPECT_TRUE(control_.stop(one).ok());
  EXPECT_FALSE(std::filesystem::is_empty(folder_));
}

TEST_F(ProfilingControlTest, WrongConfigurationsAreNamed) {
  ASSERT_TRUE(initialise().ok());
  const HandleForTest<ProfilingConfig> none(config(0)), unknown(config(uint64_t{1} << 62));
  EXPECT_EQ(control_.start(none).code(), Code::invalid_argument);
  EXPECT_EQ(control_.start(unknown).code(), Code::profiling_type_unknown);
  EXPECT_EQ(control_.start(0).code(), Code::invalid_handle);
  EXPECT_EQ(control_.set(1, nullptr, 1).code(), Code::invalid_argument);
  const std::string bad = folder_ + ";x";
  EXPECT_TRUE(control_.finalise().ok());
  EXPECT_EQ(control_.initialise(bad.c_str(), bad.size()).code(), Code::file_invalid);
  EXPECT_EQ(control_.initialise(nullptr, 1).code(), Code::invalid_argument);
}

TEST_F(ProfilingControlTest, SomebodyElsesProfilingExcludesIt) {
  ASSERT_TRUE(prof::claim(prof::Owner::configuration));
  EXPECT_EQ(initialise().code(), Code::profiling_running);
  prof::release(prof::Owner::configuration);
  ASSERT_TRUE(prof::claim(prof::Owner::subscription));
  EXPECT_EQ(initialise().code(), Code::profiling_conflict);
  prof::release(prof::Owner::subscription);
}

TEST_F(ProfilingControlTest, DevicesOfAConfigurationExistAndAreListedOnce) {
  const uint32_t twice[] = {0, 0}, absent[] = {4711};
  EXPECT_EQ(make_profiling_config(nullptr, 1, 0, kTaskTime).status().code(),
            Code::invalid_argument);
  EXPECT_EQ(make_profiling_config(nullptr, 0, 0, kTaskTime).status().code(),
            Code::invalid_argument);
  EXPECT_TRUE(make_profiling_config(nullptr, 0, 0, prof::bits::kMsproftx).ok());
  EXPECT_FALSE(make_profiling_config(twice, 2, 0, kTaskTime).ok());
  EXPECT_FALSE(make_profiling_config(absent, 1, 0, kTaskTime).ok());
  EXPECT_EQ(make_profiling_config(twice, 1, 0, kTaskTime)->devices, (std::vector<int32_t>{0}));
}

}  // namespace
}  // namespace anynpu::service
