// SPDX-License-Identifier: Apache-2.0
// Channels of acl_tdt.h, and routes of acl_tdt_queue.h, as C programs use them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "acl/acl.h"
#include "acl/acl_tdt.h"
#include "acl/acl_tdt_queue.h"

namespace anynpu::acl {
namespace {

class TdtChannel : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS); }
  void TearDown() override { ASSERT_EQ(aclFinalize(), ACL_SUCCESS); }
};

TEST_F(TdtChannel, TheSampleOfTheDocuments) {
  acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "n", 2);
  ASSERT_NE(channel, nullptr);
  float values[] = {1, 2, 3, 4};
  const int64_t dims[] = {2, 2};
  acltdtDataItem* item =
      acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_FLOAT, values, sizeof values);
  EXPECT_EQ(acltdtGetDataAddrFromItem(item), values);
  acltdtDataset* set = acltdtCreateDataset();
  EXPECT_EQ(acltdtAddDataItem(set, item), ACL_SUCCESS);
  EXPECT_EQ(acltdtSendTensor(channel, set, 1000), ACL_SUCCESS);
  size_t size = 0;
  EXPECT_EQ(acltdtQueryChannelSize(channel, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 1u);
  acltdtDataset* out = acltdtCreateDataset();
  EXPECT_EQ(acltdtReceiveTensor(channel, out, 1000), ACL_SUCCESS);
  ASSERT_EQ(acltdtGetDatasetSize(out), 1u);
  EXPECT_STREQ(acltdtGetDatasetName(out), "n");
  acltdtDataItem* got = acltdtGetDataItem(out, 0);
  EXPECT_EQ(acltdtGetDataItem(out, 1), nullptr);
  EXPECT_EQ(acltdtGetTensorTypeFromItem(got), ACL_TENSOR_DATA_TENSOR);
  EXPECT_EQ(acltdtGetDataTypeFromItem(got), ACL_FLOAT);
  EXPECT_EQ(acltdtGetDimNumFromItem(got), 2u);
  EXPECT_EQ(acltdtGetDataSizeFromItem(got), 16u);
  int64_t shape[2] = {};
  EXPECT_EQ(acltdtGetDimsFromItem(got, shape, 1), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtGetDimsFromItem(got, shape, 2), ACL_SUCCESS);
  EXPECT_EQ(shape[0] * shape[1], 4);
  EXPECT_NE(acltdtGetDataAddrFromItem(got), values);
  EXPECT_EQ(static_cast<const float*>(acltdtGetDataAddrFromItem(got))[3], 4);
  size_t pieces = 0, piece = 9;
  EXPECT_EQ(acltdtGetSliceInfoFromItem(got, &pieces, &piece), ACL_SUCCESS);
  EXPECT_EQ(piece, 0u);
  EXPECT_EQ(acltdtQueryChannelSize(channel, &size), ACL_SUCCESS);
  EXPECT_EQ(size, 0u);
  EXPECT_EQ(acltdtCleanChannel(channel), ACL_SUCCESS);
  EXPECT_EQ(acltdtStopChannel(channel), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyChannel(channel), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyDataset(out), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyDataItem(item), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyDataset(set), ACL_SUCCESS);
}

TEST_F(TdtChannel, FullIs207014AndEmpty207013) {
  acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "codes", 2);
  acltdtDataset* set = acltdtCreateDataset();
  EXPECT_EQ(acltdtReceiveTensor(channel, set, 0), ACL_ERROR_RT_QUEUE_EMPTY);
  EXPECT_EQ(acltdtReceiveTensor(channel, set, 1), ACL_ERROR_RT_QUEUE_EMPTY);
  EXPECT_EQ(acltdtSendTensor(channel, set, 0), ACL_SUCCESS);
  EXPECT_EQ(acltdtSendTensor(channel, set, 0), ACL_SUCCESS);
  EXPECT_EQ(acltdtSendTensor(channel, set, 0), ACL_ERROR_RT_QUEUE_FULL);
  EXPECT_EQ(acltdtDestroyChannel(channel), ACL_SUCCESS);
  EXPECT_EQ(acltdtSendTensor(channel, set, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtDestroyDataset(set), ACL_SUCCESS);
}

