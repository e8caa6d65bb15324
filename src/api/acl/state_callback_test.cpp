// SPDX-License-Identifier: Apache-2.0
// Functions that are called at the begin and the end of the library, when devices change and when
// tasks fail; how often the library is initialised.
#include "acl/rt/state_callback.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "api/acl/entry.h"

namespace anynpu::acl {
namespace {

class StateCallback : public testing::Test {
 protected:
  void SetUp() override { detail::current_life = Life::fresh; }
  void TearDown() override {
    if (initialised()) aclFinalize();
    detail::current_life = Life::fresh;
  }
};

aclError note_text(const char* text, size_t length, void* data) {
  static_cast<std::vector<std::string>*>(data)->emplace_back(text, length);
  return ACL_SUCCESS;
}
aclError note_end(void* data) {
  ++*static_cast<int*>(data);
  return ACL_SUCCESS;
}

TEST_F(StateCallback, InitAndFinalizeAreToldToTheirCallbacks) {
  std::vector<std::string> texts;
  int ends = 0;
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, note_text, &texts), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, note_end, &ends), ACL_SUCCESS);
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  char name[] = "/tmp/anynpu_state_XXXXXX";
  const std::string folder = mkdtemp(name), path = folder + "/acl.json";
  std::ofstream(path) << R"({"max_opqueue_num": "100"})";
  ASSERT_EQ(aclInit(path.c_str()), ACL_SUCCESS);
  EXPECT_EQ(texts, (std::vector<std::string>{R"({"max_opqueue_num": "100"})"}));
  EXPECT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_ACL_MODEL, note_text, &texts), ACL_SUCCESS);
  EXPECT_EQ(texts.size(), 2u) << "registered after aclInit: called at once";
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(ends, 1);
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, note_text), ACL_SUCCESS);
  EXPECT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_ACL_MODEL, note_text), ACL_SUCCESS);
  EXPECT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, note_end), ACL_SUCCESS);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(texts.size(), 2u);
  unlink(path.c_str());
  rmdir(folder.c_str());
}

TEST_F(StateCallback, ASecondInitCountsAndFinalizeReferenceCountsDown) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  uint64_t left = 9;
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(left, 1u);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS) << "still initialised";
  EXPECT_EQ(aclFinalizeReference(&left), ACL_SUCCESS);
  EXPECT_EQ(left, 0u);
  EXPECT_EQ(aclFinalizeReference(&left), ACL_ERROR_REPEAT_FINALIZE);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclInit(nullptr), ACL_ERROR_REPEAT_INITIALIZE);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_ERROR_REPEAT_FINALIZE) << "aclFinalize clears the count";
}

void note_device(int32_t id, aclrtDeviceState state, void* args) {
  static_cast<std::vector<int>*>(args)->push_back(id * 10 + static_cast<int>(state));
}
int32_t note_abort(int32_t, aclrtDeviceTaskAbortStage stage, uint32_t timeout, void* args) {
  static_cast<std::vector<int>*>(args)->push_back(static_cast<int>(timeout) + stage);
  return 0;
}

TEST_F(StateCallback, DevicesThatChangeAreTold) {
  std::vector<int> seen;
  EXPECT_EQ(aclrtRegDeviceStateCallback("mine", note_device, &seen), ACL_SUCCESS)
      << "before any device is set";
  EXPECT_EQ(aclrtRegDeviceStateCallback("mine", note_device, &seen), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRegDeviceStateCallback("", note_device, &seen), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(seen, (std::vector<int>{0, 1}));
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("mine", note_abort, &seen), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 100), ACL_SUCCESS);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 100, 101}));
  EXPECT_EQ(aclrtSetDeviceTaskAbortCallback("mine", nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(seen, (std::vector<int>{0, 1, 100, 101, 2, 3}));
  EXPECT_EQ(aclrtRegDeviceStateCallback("mine", nullptr, nullptr), ACL_SUCCESS);
}

int exceptions = 0;
void note_exception(aclrtExceptionInfo* info) {
  EXPECT_EQ(aclrtGetDeviceIdFromExceptionInfo(info), 0u);
  aclrtFuncHandle function = nullptr;
  EXPECT_EQ(aclrtGetFuncHandleFromExceptionInfo(info, &function), ACL_ERROR_RT_PARAM_INVALID)
      << "no kernel";
  ++exceptions;
}

TEST_F(StateCallback, ExceptionCallbacksStandBesideTheOldOne) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(note_exception), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackRegister(note_exception), ACL_SUCCESS) << "kept once";
  EXPECT_EQ(aclrtSetExceptionInfoCallback(note_exception), ACL_SUCCESS);
  void* block = nullptr;
  ASSERT_EQ(aclrtMalloc(&block, 256, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(block, 256, 0, 256), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr), 0);
  EXPECT_NE(aclrtSynchronizeStream(nullptr), ACL_SUCCESS) << "no description there";
  EXPECT_EQ(exceptions, 2) << "the same function in both is called twice";
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(note_exception), ACL_SUCCESS);
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(note_exception), ACL_SUCCESS) << "unknown";
  EXPECT_EQ(aclrtExceptionInfoCallbackUnregister(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsyncWithDesc(block, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr), 0);
  EXPECT_NE(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(exceptions, 3) << "the old one stays";
  EXPECT_EQ(aclrtSetExceptionInfoCallback(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
