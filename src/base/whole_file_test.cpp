// SPDX-License-Identifier: Apache-2.0
#include "base/whole_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

namespace anynpu {
namespace {

namespace fs = std::filesystem;

std::span<const std::byte> view(std::string_view text) { return std::as_bytes(std::span(text)); }

Status write_text(const std::string& path, std::string_view text) {
  const auto bytes = view(text);
  return write_file_atomically(path, {&bytes, 1});
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class WholeFile : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "whole_file_XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    path_ = folder_ + "/a.bin";
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.insert(entry.path().filename());
    return out;
  }

  std::string folder_, path_;
};

TEST_F(WholeFile, PartsStandOneAfterTheOtherAndNothingIsLeftBeside) {
  const std::span<const std::byte> parts[] = {view("one "), view("two")};
  ASSERT_TRUE(write_file_atomically(path_, parts).ok());
  EXPECT_EQ(text_of(path_), "one two");
  ASSERT_TRUE(write_text(path_, "three").ok());
  EXPECT_EQ(text_of(path_), "three");
  EXPECT_EQ(names(), (std::set<std::string>{"a.bin"}));
}

TEST_F(WholeFile, AMissingFolderIsAFailure) {
  const Status status = write_text("/nowhere/at/all.om", "x");
  EXPECT_EQ(status.code(), Code::io_error);
}

TEST_F(WholeFile, TheModeFollowsTheUmask) {
  for (const mode_t mask : {077, 027, 022}) {
    const mode_t before = umask(mask);
    const Status status = write_text(path_, "x");
    umask(before);
    ASSERT_TRUE(status.ok()) << status.to_string();
    struct stat info {};
    ASSERT_EQ(stat(path_.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0666 & ~mask);
  }
}

TEST_F(WholeFile, ALinkIsReplacedAndWhatItPointsToStays) {
  const std::string precious = folder_ + "/precious";
  ASSERT_TRUE(write_text(precious, "mine").ok());
  fs::create_symlink(precious, path_);
  ASSERT_TRUE(write_text(path_, "new").ok());
  EXPECT_EQ(text_of(precious), "mine");
  EXPECT_EQ(text_of(path_), "new");
  EXPECT_FALSE(fs::is_symlink(path_));
}

TEST_F(WholeFile, WhatIsNoRegularFileIsNotReplaced) {
  ASSERT_EQ(mkfifo(path_.c_str(), 0600), 0);
  const Status status = write_text(path_, "x");
  EXPECT_NE(status.to_string().find("not a regular file"), std::string::npos);
  EXPECT_TRUE(fs::is_fifo(path_));
  EXPECT_FALSE(write_text(folder_, "x").ok());
  EXPECT_EQ(names(), (std::set<std::string>{"a.bin"}));
}

TEST_F(WholeFile, AFullDiskLeavesTheOldFile) {
  ASSERT_TRUE(write_text(path_, "old").ok());
  const pid_t child = fork();
  if (child == 0) {
    const rlimit limit{1000, 1000};
    setrlimit(RLIMIT_FSIZE, &limit);
    const Status status = write_text(path_, std::string(100'000, 'x'));
    const bool said =
        status.to_string().find("check the folder and its free space") != std::string::npos;
    _exit(status.ok() || !said ? 1 : 0);
  }
  int ended = 0;
  waitpid(child, &ended, 0);
  EXPECT_EQ(ended, 0);
  EXPECT_EQ(text_of(path_), "old");
  EXPECT_EQ(names(), (std::set<std::string>{"a.bin"}));
}

TEST_F(WholeFile, WhatAKilledProcessLeftIsRemovedByTheNext) {
  // A process that is killed in the middle of a write: it hangs in a pipe that nobody reads.
  const std::string left = path_ + ".anynpu-tmp-0123456789abcdef";
  const std::string held = path_ + ".anynpu-tmp-00000000000000aa";
  const std::string other = folder_ + "/notes.tmp123456";
  for (const std::string& name : {left, held, other}) std::ofstream(name) << "half";
  const int living = open(held.c_str(), O_RDONLY);
  ASSERT_EQ(flock(living, LOCK_EX), 0);
  EXPECT_EQ(remove_leftovers(folder_), 1u);
  EXPECT_EQ(names(),
            (std::set<std::string>{"a.bin.anynpu-tmp-00000000000000aa", "notes.tmp123456"}));
  close(living);
  ASSERT_TRUE(write_text(path_, "x").ok());
  EXPECT_EQ(names(), (std::set<std::string>{"a.bin", "notes.tmp123456"}));
}

TEST_F(WholeFile, WhatEarlierRunsLeftIsRemovedBelowTheirFolders) {
  const std::string run = folder_ + "/20260102030405/0/net", other = folder_ + "/2026/0";
  for (const std::string& place : {run, other}) {
    fs::create_directories(place);
    std::ofstream(place + "/a.anynpu-tmp-0123456789abcdef") << "half";
  }
  EXPECT_EQ(remove_leftovers_of_runs(folder_), 1u);
  EXPECT_TRUE(fs::is_empty(run));
  EXPECT_FALSE(fs::is_empty(other)) << "the folder of no run";
}

TEST_F(WholeFile, KillingAWriterLeavesTheOldFileOrTheNewOne) {
  ASSERT_TRUE(write_text(path_, std::string(1 << 20, 'o')).ok());
  for (int round = 0; round < 20; ++round) {
    const pid_t child = fork();
    if (child == 0) {
      for (;;) (void)write_text(path_, std::string(1 << 20, 'n'));
    }
    usleep(static_cast<useconds_t>(500 + 700 * round));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    const std::string text = text_of(path_);
    ASSERT_EQ(text.size(), size_t{1} << 20);
    ASSERT_EQ(text.find_first_not_of(text[0]), std::string::npos);
  }
  remove_leftovers(folder_);
  EXPECT_EQ(names(), (std::set<std::string>{"a.bin"}));
}

}  // namespace
}  // namespace anynpu
