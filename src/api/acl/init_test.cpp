// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "acl/acl.h"
#include "api/acl/entry.h"
#include "base/program_path.h"
#include "service/config/config.h"

namespace anynpu::acl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Init : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/anynpu_init_XXXXXX";
    folder_ = mkdtemp(name);
    detail::current_life = Life::fresh;
    take_recent_message();
  }
  void TearDown() override {
    if (initialised()) aclFinalize();
    detail::current_life = Life::fresh;
    set_program_path("");
    fs::remove_all(folder_);
  }
  std::string write(const std::string& name, const std::string& text) {
    const fs::path path = folder_ / name;
    std::ofstream(path) << text;
    return path.string();
  }
  fs::path folder_;
};

TEST_F(Init, NullEmptyAndAnEmptyObjectAreTheDefaults) {
  for (const std::string& path : {std::string(), write("acl.json", "{}")}) {
    EXPECT_EQ(aclInit(path.c_str()), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}

TEST_F(Init, ASecondInitGives100002AndInitAfterFinalizeWorks) {
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("aclInit failed with ACL_ERROR_REPEAT_INITIALIZE"));
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS);
}

TEST_F(Init, FinalizeTwiceGives100037AndBeforeInit100001) {
  EXPECT_EQ(aclFinalize(), ACL_ERROR_UNINITIALIZE);
  aclInit(nullptr);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(Init, FinalizeReferenceCountsDownToZero) {
  uint64_t count = 7;
  aclInit(nullptr);
  EXPECT_EQ(aclFinalizeReference(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_TRUE(initialised());
  EXPECT_EQ(aclFinalizeReference(&count), ACL_SUCCESS);
  EXPECT_EQ(count, 0u);
  EXPECT_EQ(aclFinalizeReference(&count), ACL_ERROR_REPEAT_FINALIZE);
}

TEST_F(Init, AMissingFileGives100003AndNamesThePlaces) {
  EXPECT_EQ(aclInit((folder_ / "no.json").c_str()), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclInit("no_such_file.json"), ACL_ERROR_INVALID_FILE);
  EXPECT_THAT(aclGetRecentErrMsg(), HasSubstr("the current one '"));
  EXPECT_FALSE(initialised());
}

TEST_F(Init, WhatIsNoRegularFileIsRefusedAndNeverBlocks) {
  EXPECT_EQ(aclInit(folder_.c_str()), ACL_ERROR_INVALID_FILE);
  const std::string pipe = (folder_ / "pipe").string();
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(aclInit(pipe.c_str()), ACL_ERROR_INVALID_FILE);
  EXPECT_EQ(aclInit("/dev/zero"), ACL_ERROR_INVALID_FILE);
}

TEST_F(Init, BadFilesGiveTheirDocumentedNumbers) {
  EXPECT_EQ(aclInit(write("a.json", "{").c_str()), ACL_ERROR_PARSE_FILE);
  EXPECT_EQ(aclInit(write("b.json", R"({"dump":1})").c_str()), ACL_ERROR_INVALID_DUMP_CONFIG);
  EXPECT_EQ(aclInit(write("c.json", R"({"profiler":1})").c_str()), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclInit(write("d.json", R"({"max_opqueue_num":"x"})").c_str()),
            ACL_ERROR_INVALID_MAX_OPQUEUE_NUM_CONFIG);
  EXPECT_FALSE(initialised());
  EXPECT_EQ(aclInit(nullptr), ACL_SUCCESS) << "a failed init leaves the library as it was";
}

TEST_F(Init, ARelativePathStartsAtTheProgramThenAtTheCurrentFolder) {
  fs::create_directories(folder_ / "program");
  fs::create_directories(folder_ / "src");
  write("src/acl.json", R"({"max_opqueue_num":"11"})");
  set_program_path(write("program/main.py", "").c_str());
  ASSERT_EQ(aclInit("../src/acl.json"), ACL_SUCCESS);
  EXPECT_EQ(service::current_config()->max_opqueue_num, 11u);
  aclFinalize();
  EXPECT_EQ(service::current_config()->max_opqueue_num, 20000u);
  set_program_path("/nowhere/main.py");
  const fs::path before = fs::current_path();
  fs::current_path(folder_ / "program");
  EXPECT_EQ(aclInit("../src/acl.json"), ACL_SUCCESS);
  fs::current_path(before);
}

TEST_F(Init, FinalizeCallsWhatWasRegisteredLastFirst) {
  static std::string order;
  on_finalize([] { order += 'a'; });
  on_finalize([] { order += 'b'; });
  aclInit(nullptr);
  aclFinalize();
  EXPECT_EQ(order, "ba");
}

TEST_F(Init, AForkedChildOfAnInitialisedProcessGetsAnErrorWithAMessage) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  const pid_t child = fork();
  if (child == 0) {
    const bool right = aclFinalize() == ACL_ERROR_UNINITIALIZE &&
                       std::string(aclGetRecentErrMsg()).find("forked") != std::string::npos;
    _exit(right ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace anynpu::acl