TEST_F(TdtChannel, NullItemsAndSetsHaveTheirDocumentedAnswers) {
  EXPECT_EQ(acltdtGetTensorTypeFromItem(nullptr), ACL_TENSOR_DATA_UNDEFINED);
  EXPECT_EQ(acltdtGetDataTypeFromItem(nullptr), ACL_DT_UNDEFINED);
  EXPECT_EQ(acltdtGetDataAddrFromItem(nullptr), nullptr);
  EXPECT_EQ(acltdtGetDataSizeFromItem(nullptr), 0u);
  EXPECT_EQ(acltdtGetDimNumFromItem(nullptr), 0u);
  EXPECT_EQ(acltdtGetDatasetName(nullptr), nullptr);
  EXPECT_EQ(acltdtGetDatasetSize(nullptr), 0u);
  EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "x", 1), nullptr);
  EXPECT_EQ(acltdtCreateChannelWithCapacity(0, "x", 8193), nullptr);
  EXPECT_EQ(acltdtCreateChannelWithCapacity(0, nullptr, 2), nullptr);
  EXPECT_EQ(acltdtCreateChannel(0, "x"), nullptr);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("WithCapacity"), std::string::npos);
}

TEST_F(TdtChannel, AnotherThreadStopsAWaitingReceiver) {
  acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "stop", 2);
  acltdtDataset* out = acltdtCreateDataset();
  aclError code = ACL_SUCCESS;
  std::thread receiver([&] { code = acltdtReceiveTensor(channel, out, -1); });
  usleep(10'000);
  EXPECT_EQ(acltdtStopChannel(channel), ACL_SUCCESS);
  receiver.join();
  EXPECT_NE(code, ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyChannel(channel), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyDataset(out), ACL_SUCCESS);
}

class QueueRoute : public TdtChannel {};

TEST_F(QueueRoute, TheSampleOfTheDocuments) {
  uint32_t source = 0, target = 0;
  ASSERT_EQ(acltdtCreateQueue(nullptr, &source), ACL_SUCCESS);
  ASSERT_EQ(acltdtCreateQueue(nullptr, &target), ACL_SUCCESS);
  acltdtQueueRoute* route = acltdtCreateQueueRoute(source, target);
  acltdtQueueRouteList* list = acltdtCreateQueueRouteList();
  EXPECT_EQ(acltdtAddQueueRoute(list, route), ACL_SUCCESS);
  EXPECT_EQ(acltdtBindQueueRoutes(list), ACL_SUCCESS);
  acltdtQueueRouteQueryInfo* info = acltdtCreateQueueRouteQueryInfo();
  const acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
  EXPECT_EQ(acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, 4, &mode), 0);
  EXPECT_EQ(acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, 4, &source),
            0);
  EXPECT_EQ(acltdtSetQueueRouteQueryInfo(info, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, 4, &target),
            0);
  acltdtQueueRouteList* found = acltdtCreateQueueRouteList();
  EXPECT_EQ(acltdtQueryQueueRoutes(info, found), ACL_SUCCESS);
  EXPECT_EQ(acltdtGetQueueRouteNum(found), 1u);
  EXPECT_EQ(acltdtGetQueueRoute(found, 0, route), ACL_SUCCESS);
  int32_t status = 0;
  uint32_t id = 0;
  size_t size = 0;
  EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &size, &status),
            0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(size, 4u);
  EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_DST_UINT32, 4, &size, &id), 0);
  EXPECT_EQ(id, target);
  EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_SRC_UINT32, 8, &size, &id),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(acltdtEnqueueData(source, "frame", 5, nullptr, 0, 0, 0), ACL_SUCCESS);
  char data[8] = {};
  EXPECT_EQ(acltdtDequeueData(target, data, 8, &size, nullptr, 0, 0), ACL_SUCCESS);
  EXPECT_STREQ(data, "frame");
  EXPECT_EQ(acltdtUnbindQueueRoutes(list), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueRouteList(found), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueRouteQueryInfo(info), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueRouteList(list), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueueRoute(route), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(source), ACL_SUCCESS);
  EXPECT_EQ(acltdtDestroyQueue(target), ACL_SUCCESS);
}

