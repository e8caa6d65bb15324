// SPDX-License-Identifier: Apache-2.0
// The calls of acl_tdt_queue.h: attributes, queues, buffers and chains, good and bad.
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <thread>

#include "acl/acl.h"
#include "acl/acl_tdt_queue.h"
#include "api/acl/queue_for_test.h"

namespace anynpu::acl {
namespace {

class QueueTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS); }
  void TearDown() override { ASSERT_EQ(aclFinalize(), ACL_SUCCESS); }

  static acltdtBuf make_buffer(const std::string& text) {
    acltdtBuf buffer = nullptr;
    EXPECT_EQ(acltdtAllocBuf(text.size(), ACL_TDT_NORMAL_MEM, &buffer), ACL_SUCCESS);
    void* data = nullptr;
    size_t size = 0;
    EXPECT_EQ(acltdtGetBufData(buffer, &data, &size), ACL_SUCCESS);
    EXPECT_EQ(size, text.size());
    std::memcpy(data, text.data(), text.size());
    size_t length = 1;
    EXPECT_EQ(acltdtGetBufDataLen(buffer, &length), ACL_SUCCESS);
    EXPECT_EQ(length, 0u) << "nothing counts until it is set";
    EXPECT_EQ(acltdtSetBufDataLen(buffer, text.size()), ACL_SUCCESS);
    return buffer;
  }
  static std::string text_of(acltdtBuf buffer) {
    void* data = nullptr;
    size_t size = 0, length = 0;
    EXPECT_EQ(acltdtGetBufData(buffer, &data, &size), ACL_SUCCESS);
    EXPECT_EQ(acltdtGetBufDataLen(buffer, &length), ACL_SUCCESS);
    return {static_cast<const char*>(data), length};
  }
};

TEST_F(QueueTest, AttributesAreReadBackAndRefuseOtherSizesAndValues) {
  acltdtQueueAttr* attr = acltdtCreateQueueAttr();
  const char *name = "frames", *read_name = nullptr;
  uint32_t depth = 0;
  size_t size = 0;
  EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &size, &depth), 0);
  EXPECT_EQ(depth, 2u);
  EXPECT_EQ(size, 4u);
  depth = 7;
  EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name), 0);
  EXPECT_EQ(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth), 0);
  EXPECT_EQ(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, 8, &size, &read_name), 0);
  EXPECT_STREQ(read_name, "frames");
  EXPECT_EQ(size, 8u);
  const std::string long_text(128, 'x');
  const char *long_name = long_text.c_str(), *no_name = nullptr;
  const uint32_t zero = 0;
  for (const auto& [type, bytes, value] :
       {std::tuple<int, size_t, const void*>{ACL_TDT_QUEUE_NAME_PTR, 4, &name},
        {ACL_TDT_QUEUE_NAME_PTR, 8, &long_name},
        {ACL_TDT_QUEUE_NAME_PTR, 8, &no_name},
        {ACL_TDT_QUEUE_NAME_PTR, 8, nullptr},
        {ACL_TDT_QUEUE_DEPTH_UINT32, 8, &depth},
        {ACL_TDT_QUEUE_DEPTH_UINT32, 4, &zero},
        {2, 4, &depth}}) {
    EXPECT_EQ(acltdtSetQueueAttr(attr, static_cast<acltdtQueueAttrType>(type), bytes, value),
              ACL_ERROR_INVALID_PARAM);
  }
  uint32_t id = 0;
  EXPECT_EQ(acltdtCreateQueue(attr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtCreateQueue(nullptr, &id), ACL_SUCCESS);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(acltdtEnqueueData(id, "x", 1, nullptr, 0, 0, 0), 0);
  EXPECT_EQ(acltdtEnqueueData(id, "x", 1, nullptr, 0, 0, 0), ACL_ERROR_RT_QUEUE_FULL);
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueAttr(attr), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueAttr(attr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtCreateQueue(attr, &id), ACL_ERROR_INVALID_PARAM);
}

