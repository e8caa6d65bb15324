// SPDX-License-Identifier: Apache-2.0
#include "service/config/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace anynpu::service {
namespace {

namespace fs = std::filesystem;

class ConfigFileTest : public testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const char* name) const { return (folder_ / name).string(); }

 private:
  fs::path folder_ = testing::TempDir() + format("config_file_test_{}", ::getpid());
};

TEST_F(ConfigFileTest, TheWholeTextIsRead) {
  const std::string text("{\n\0}\n", 5);
  std::ofstream(path("file")) << text;
  const auto read = read_config_file(path("file"));
  ASSERT_TRUE(read.ok()) << read.status().to_string();
  EXPECT_EQ(*read, text);
}

TEST_F(ConfigFileTest, AFileThatIsNotThereIsNamed) {
  const Status status = read_config_file(path("absent")).status();
  EXPECT_EQ(status.code(), Code::file_not_found);
  EXPECT_NE(status.message().find(path("absent")), std::string::npos) << status.message();
}

TEST_F(ConfigFileTest, PipesDevicesAndFoldersAreRefusedAtOnce) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_FALSE(read_config_file(path("pipe")).ok());
  EXPECT_FALSE(read_config_file("/dev/zero").ok());
  EXPECT_FALSE(read_config_file(path("")).ok());
}

TEST_F(ConfigFileTest, AFileThatCannotBeReadFails) {
  EXPECT_EQ(read_config_file("/proc/self/mem").status().code(), Code::io_error);
}

TEST_F(ConfigFileTest, EightMebibytesAreTheMost) {
  std::ofstream(path("large")) << "{}";
  fs::resize_file(path("large"), 8 << 20);
  EXPECT_TRUE(read_config_file(path("large")).ok());
  fs::resize_file(path("large"), (8 << 20) + 1);
  EXPECT_FALSE(read_config_file(path("large")).ok());
}

}  // namespace
}  // namespace anynpu::service