TEST_F(QueueRoute, OneQueueFeedsSeveralAndNoneItself) {
  uint32_t queues[3];
  for (uint32_t& queue : queues) ASSERT_EQ(acltdtCreateQueue(nullptr, &queue), ACL_SUCCESS);
  acltdtQueueRouteList *forth = acltdtCreateQueueRouteList(), *back = acltdtCreateQueueRouteList();
  for (int i = 1; i < 3; ++i) {
    acltdtQueueRoute* route = acltdtCreateQueueRoute(queues[0], queues[i]);
    EXPECT_EQ(acltdtAddQueueRoute(forth, route), ACL_SUCCESS);
    EXPECT_EQ(acltdtDestroyQueueRoute(route), ACL_SUCCESS);
  }
  ASSERT_EQ(acltdtBindQueueRoutes(forth), ACL_SUCCESS);
  acltdtQueueRoute* route = acltdtCreateQueueRoute(queues[1], queues[0]);
  EXPECT_EQ(acltdtAddQueueRoute(back, route), ACL_SUCCESS);
  EXPECT_NE(acltdtBindQueueRoutes(back), ACL_SUCCESS) << "a ring";
  int32_t status = 0;
  size_t size = 0;
  EXPECT_EQ(acltdtGetQueueRoute(back, 0, route), ACL_SUCCESS);
  EXPECT_EQ(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &size, &status),
            ACL_SUCCESS);
  EXPECT_EQ(status, 2);
  EXPECT_EQ(acltdtEnqueueData(queues[0], "ab", 3, nullptr, 0, 0, 0), ACL_SUCCESS);
  for (int i = 1; i < 3; ++i) {
    char data[4] = {};
    EXPECT_EQ(acltdtDequeueData(queues[i], data, 4, &size, nullptr, 0, 10'000), ACL_SUCCESS);
    EXPECT_STREQ(data, "ab");
  }
  EXPECT_EQ(acltdtUnbindQueueRoutes(forth), ACL_SUCCESS);
  EXPECT_NE(acltdtUnbindQueueRoutes(forth), ACL_SUCCESS) << "not bound any more";
  EXPECT_EQ(acltdtDestroyQueueRoute(route), ACL_SUCCESS);
  for (acltdtQueueRouteList* list : {forth, back})
    EXPECT_EQ(acltdtDestroyQueueRouteList(list), ACL_SUCCESS);
  for (const uint32_t queue : queues) EXPECT_EQ(acltdtDestroyQueue(queue), ACL_SUCCESS);
}

TEST_F(QueueRoute, QueuesOfOtherProcessesAre207000) {
  uint32_t queue = 0, permission = 0;
  ASSERT_EQ(acltdtCreateQueue(nullptr, &queue), ACL_SUCCESS);
  EXPECT_EQ(acltdtGrantQueue(queue, getppid(), 2, 0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(acltdtAttachQueue(queue, 0, &permission), ACL_ERROR_RT_NO_PERMISSION);
  EXPECT_EQ(acltdtGrantQueue(queue, getpid(), 6, 0), ACL_SUCCESS);
  EXPECT_EQ(acltdtAttachQueue(queue, 0, &permission), ACL_SUCCESS);
  EXPECT_EQ(permission, 6u);
  EXPECT_EQ(acltdtAttachQueue(queue + 1, 0, &permission), ACL_ERROR_INVALID_QUEUE_ID);
  EXPECT_EQ(acltdtDestroyQueue(queue), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
