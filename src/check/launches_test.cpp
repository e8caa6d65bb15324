// SPDX-License-Identifier: Apache-2.0
// Kernels that the program launches: the memory that one wrote is known when its launch returned.
#include <gtest/gtest.h>

#include "acl/acl.h"
#include "check/findings_for_test.h"
#include "check/hooks.h"
#include "check/order.h"
#include "npc/object_for_test.h"

namespace anynpu::check {
namespace {

class Launches : public testing::Test {
 protected:
  void SetUp() override {
    setenv("ANYNPU_NPC_INTERPRET", "1", 1);
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&memory_, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    const auto object = npc::object_of({{"store", {npc::kStoreA1AtA0, npc::kReturn}}});
    ASSERT_EQ(aclrtBinaryLoadFromData(object.data(), object.size(), nullptr, &binary_),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtBinaryGetFunction(binary_, "store", &function_), ACL_SUCCESS);
  }
  void TearDown() override {
    all_done();
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(aclrtBinaryUnLoad(binary_), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(memory_), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    unsetenv("ANYNPU_NPC_INTERPRET");
  }
  // As the generated function of the checker calls the real one.
  aclError launch() {
    struct {
      void* to;
      uint64_t value;
    } arguments{memory_, 5};
    static constexpr Parameter kParameters[5] = {};
    Function function{"aclrtLaunchKernel", "-", "libascendcl.so", kParameters, true};
    const uint64_t words[] = {word(function_), 1, word(&arguments), sizeof arguments,
                              word(stream_)};
    Call one(function, words);
    before_launch(one);
    const aclError code =
        one.finish(aclrtLaunchKernel(function_, 1, &arguments, sizeof arguments, stream_));
    after_launch_kernel(one);
    return code;
  }
  void touch(uint64_t at) {
    static constexpr Parameter kParameters[4] = {};
    Function function{"aclrtMemset", "-", "libascendcl.so", kParameters, true};
    const uint64_t words[] = {word(memory_) + at, 1, 0, 1};
    Call one(function, words);
    before_memset(one);
  }

  aclrtStream stream_ = nullptr;
  void* memory_ = nullptr;
  aclrtBinHandle binary_ = nullptr;
  aclrtFuncHandle function_ = nullptr;
  Findings findings;
};

TEST_F(Launches, WhatAKernelWroteIsQueuedWork) {
  ASSERT_EQ(launch(), ACL_SUCCESS);
  touch(32);
  EXPECT_EQ(findings.kinds(), Kinds{}) << "a byte that it did not write";
  touch(0);
  EXPECT_EQ(findings.kinds(), Kinds{"write-before-synchronize"});
}

TEST_F(Launches, AfterAWaitForItsStreamItIsDone) {
  ASSERT_EQ(launch(), ACL_SUCCESS);
  host_waited_for(clock_of(word(stream_)));
  touch(0);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

}  // namespace
}  // namespace anynpu::check
