// SPDX-License-Identifier: Apache-2.0
#include "api/acl/entry.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "trace/registry.h"

namespace anynpu::acl {
namespace {

using testing::HasSubstr;

class Entry : public testing::Test {
 protected:
  void SetUp() override {
    detail::current_life = Life::initialised;
    take_recent_message();
    take_last_error();
  }
  void TearDown() override {
    detail::current_life = Life::fresh;
    set_message_scope(MessageScope::thread);
  }
};

Status bad_argument() { return fail(Code::invalid_argument, "size is 0, expected 1 or more"); }

TEST_F(Entry, SuccessLeavesNoMessage) {
  EXPECT_EQ(enter("aclTest", []() -> Status { return {}; }), ACL_SUCCESS);
  EXPECT_STREQ(take_recent_message(), "");
  EXPECT_EQ(peek_last_error(), ACL_SUCCESS);
}

TEST_F(Entry, TheFamilyOfTheFunctionChoosesTheNumber) {
  EXPECT_EQ(enter("aclTest", bad_argument), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(enter("aclrtTest", bad_argument), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(enter("aclmdlTest", [] { return fail(Code::file_not_found, "x"); }),
            ACL_ERROR_GE_EXEC_MODEL_PATH_INVALID);
}

TEST_F(Entry, SomeFunctionsHaveNumbersOfTheirOwn) {
  const auto late = [] { return fail(Code::timeout, "x"); };
  EXPECT_EQ(enter("aclrtSynchronizeStreamWithTimeout", late), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(enter("aclrtSynchronizeEventWithTimeout", late), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_THAT(take_recent_message(), HasSubstr("failed with ACL_ERROR_RT_EVENT_SYNC_TIMEOUT"));
}

TEST_F(Entry, AFailureLeavesFunctionNumberMessageAndSolution) {
  enter("aclrtMalloc", bad_argument);
  const std::string message = take_recent_message();
  EXPECT_THAT(message, HasSubstr("E107000: aclrtMalloc failed with ACL_ERROR_RT_PARAM_INVALID"));
  EXPECT_THAT(message, HasSubstr("size is 0, expected 1 or more"));
  EXPECT_THAT(message, HasSubstr("Solution: "));
  EXPECT_STREQ(take_recent_message(), "") << "a message is given once";
}

TEST_F(Entry, BeforeInitModelsOperatorsAndProfilingGive100001AndTheRestWorks) {
  detail::current_life = Life::fresh;
  for (const char* name :
       {"aclmdlExecute", "aclmdlLoadFromFile", "aclopExecuteV2", "aclprofInit"}) {
    EXPECT_EQ(enter(name, []() -> Status { return {}; }), ACL_ERROR_UNINITIALIZE) << name;
    EXPECT_THAT(take_recent_message(), HasSubstr("before aclInit"));
  }
  for (const char* name : {"aclrtSetDevice", "aclrtMalloc", "aclCreateDataBuffer",
                           "aclmdlCreateDesc", "acldvppMalloc", "hi_mpi_sys_init"}) {
    EXPECT_EQ(enter(name, []() -> Status { return {}; }), ACL_SUCCESS) << name;
  }
}

TEST_F(Entry, AfterFinalizeEveryCallGives100001) {
  detail::current_life = Life::finalised;
  EXPECT_EQ(enter("aclrtTest", []() -> Status { return {}; }), ACL_ERROR_UNINITIALIZE);
  EXPECT_THAT(take_recent_message(), HasSubstr("after aclFinalize"));
  EXPECT_EQ(enter<When::before_init>("aclTest", []() -> Status { return {}; }), ACL_SUCCESS);
}

TEST_F(Entry, NoExceptionLeavesIt) {
  EXPECT_EQ(enter("aclrtTest", []() -> Status { throw std::bad_alloc(); }), ACL_ERROR_BAD_ALLOC);
  EXPECT_EQ(enter("aclrtTest", []() -> Status { throw std::runtime_error("x"); }),
            ACL_ERROR_INTERNAL_ERROR);
}

TEST_F(Entry, AValueFunctionGivesItsFailureValueAndAMessage) {
  EXPECT_EQ(enter_value("aclGet", size_t{0}, []() -> Result<size_t> { return size_t{7}; }), 7u);
  EXPECT_EQ(enter_value("aclGet", size_t{0}, []() -> Result<size_t> { return bad_argument(); }),
            0u);
  EXPECT_THAT(take_recent_message(), HasSubstr("aclGet failed with"));
}

TEST_F(Entry, ARefusalHasTheNumberOfItsFamilyAndSaysWhy) {
  EXPECT_EQ(refuse("aclopInferShape", "not there"), ACL_ERROR_FEATURE_UNSUPPORTED);
  EXPECT_EQ(refuse("aclplatformGetInstructionInfo", "not there"), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(refuse("aclrtLaunchKernel", "kernels come later; use a model instead"),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_THAT(take_recent_message(),
              HasSubstr("aclrtLaunchKernel is not available: kernels come later"));
}

TEST_F(Entry, TheLastErrorIsPeekedAtAndTaken) {
  enter("aclrtTest", bad_argument);
  EXPECT_EQ(peek_last_error(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(take_last_error(), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(take_last_error(), ACL_SUCCESS);
}

TEST_F(Entry, MessagesBelongToTheThreadUnlessTheModeIsProcess) {
  std::thread([] { enter("aclOther", bad_argument); }).join();
  EXPECT_STREQ(take_recent_message(), "");
  set_message_scope(MessageScope::process);
  std::thread([] { enter("aclOther", bad_argument); }).join();
  EXPECT_THAT(take_recent_message(), HasSubstr("aclOther"));
}

TEST_F(Entry, ATracedCallIsRecordedUnderItsName) {
  struct Visitor : trace::DrainVisitor {
    void on_events(const trace::ThreadInfo&, std::span<const trace::Event> events) override {
      for (const auto& event : events) {
        if (event.category() != trace::Category::api) continue;
        names += std::string(trace::name_of(event.name)) + " ";
        last_arg = event.arg;
      }
    }
    std::string names;
    uint64_t last_arg = 0;
  } visitor;
  trace::discard();
  trace::set_mask(trace::bit(trace::Category::api));
  enter("aclTraced", []() -> Status { return {}; });
  enter("aclrtTraced", bad_argument);
  trace::set_mask(0);
  trace::drain(visitor);
  EXPECT_EQ(visitor.names, "aclTraced aclrtTraced ");
  EXPECT_EQ(visitor.last_arg, static_cast<uint64_t>(ACL_ERROR_RT_PARAM_INVALID));
}

TEST_F(Entry, EveryCodeHasANumberAndAName) {
  for (size_t i = 1; i < kCodeCount; ++i) {
    if (static_cast<Code>(i) == Code::stamp_not_recorded) continue;  // -1, which has no name
    for (Family family : {Family::base, Family::runtime, Family::model}) {
      const aclError code = to_acl_error(static_cast<Code>(i), family);
      EXPECT_GE(code, 100000) << code_name(static_cast<Code>(i));
      EXPECT_TRUE(error_name(code).starts_with("ACL_ERROR_")) << code << " " << error_name(code);
    }
  }
}

}  // namespace
}  // namespace anynpu::acl
