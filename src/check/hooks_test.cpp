// SPDX-License-Identifier: Apache-2.0
#include "check/hooks.h"

#include <gtest/gtest.h>

namespace anynpu::check {
namespace {

TEST(CheckHooks, AFunctionIsCheckedByItsName) {
  EXPECT_EQ(hooks_of("aclrtMemcpy").before, before_memcpy);
  EXPECT_EQ(hooks_of("aclrtMemcpy").after, nullptr) << "it is done when it returns";
  EXPECT_EQ(hooks_of("aclrtMemcpyAsync").after, after_memcpy_async);
  EXPECT_EQ(hooks_of("aclmdlExecuteAsync").after, after_execute_async);
}

TEST(CheckHooks, FunctionsThatDoTheSameHaveTheSameHooks) {
  EXPECT_EQ(hooks_of("aclrtSynchronizeStream").after,
            hooks_of("aclrtSynchronizeStreamWithTimeout").after);
  EXPECT_EQ(hooks_of("aclrtFree").before, hooks_of("aclrtFreeHost").before);
  EXPECT_EQ(hooks_of("aclopExecute").after, hooks_of("aclopExecuteV2").after);
}

TEST(CheckHooks, OthersHaveNone) {
  for (const char* name : {"", "aclInit", "aclrtMemcpyX", "aclrtMem"}) {
    EXPECT_EQ(hooks_of(name).before, nullptr) << name;
    EXPECT_EQ(hooks_of(name).after, nullptr) << name;
  }
}

}  // namespace
}  // namespace anynpu::check
