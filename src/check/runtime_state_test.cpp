// SPDX-License-Identifier: Apache-2.0
#include "check/runtime_state.h"

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "check/findings_for_test.h"

namespace anynpu::check {
namespace {

// What note_devices says about a call.
int32_t noted(const char* name, std::vector<uint64_t> arguments, uint64_t result = 0) {
  const Unseen unseen;  // its own hooks would count it, too
  Function function = made_up(name);
  Call one(function, arguments);
  one.finish(result);
  return note_devices(one);
}

// Findings at the end of a program.
Kinds at_the_end() {
  const Findings findings;
  report_devices();
  return findings.kinds();
}

class RuntimeState : public testing::Test {
 protected:
  ~RuntimeState() override {
    noted("aclFinalize", {});
    report_devices();  // forgets the devices
  }
};

TEST_F(RuntimeState, TheLastResetOfADeviceEndsIt) {
  noted("aclrtSetDevice", {1});
  noted("aclrtSetDevice", {1});
  EXPECT_EQ(noted("aclrtResetDevice", {1}), -1);
  EXPECT_EQ(noted("aclrtResetDevice", {1}), 1);
  EXPECT_EQ(at_the_end(), Kinds{});
}

TEST_F(RuntimeState, AForcedResetEndsItAtOnce) {
  noted("aclrtSetDevice", {1});
  noted("aclrtSetDevice", {1});
  EXPECT_EQ(noted("aclrtResetDeviceForce", {1}), 1);
  EXPECT_EQ(at_the_end(), Kinds{});
}

TEST_F(RuntimeState, WhatIsNotGivenBackIsReported) {
  noted("aclInit", {0});
  noted("aclrtSetDevice", {1});
  EXPECT_EQ(at_the_end(), (Kinds{"not-reset", "not-finalized"}));
}

TEST_F(RuntimeState, FinalizingDoesNotGiveDevicesBack) {
  noted("aclInit", {0});
  noted("aclrtSetDevice", {1});
  noted("aclFinalize", {});
  EXPECT_EQ(at_the_end(), Kinds{"not-reset"});
}

TEST_F(RuntimeState, CallsThatFailedDoNotCount) {
  noted("aclInit", {0}, 100000);
  noted("aclrtSetDevice", {1}, 100000);
  EXPECT_EQ(at_the_end(), Kinds{});
}

TEST_F(RuntimeState, StreamZeroIsTheDefaultOneOfTheContext) {
  EXPECT_EQ(stream_of(77), 77u);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_NE(stream_of(0), 0u);
  EXPECT_EQ(context_now().device, 0);
  EXPECT_NE(context_now().context, 0u);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_TRUE(is_device_memory(word(memory)));
  EXPECT_FALSE(is_device_memory(word(&memory)));
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(context_now().context, 0u);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::check
