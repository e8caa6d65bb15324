// SPDX-License-Identifier: Apache-2.0
// aclrt*Buf: buffers with a length, user data, references and chains.
#include <gtest/gtest.h>

#include <cstring>

#include "acl/acl.h"
#include "acl/acl_tdt_queue.h"

namespace anynpu::acl {
namespace {

class RuntimeBuffer : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS); }
  void TearDown() override { ASSERT_EQ(aclFinalize(), ACL_SUCCESS); }
};

TEST_F(RuntimeBuffer, TheLengthIs0UntilItIsSet) {
  aclrtMbuf buffer = nullptr;
  ASSERT_EQ(aclrtAllocBuf(&buffer, 100), ACL_SUCCESS);
  void* data = nullptr;
  size_t size = 0, length = 7;
  EXPECT_EQ(aclrtGetBufData(buffer, &data, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 100u);
  std::memset(data, 1, size);
  EXPECT_EQ(aclrtGetBufDataLen(buffer, &length), ACL_SUCCESS);
  EXPECT_EQ(length, 0u);
  EXPECT_EQ(aclrtSetBufDataLen(buffer, 99), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetBufDataLen(buffer, &length), ACL_SUCCESS);
  EXPECT_EQ(length, 99u);
  EXPECT_EQ(aclrtSetBufDataLen(buffer, 101), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeBuf(buffer), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeBuf(buffer), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtAllocBuf(&buffer, (size_t{4} << 30) + 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtAllocBuf(nullptr, 1), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RuntimeBuffer, UserDataHas96Bytes) {
  aclrtMbuf buffer = nullptr;
  ASSERT_EQ(aclrtAllocBuf(&buffer, 8), ACL_SUCCESS);
  const uint32_t frame = 41;
  uint32_t read = 0;
  EXPECT_EQ(aclrtSetBufUserData(buffer, &frame, 4, 92), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetBufUserData(buffer, &frame, 4, 93), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetBufUserData(buffer, &read, 4, 92), ACL_SUCCESS);
  EXPECT_EQ(read, 41u);
  EXPECT_EQ(aclrtGetBufUserData(buffer, &read, 97, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeBuf(buffer), ACL_SUCCESS);
}

TEST_F(RuntimeBuffer, ReferencesShareBytesAndChainsAreFoundByIndex) {
  aclrtMbuf head = nullptr, next = nullptr, copy = nullptr, found = nullptr;
  ASSERT_EQ(aclrtAllocBuf(&head, 8), ACL_SUCCESS);
  ASSERT_EQ(aclrtAllocBuf(&next, 16), ACL_SUCCESS);
  EXPECT_EQ(aclrtCopyBufRef(head, &copy), ACL_SUCCESS);
  void *data = nullptr, *same = nullptr;
  size_t size = 0;
  EXPECT_EQ(aclrtGetBufData(head, &data, &size), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetBufData(copy, &same, &size), ACL_SUCCESS);
  EXPECT_EQ(data, same);
  EXPECT_EQ(aclrtAppendBufChain(head, next), ACL_SUCCESS);
  uint32_t count = 0;
  EXPECT_EQ(aclrtGetBufChainNum(head, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(aclrtGetBufFromChain(head, 0, &found), ACL_SUCCESS);
  EXPECT_EQ(found, head);
  EXPECT_EQ(aclrtGetBufFromChain(head, 1, &found), ACL_SUCCESS);
  EXPECT_EQ(aclrtGetBufData(found, &data, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 16u);
  EXPECT_EQ(aclrtGetBufFromChain(head, 2, &found), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeBuf(head), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeBuf(copy), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