TEST_F(QueueTest, AFullAnEmptyAndAnUnknownQueueHaveTheirOwnCodes) {
  const uint32_t id = make_queue(1);
  acltdtBuf out = nullptr;
  EXPECT_EQ(acltdtDequeue(id, &out, 0), ACL_ERROR_RT_QUEUE_EMPTY);
  acltdtBuf first = make_buffer("one"), second = make_buffer("two");
  EXPECT_EQ(acltdtEnqueue(id, first, -1), ACL_SUCCESS);
  EXPECT_EQ(acltdtEnqueue(id, second, 1), ACL_ERROR_RT_QUEUE_FULL);
  EXPECT_EQ(text_of(second), "two");                                // still the program's
  EXPECT_EQ(acltdtEnqueue(id, first, 0), ACL_ERROR_INVALID_PARAM);  // the queue's now
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("put into a queue"), std::string::npos);
  EXPECT_EQ(acltdtEnqueue(id + 1, second, 0), ACL_ERROR_INVALID_QUEUE_ID);
  EXPECT_EQ(acltdtDequeue(id + 1, &out, 0), ACL_ERROR_INVALID_QUEUE_ID);
  EXPECT_EQ(acltdtDestroyQueue(id + 1), ACL_ERROR_INVALID_QUEUE_ID);
  EXPECT_EQ(acltdtDequeue(id, &out, -2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDequeue(id, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDequeue(id, &out, -1), ACL_SUCCESS);
  EXPECT_EQ(text_of(out), "one");
  EXPECT_EQ(acltdtFreeBuf(out), ACL_SUCCESS);
  EXPECT_EQ(acltdtFreeBuf(out), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtFreeBuf(second), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_SUCCESS);
}

TEST_F(QueueTest, CopiesCarryDataAndUserDataAndAreNotCutShort) {
  const uint32_t id = make_queue();
  const std::string user(96, 'u');
  EXPECT_EQ(acltdtEnqueueData(id, "12345", 5, user.data(), 96, -1, 0), ACL_SUCCESS);
  char data[8] = {}, back[96] = {};
  size_t size = 0;
  EXPECT_EQ(acltdtDequeueData(id, data, 4, &size, nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDequeueData(id, data, 8, &size, back, 96, 0), ACL_SUCCESS);
  EXPECT_EQ(std::string(data, size), "12345");
  EXPECT_EQ(std::string(back, 96), user);
  EXPECT_EQ(acltdtEnqueueData(id, nullptr, 0, nullptr, 0, 0, 0), ACL_SUCCESS);  // empty is no error
  EXPECT_EQ(acltdtDequeueData(id, nullptr, 0, &size, nullptr, 0, 0), ACL_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(acltdtEnqueueData(id, nullptr, 5, nullptr, 0, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtEnqueueData(id, "1", 1, user.data(), 97, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtEnqueueData(id, "1", 1, nullptr, 0, 0, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtEnqueueData(id, "1", SIZE_MAX / 2, nullptr, 0, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_SUCCESS);
}

TEST_F(QueueTest, ABufferHasALengthUserDataAndReferencesToTheSameBytes) {
  acltdtBuf buffer = make_buffer("abcdef"), copy = nullptr, none = nullptr;
  EXPECT_EQ(acltdtSetBufDataLen(buffer, 7), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtSetBufDataLen(buffer, 3), ACL_SUCCESS);
  EXPECT_EQ(text_of(buffer), "abc");
  uint32_t frame = 41, read_frame = 0;
  EXPECT_EQ(acltdtSetBufUserData(buffer, &frame, 4, 92), ACL_SUCCESS);
  EXPECT_EQ(acltdtSetBufUserData(buffer, &frame, 4, 93), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtSetBufUserData(buffer, &frame, 4, SIZE_MAX), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtSetBufUserData(buffer, nullptr, 4, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtCopyBufRef(buffer, &copy), ACL_SUCCESS);
  EXPECT_EQ(acltdtFreeBuf(buffer), ACL_SUCCESS);
  EXPECT_EQ(text_of(copy), "abc");
  EXPECT_EQ(acltdtGetBufUserData(copy, &read_frame, 4, 92), ACL_SUCCESS);
  EXPECT_EQ(read_frame, 41u);
  EXPECT_EQ(acltdtFreeBuf(copy), ACL_SUCCESS);
  EXPECT_EQ(acltdtAllocBuf(0, ACL_TDT_NORMAL_MEM, &none), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtAllocBuf(8, 2, &none), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtAllocBuf(8, ACL_TDT_DVPP_MEM, &none), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtAllocBuf((size_t{4} << 30) + 1, ACL_TDT_NORMAL_MEM, &none),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtFreeBuf(nullptr), ACL_ERROR_INVALID_PARAM);
}

TEST_F(QueueTest, AChainGoesThroughAQueueAsOne) {
  const uint32_t id = make_queue();
  acltdtBuf head = make_buffer("head"), next = make_buffer("next"), found = nullptr;
  EXPECT_EQ(acltdtAppendBufChain(head, head), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtAppendBufChain(head, next), ACL_SUCCESS);
  EXPECT_EQ(acltdtGetBufFromChain(head, 1, &found), ACL_SUCCESS);
  EXPECT_EQ(acltdtFreeBuf(found), ACL_ERROR_INVALID_PARAM);  // the head owns it
  EXPECT_EQ(acltdtAppendBufChain(found, head), ACL_ERROR_INVALID_PARAM);
  acltdtBuf other = make_buffer("other");
  EXPECT_EQ(acltdtAppendBufChain(other, head), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtFreeBuf(other), ACL_SUCCESS);
  EXPECT_EQ(acltdtEnqueue(id, head, 0), ACL_SUCCESS);
  char data[8];
  size_t size = 0;
  EXPECT_EQ(acltdtDequeueData(id, data, 8, &size, nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
  acltdtBuf out = nullptr;
  EXPECT_EQ(acltdtDequeue(id, &out, 0), ACL_SUCCESS);
  uint32_t count = 0;
  EXPECT_EQ(acltdtGetBufChainNum(out, &count), ACL_SUCCESS);
  EXPECT_EQ(count, 2u);
  EXPECT_EQ(acltdtGetBufFromChain(out, 0, &found), ACL_SUCCESS);
  EXPECT_EQ(text_of(found), "head");
  EXPECT_EQ(acltdtGetBufFromChain(out, 1, &found), ACL_SUCCESS);
  EXPECT_EQ(text_of(found), "next");
  EXPECT_EQ(acltdtGetBufFromChain(out, 2, &next), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtFreeBuf(out), ACL_SUCCESS);
  size_t length = 0;
  EXPECT_EQ(acltdtGetBufDataLen(found, &length), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_SUCCESS);
}

TEST_F(QueueTest, AThreadThatWaitsIsServedOrToldThatTheQueueIsGone) {
  const uint32_t id = make_queue();
  char data[4] = {};
  size_t size = 0;
  std::thread served(
      [&] { EXPECT_EQ(acltdtDequeueData(id, data, 4, &size, nullptr, 0, -1), ACL_SUCCESS); });
  EXPECT_EQ(acltdtEnqueueData(id, "abc", 3, nullptr, 0, -1, 0), ACL_SUCCESS);
  served.join();
  EXPECT_EQ(std::string(data, size), "abc");
  std::thread told([&] {
    acltdtBuf buffer = nullptr;
    EXPECT_EQ(acltdtDequeue(id, &buffer, -1), ACL_ERROR_INVALID_QUEUE_ID);
  });
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_SUCCESS);
  told.join();
}

TEST_F(QueueTest, QueuesAndBuffersEndWithFinalize) {
  const uint32_t id = make_queue();
  acltdtBuf buffer = make_buffer("left");
  EXPECT_EQ(acltdtEnqueueData(id, "1", 1, nullptr, 0, 0, 0), ACL_SUCCESS);
  ASSERT_EQ(aclFinalize(), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_ERROR_UNINITIALIZE);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(id), ACL_ERROR_INVALID_QUEUE_ID);
  EXPECT_EQ(acltdtFreeBuf(buffer), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace anynpu::acl
