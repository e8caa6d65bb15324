// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "acl/acl.h"

namespace {

TEST(StreamConfig, AStreamIsCreatedWithThePriorityAndFlagsOfItsConfiguration) {
  const bool started = aclInit(nullptr) == ACL_SUCCESS;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStreamConfigHandle* config = aclrtCreateStreamConfigHandle();
  ASSERT_NE(config, nullptr);
  const uint32_t priority = 3;
  const size_t flags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, sizeof priority),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_FLAG, &flags, sizeof flags), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStreamV2(&stream, config), ACL_SUCCESS);
  uint32_t got = 0;
  EXPECT_EQ(aclrtStreamGetPriority(stream, &got), ACL_SUCCESS);
  EXPECT_EQ(got, priority);
  EXPECT_EQ(aclrtStreamGetFlags(stream, &got), ACL_SUCCESS);
  EXPECT_EQ(got, flags);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);

  EXPECT_EQ(aclrtSetStreamConfigOpt(config, ACL_RT_STREAM_PRIORITY, &priority, 1),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetStreamConfigOpt(config, static_cast<aclrtStreamConfigAttr>(9), &priority, 4),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(config), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamConfigHandle(config), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_NE(aclrtCreateStreamV2(&stream, config), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  if (started) {
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
}

TEST(StreamAttribute, ThePriorityCanChangeAndTheFailureModeIsSetOnce) {
  const bool started = aclInit(nullptr) == ACL_SUCCESS;
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 3, 0), ACL_SUCCESS);
  aclrtStreamAttrValue value{};
  value.streamPriority = 7;
  EXPECT_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value), ACL_SUCCESS);
  value = {};
  EXPECT_EQ(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value), ACL_SUCCESS);
  EXPECT_EQ(value.streamPriority, 7u);
  value.streamPriority = 8;
  EXPECT_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value),
            ACL_ERROR_RT_PARAM_INVALID);
  value = {};
  value.failureMode = ACL_STOP_ON_FAILURE;
  EXPECT_EQ(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetStreamFailureMode(stream, ACL_CONTINUE_ON_FAILURE), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  if (started) {
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
}

}  // namespace
