// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <thread>
#include <vector>

namespace anynpu::log {
namespace {

namespace fs = std::filesystem;

class Log : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/anynpu_log_XXXXXX";
    folder_ = mkdtemp(name);
    for (const char* variable : kVariables) unsetenv(variable);
  }
  void TearDown() override {
    for (const char* variable : kVariables) unsetenv(variable);
    reload();
    fs::remove_all(folder_);
  }

  std::vector<fs::path> files() const {
    std::vector<fs::path> list;
    if (!fs::exists(folder_ / "debug/plog")) return list;
    for (const auto& entry : fs::directory_iterator(folder_ / "debug/plog")) list.push_back(entry);
    return list;
  }
  std::string content() const {
    std::ostringstream all;
    for (const auto& file : files()) all << std::ifstream(file).rdbuf();
    return all.str();
  }
  void to_folder(const char* level) {
    setenv("ASCEND_PROCESS_LOG_PATH", folder_.c_str(), 1);
    setenv("ASCEND_GLOBAL_LOG_LEVEL", level, 1);
    reload();
  }

  static constexpr const char* kVariables[] = {
      "ASCEND_PROCESS_LOG_PATH",     "ASCEND_WORK_PATH", "ASCEND_GLOBAL_LOG_LEVEL",
      "ASCEND_SLOG_PRINT_TO_STDOUT", "ANYNPU_VERBOSE",   "ASCEND_GLOBAL_EVENT_ENABLE"};
  fs::path folder_;
};

TEST_F(Log, WithoutAPlaceToGoEveryLevelIsOff) {
  reload();
  EXPECT_FALSE(enabled(Level::error));
  EXPECT_FALSE(enabled(Level::event));
}

TEST_F(Log, TheDefaultLevelIsError) {
  setenv("ASCEND_PROCESS_LOG_PATH", folder_.c_str(), 1);
  reload();
  EXPECT_FALSE(enabled(Level::warning));
  EXPECT_TRUE(enabled(Level::error));
  EXPECT_TRUE(enabled(Level::event));
}

TEST_F(Log, NothingIsCreatedBeforeTheFirstLine) {
  to_folder("0");
  EXPECT_TRUE(fs::is_empty(folder_));
  ANYNPU_LOG(debug, "first");
  EXPECT_EQ(files().size(), 1u);
}

TEST_F(Log, LinesHaveTheVendorsLayout) {
  to_folder("1");
  ANYNPU_LOG(debug, "not this one");
  ANYNPU_LOG(info, "loaded {} of {}", 3, "model");
  const std::regex layout(
      R"(\[INFO\] BASE\(\d+,[^)]+\):\d{4}-\d\d-\d\d-\d\d:\d\d:\d\d\.\d{3}\.\d{3} \[log_test\.cpp:\d+\]\d+ loaded 3 of model\n)");
  EXPECT_TRUE(std::regex_match(content(), layout)) << content();
  EXPECT_TRUE(
      std::regex_match(files()[0].filename().string(), std::regex(R"(plog-\d+_\d{17}\.log)")));
}

TEST_F(Log, LevelFourLeavesEventsOnly) {
  to_folder("4");
  EXPECT_FALSE(enabled(Level::error));
  EXPECT_TRUE(enabled(Level::event));
  setenv("ASCEND_GLOBAL_EVENT_ENABLE", "0", 1);
  reload();
  EXPECT_FALSE(enabled(Level::event));
}

TEST_F(Log, TheWorkPathTakesLogsBelowLog) {
  setenv("ASCEND_WORK_PATH", folder_.c_str(), 1);
  reload();
  ANYNPU_LOG(error, "x");
  EXPECT_TRUE(fs::exists(folder_ / "log/debug/plog"));
}

TEST_F(Log, AFolderThatCannotBeWrittenIsNoFailure) {
  setenv("ASCEND_PROCESS_LOG_PATH", "/proc/no/such", 1);
  reload();
  ANYNPU_LOG(error, "x");
  ANYNPU_LOG(error, "y");
}

TEST_F(Log, StdoutReplacesTheFile) {
  setenv("ASCEND_SLOG_PRINT_TO_STDOUT", "1", 1);
  to_folder("3");
  testing::internal::CaptureStdout();
  ANYNPU_LOG(error, "to the screen");
  EXPECT_NE(testing::internal::GetCapturedStdout().find("to the screen\n"), std::string::npos);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(Log, LinesOfManyThreadsStayWhole) {
  to_folder("0");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 100; ++i) ANYNPU_LOG(info, "{}", std::string(100, 'x'));
    });
  }
  for (auto& thread : threads) thread.join();
  std::istringstream lines(content());
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    EXPECT_EQ(line.substr(line.size() - 101), " " + std::string(100, 'x'));
  }
  EXPECT_EQ(count, 400);
}

TEST_F(Log, AForkedChildWritesItsOwnFile) {
  to_folder("0");
  ANYNPU_LOG(info, "parent");
  const pid_t child = fork();
  if (child == 0) {
    ANYNPU_LOG(info, "child");
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(files().size(), 2u);
}

}  // namespace
}  // namespace anynpu::log
