// SPDX-License-Identifier: Apache-2.0
#include "service/kernel/kernel_dump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "service/config/config.h"
#include "service/kernel/kernel_for_test.h"

namespace anynpu::service {
namespace {

namespace fs = std::filesystem;

class KernelDumpTest : public KernelServiceTest {
 protected:
  void TearDown() override {
    KernelServiceTest::TearDown();
    set_current_config({});
    fs::remove_all(folder_);
  }
  void dump(std::vector<std::string> kinds) {
    RuntimeConfig config;
    config.dump.emplace().kernel_data = std::move(kinds);
    config.dump->path = folder_;
    set_current_config(config);
  }
  // Runs a kernel with copies of these texts as its arguments.
  Status run(const char* name, const std::vector<std::string>& texts) {
    exec::KernelLaunch launch;
    for (const std::string& text : texts) {
      const auto* bytes = reinterpret_cast<const std::byte*>(text.c_str());
      launch.arguments.push_back(
          {exec::KernelArgument::Kind::copy, 0, static_cast<uint32_t>(launch.copies.size())});
      launch.copies.emplace_back(bytes, bytes + text.size() + 1);
    }
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const Status status = run_kernel(*kernel(name), launch, 0);
    screen_ = testing::internal::GetCapturedStdout();
    (void)testing::internal::GetCapturedStderr();
    return status;
  }
  // What all files of the dump hold.
  std::string dumped() const {
    std::string all;
    if (!fs::exists(folder_)) return all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path());
      all += std::string(std::istreambuf_iterator<char>(file), {});
    }
    return all;
  }

  std::string screen_;

 private:
  std::string folder_ = testing::TempDir() + format("kernel_dump_test_{}", ::getpid());
};

TEST_F(KernelDumpTest, WithoutADumpAKernelPrintsOnTheScreenAlone) {
  ASSERT_TRUE(run("show", {"hello\n"}).ok());
  EXPECT_EQ(screen_, "hello\n");
  EXPECT_EQ(dumped(), "");
}

TEST_F(KernelDumpTest, WhatAKernelPrintsAlsoGoesToAFile) {
  dump({"printf"});
  const Status status = run("show", {"hello\n"});
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(screen_, "hello\n");
  EXPECT_EQ(dumped(), "hello\n");
}

TEST_F(KernelDumpTest, AnAssertionThatEndsAKernelGoesToAFileWhenAskedFor) {
  const std::vector<std::string> assertion = {"n > 0", "kernel.cc", "7", "check"};
  dump({"printf"});
  EXPECT_EQ(run("check", assertion).code(), Code::kernel_failed);
  EXPECT_EQ(dumped(), "");
  dump({"assert"});
  const Status status = run("check", assertion);
  EXPECT_EQ(status.code(), Code::kernel_failed);
  EXPECT_NE(dumped().find("n > 0"), std::string::npos) << status.to_string();
}

}  // namespace
}  // namespace anynpu::service
