// SPDX-License-Identifier: Apache-2.0
#include "service/profile/configured.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>

#include "prof/ownership.h"
#include "service/model/model_for_test.h"

namespace anynpu::service {
namespace {

namespace fs = std::filesystem;

class ConfiguredProfilingTest : public ServiceTest {
 protected:
  void SetUp() override {
    ServiceTest::SetUp();
    fs::create_directories(folder_);
  }
  void TearDown() override {
    end_configured_profiling();
    unsetenv("PROFILER_SAMPLECONFIG");
    unsetenv("PROFILING_MODE");
    unsetenv("ASCEND_WORK_PATH");
    ServiceTest::TearDown();
    fs::remove_all(folder_);
  }
  RuntimeConfig profiler(bool on, const std::string& output) const {
    RuntimeConfig config;
    config.profiler.emplace().on = on;
    config.profiler->output = output;
    config.profiler->values["task_time"] = "on";
    return config;
  }
  // Folders PROF_* that were made.
  size_t profiles() const {
    size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      count += entry.path().filename().string().starts_with("PROF_") ? 1 : 0;
    }
    return count;
  }
  std::string folder_ = testing::TempDir() + format("configured_profiling_test_{}", ::getpid());
};

TEST_F(ConfiguredProfilingTest, NothingStartsUnlessSomebodyAsks) {
  ASSERT_TRUE(start_configured_profiling({}).ok());
  EXPECT_EQ(prof::owner(), prof::Owner::nobody);
  ASSERT_TRUE(start_configured_profiling(profiler(false, folder_)).ok());
  EXPECT_EQ(prof::owner(), prof::Owner::nobody);
  EXPECT_EQ(profiles(), 0u);
}

TEST_F(ConfiguredProfilingTest, TheConfigurationStartsItAndTheEndWritesIt) {
  ASSERT_TRUE(start_configured_profiling(profiler(true, folder_)).ok());
  EXPECT_EQ(prof::owner(), prof::Owner::configuration);
  end_configured_profiling();
  EXPECT_EQ(prof::owner(), prof::Owner::nobody);
  EXPECT_EQ(profiles(), 1u);
}

TEST_F(ConfiguredProfilingTest, AFolderThatCannotBeUsedIsReplacedByTheDefault) {
  setenv("ASCEND_WORK_PATH", folder_.c_str(), 1);
  EXPECT_TRUE(start_configured_profiling(profiler(true, "/proc/nowhere")).ok());
  end_configured_profiling();
  EXPECT_TRUE(fs::exists(folder_ + "/profiling_data"));
}

TEST_F(ConfiguredProfilingTest, AProfileThatCannotBeWrittenDoesNotStopTheProgram) {
  setenv("ASCEND_WORK_PATH", "/proc/nowhere", 1);
  testing::internal::CaptureStderr();
  EXPECT_TRUE(start_configured_profiling(profiler(true, "/proc/nowhere")).ok());
  EXPECT_NE(testing::internal::GetCapturedStderr().find("profiling is off"), std::string::npos);
  end_configured_profiling();
  EXPECT_EQ(prof::owner(), prof::Owner::nobody);
}

TEST_F(ConfiguredProfilingTest, MsprofPassesItsConfigurationInTheEnvironment) {
  setenv("PROFILER_SAMPLECONFIG", "{", 1);
  EXPECT_FALSE(start_configured_profiling({}).ok());
  EXPECT_EQ(prof::owner(), prof::Owner::nobody);
  const std::string text = format(R"({{"switch":"on","output":"{}","task_time":"on"}})", folder_);
  setenv("PROFILER_SAMPLECONFIG", text.c_str(), 1);
  const Status status = start_configured_profiling({});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(prof::owner(), prof::Owner::configuration);
  end_configured_profiling();
  EXPECT_EQ(profiles(), 1u);
}

TEST_F(ConfiguredProfilingTest, InDynamicModeNothingStartsUntilMsprofSaysSo) {
  setenv("PROFILING_MODE", "dynamic", 1);
  ASSERT_TRUE(start_configured_profiling(profiler(true, folder_)).ok());
  EXPECT_EQ(profiles(), 0u);
}

}  // namespace
}  // namespace anynpu::service
