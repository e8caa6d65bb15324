// SPDX-License-Identifier: Apache-2.0
#include "service/dump/dump_control.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "service/finalize.h"

namespace anynpu::service {
namespace {

class DumpControlTest : public testing::Test {
 protected:
  void TearDown() override {
    run_finalizers();
    set_current_config({});
    std::filesystem::remove(path_);
  }
  const char* file(const std::string& text) {
    std::ofstream(path_) << text;
    return path_.c_str();
  }
  DumpControl& control_ = DumpControl::instance();

 private:
  std::string path_ = testing::TempDir() + format("dump_control_test_{}.json", ::getpid());
};

TEST_F(DumpControlTest, CallsOutOfOrderAreRefused) {
  EXPECT_EQ(control_.set_file("x").code(), Code::bad_call_order);
  EXPECT_EQ(control_.finish().code(), Code::bad_call_order);
  EXPECT_TRUE(control_.start().ok());
  EXPECT_EQ(control_.start().code(), Code::bad_call_order);
  EXPECT_TRUE(control_.finish().ok());
}

TEST_F(DumpControlTest, AFileCountsUntilTheEnd) {
  ASSERT_TRUE(control_.start().ok());
  EXPECT_FALSE(control_.active());
  ASSERT_TRUE(control_.set_file(file(R"({"dump":{"dump_path":"/tmp/d","dump_list":[]}})")).ok());
  ASSERT_TRUE(control_.active());
  EXPECT_EQ(control_.active()->path, "/tmp/d");
  ASSERT_TRUE(control_.finish().ok());
  EXPECT_FALSE(control_.active());
}

// They were read without end, or forever.
TEST_F(DumpControlTest, DevicesPipesAndHugeFilesAreNotRead) {
  ASSERT_TRUE(control_.start().ok());
  EXPECT_EQ(control_.set_file("/dev/zero").code(), Code::file_invalid);
  EXPECT_EQ(control_.set_file(testing::TempDir().c_str()).code(), Code::file_invalid);
  const std::string fifo = testing::TempDir() + format("dump_control_fifo_{}", ::getpid());
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_EQ(control_.set_file(fifo.c_str()).code(), Code::file_invalid);
  std::filesystem::remove(fifo);
  const char* large = file("{}");
  ASSERT_EQ(::truncate(large, 1 << 30), 0);
  EXPECT_EQ(control_.set_file(large).code(), Code::file_invalid);
  ASSERT_TRUE(control_.finish().ok());
}

TEST_F(DumpControlTest, AWrongFileHasTheCauseOfADumpConfiguration) {
  ASSERT_TRUE(control_.start().ok());
  EXPECT_EQ(control_.set_file(nullptr).code(), Code::invalid_argument);
  EXPECT_EQ(control_.set_file(file("{}")).code(), Code::invalid_dump_config);
  EXPECT_EQ(control_.set_file(file(R"({"dump":{"dump_debug":"on"}})")).code(),
            Code::invalid_dump_config);
  EXPECT_EQ(control_.set_file(file("{")).code(), Code::parse_error);
}

TEST_F(DumpControlTest, TheConfigurationOfTheLibraryExcludesTheCalls) {
  RuntimeConfig config;
  config.dump.emplace().models = true;
  set_current_config(config);
  EXPECT_EQ(control_.start().code(), Code::bad_call_order);
  EXPECT_TRUE(control_.active());
}

}  // namespace
}  // namespace anynpu::service
