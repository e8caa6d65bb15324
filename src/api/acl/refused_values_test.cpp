// SPDX-License-Identifier: Apache-2.0
// Values at the edge of what the documents allow, function by function: the last that is taken, and
// the first that is refused.
#include <unistd.h>

#include "acl/acl_platform.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/rt/device_query.h"
#include "acl/rt/managed_memory.h"
#include "acl/rt/memory_copy.h"
#include "acl/rt/memory_map.h"
#include "acl/rt/memory_query.h"
#include "acl/rt/shared_memory.h"
#include "acl/rt/snapshot.h"
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

class RefusedValues : public InstanceTest {
 protected:
  static void taken(aclError code) { EXPECT_EQ(code, ACL_SUCCESS) << aclGetRecentErrMsg(); }
  static void refused(aclError code) {
    EXPECT_NE(code, ACL_SUCCESS);
    EXPECT_NE(aclGetRecentErrMsg(), nullptr) << code;
  }
};

TEST_F(RefusedValues, OfEvents) {
  const aclrtEvent event = joining_event();
  taken(aclrtRecordEvent(event, s_));
  refused(aclrtStreamWaitEventWithTimeout(s_, event, -1));
  taken(aclrtStreamWaitEventWithTimeout(s_, event, 0));
  refused(aclrtRecordEventWithFlag(event, s_, 1));  // the stream is not captured
  aclrtCntNotify notify = nullptr;
  refused(aclrtCntNotifyCreate(&notify, 5));
  taken(aclrtCntNotifyCreate(&notify, 0));
  aclrtCntNotifyRecordInfo record{};
  record.value = 0;
  refused(aclrtCntNotifyRecord(notify, s_, &record));
  record.value = 1;
  record.mode = static_cast<aclrtCntNotifyRecordMode>(3);
  refused(aclrtCntNotifyRecord(notify, s_, &record));
  aclrtCntNotifyWaitInfo wait{};
  wait.mode = static_cast<aclrtCntNotifyWaitMode>(7);
  wait.value = 1;
  refused(aclrtCntNotifyWaitWithTimeout(notify, s_, &wait));
  taken(aclrtCntNotifyDestroy(notify));
}

TEST_F(RefusedValues, OfCallbacksAndMarks) {
  const auto callback = [](aclrtStream, aclrtStreamState, void*) {};
  refused(aclrtRegStreamStateCallback("", callback, nullptr));
  refused(aclrtRegStreamStateCallback(nullptr, callback, nullptr));
  taken(aclrtRegStreamStateCallback("name", callback, nullptr));
  refused(aclrtRegStreamStateCallback("name", callback, nullptr));
  taken(aclrtRegStreamStateCallback("name", nullptr, nullptr));
  char mark[20] = {};
  taken(aclrtProfTrace(mark, 18, s_));
  refused(aclrtProfTrace(mark, 19, s_));
  refused(aclrtStreamStop(nullptr));
}

TEST_F(RefusedValues, OfMemory) {
  uint8_t* block = device_memory(1 << 20);
  void* base = nullptr;
  size_t size = 0;
  refused(aclrtMemGetAddressRange(block, nullptr, nullptr));
  taken(aclrtMemGetAddressRange(block + 5, &base, nullptr));
  EXPECT_EQ(base, block);
  taken(aclrtMemGetAddressRange(block, nullptr, &size));
  EXPECT_GE(size, size_t{1} << 20);
  refused(aclrtFreeWithDevSync(nullptr));
  refused(aclrtFreeHostWithDevSync(nullptr));
  taken(aclrtMemsetD32(block, 16, 7, 4));
  refused(aclrtMemsetD32(block, 15, 7, 4));
  refused(aclrtDeviceL2CacheFlush(block));
  constexpr size_t kGiB = size_t{1} << 30;
  auto* wish = reinterpret_cast<void*>(uint64_t{45} << 40);
  refused(aclrtReserveMemAddressNoUCMemory(&base, kGiB, 0, nullptr, 0));
  refused(aclrtReserveMemAddressNoUCMemory(&base, kGiB / 2, 0, wish, 0));
  taken(aclrtReserveMemAddressNoUCMemory(&base, kGiB, 0, wish, 0));
  taken(aclrtReleaseMemAddress(base));
}

TEST_F(RefusedValues, OfManagedMemory) {
  constexpr uint64_t kPage = 2 << 20;
  void *memory = nullptr, *none = nullptr;
  refused(aclrtMemAllocManaged(&none, 0, ACL_RT_MEM_ATTACH_GLOBAL));
  refused(aclrtMemAllocManaged(&none, 8, 0));
  refused(aclrtMemAllocManaged(&none, uint64_t{4} << 40, ACL_RT_MEM_ATTACH_GLOBAL));
  taken(aclrtMemAllocManaged(&memory, 3, ACL_RT_MEM_ATTACH_GLOBAL));
  aclrtMemManagedLocation device{};
  device.type = ACL_MEM_LOCATIONTYPE_DEVICE;
  refused(aclrtMemManagedAdvise(memory, 100, ACL_MEM_ADVISE_SET_READ_MOSTLY, device));
  taken(aclrtMemManagedAdvise(memory, kPage, ACL_MEM_ADVISE_SET_READ_MOSTLY, device));
  const auto attribute = [](int number) {
    return static_cast<aclrtMemManagedRangeAttribute>(number);
  };
  int32_t value[4] = {};
  taken(aclrtMemManagedGetAttr(attribute(1), memory, kPage, value, 4));
  EXPECT_EQ(value[0], 1);
  refused(aclrtMemManagedGetAttr(attribute(1), memory, kPage, value, 8));
  taken(aclrtMemManagedGetAttr(attribute(2), memory, kPage, value, 4));
  EXPECT_EQ(value[0], -2) << "no preferred place";
  refused(aclrtMemManagedGetAttr(attribute(3), memory, kPage, value, 6));
  taken(aclrtMemManagedGetAttr(attribute(3), memory, kPage, value, 16));
  EXPECT_EQ(value[3], -2);
  refused(aclrtMemManagedPrefetchAsync(memory, 5, device, 0, s_));
  refused(aclrtMemManagedPrefetchAsync(memory, kPage, device, 1, s_));
  taken(aclrtMemManagedPrefetchAsync(memory, kPage, device, 0, s_));
  const void* ranges[] = {memory};
  size_t sizes[] = {kPage}, first[] = {0}, second[] = {1};
  taken(aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 1, &device, first, 1, 0, s_));
  refused(aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 1, &device, second, 1, 0, s_));
  refused(aclrtMemManagedPrefetchBatchAsync(ranges, sizes, 1, &device, first, 2, 0, s_));
  taken(aclrtSynchronizeStream(s_));
  taken(aclrtFree(memory));
}

TEST_F(RefusedValues, OfPools) {
  aclrtMemPoolProps props{};
  props.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemPool pool = nullptr;
  taken(aclrtMemPoolCreate(&pool, &props));
  void* none = nullptr;
  refused(aclrtMemPoolMallocAsync(&none, 0, pool, s_));
  uint64_t value = 5;
  refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT, &value));
  refused(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
  value = 0;
  taken(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &value));
  taken(aclrtMemPoolDestroy(pool));
}

TEST_F(RefusedValues, OfCaptures) {
  aclmdlRI graph = nullptr;
  EXPECT_EQ(aclmdlRICaptureEnd(s_, &graph), 107029);
  refused(aclmdlRICaptureBegin(s_, static_cast<aclmdlRICaptureMode>(3)));
  taken(begin(s_));
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  taken(aclmdlRICaptureGetInfo(s_, &status, &graph));
  EXPECT_EQ(aclmdlRIExecuteAsync(graph, t_), 107026);
  EXPECT_EQ(aclmdlRIUpdate(graph), 107040);
  aclrtTaskGrp group = nullptr;
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(s_, &group), 107033);
  taken(aclmdlRICaptureTaskGrpBegin(s_));
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(s_), 107033);
  taken(aclmdlRICaptureTaskGrpEnd(s_, &group));
  EXPECT_EQ(aclrtSynchronizeStream(s_), 107041);
  EXPECT_EQ(end_code(s_), 507903);
  taken(begin(s_));
  taken(aclrtMemsetAsync(device_memory(4), 4, 0, 4, s_));
  graph = end(s_);
  refused(aclmdlRIAbort(graph));
  aclmdlRICondHandle condition = 0;
  refused(aclmdlRICondHandleCreate(graph, 0, static_cast<aclmdlRICondHandleFlag>(1), &condition));
  refused(aclmdlRIDebugJsonPrint(graph, "/nonexistent/x.json", 0));
  refused(aclmdlRIDebugJsonPrint(graph, "/tmp/x.json", 7));
  aclrtStream streams[1];
  uint32_t count = 0;
  EXPECT_EQ(aclmdlRIGetStreams(graph, streams, &count), 107039);
  taken(aclmdlRIDestroy(graph));
}

TEST_F(RefusedValues, OfBuiltInstances) {
  aclrtLabel label = nullptr;
  aclrtLabelList list = nullptr;
  taken(aclrtCreateLabel(&label));
  refused(aclrtCreateLabelList(&label, 0, &list));
  refused(aclrtSetLabel(label, s_));  // not bound
  aclrtStream bound = nullptr;
  aclmdlRI instance = nullptr;
  taken(aclrtCreateStreamWithConfig(&bound, 0, ACL_STREAM_PERSISTENT));
  taken(aclmdlRIBuildBegin(&instance, 0));
  refused(aclmdlRIBindStream(instance, s_, 0));
  refused(aclmdlRIBindStream(instance, nullptr, 0));
  taken(aclmdlRIBindStream(instance, bound, 0));
  refused(aclmdlRIBindStream(instance, bound, 0));
  taken(aclrtSetLabel(label, bound));
  refused(aclrtSetLabel(label, bound));
  refused(aclrtStreamAbort(bound));
  taken(aclmdlRIEndTask(instance, bound));
  taken(aclmdlRIBuildEnd(instance, nullptr));
  taken(aclmdlRIExecute(instance, -1));
  taken(aclmdlRIUnbindStream(instance, bound));
  refused(aclmdlRIUnbindStream(instance, bound));
  taken(aclmdlRIDestroy(instance));
  taken(aclrtDestroyLabel(label));
  taken(aclrtDestroyStream(bound));
}

TEST_F(RefusedValues, OfLabelsAndWhatIsCached) {
  std::vector<aclrtLabel> labels(65535);
  for (aclrtLabel& label : labels) ASSERT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
  aclrtLabel more = nullptr;
  refused(aclrtCreateLabel(&more));
  for (aclrtLabel label : labels) ASSERT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
  aclrtStreamAttrValue on{};
  on.cacheOpInfoSwitch = 1;
  const std::string text(65537, 'x');
  taken(begin(s_));
  taken(aclrtSetStreamAttribute(s_, ACL_STREAM_ATTR_CACHE_OP_INFO, &on));
  taken(aclrtMemsetAsync(device_memory(4), 4, 0, 4, s_));
  refused(aclrtCacheLastTaskOpInfo(text.data(), 0));
  taken(aclrtCacheLastTaskOpInfo(text.data(), 65536));
  refused(aclrtCacheLastTaskOpInfo(text.data(), 65537));
  refused(aclrtCacheLastTaskExtendInfo(text.c_str(), 0));
  taken(aclrtCacheLastTaskExtendInfo(text.c_str(), 5000));  // cut
  taken(aclmdlRIDestroy(end(s_)));
}

TEST_F(RefusedValues, OfQueries) {
  char text[64];
  taken(aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(13), text, sizeof text));
  refused(aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(13), text, 2));
  refused(aclplatformGetDeviceInfo(static_cast<aclplatformDevInfo>(17), text, sizeof text));
  int32_t compatible = 0;
  taken(aclrtCheckArchCompatibility(aclrtGetSocName(), &compatible));
  EXPECT_EQ(compatible, 1);
  EXPECT_EQ(aclrtSnapShotProcessUnlock(getpid(), nullptr), 507907);
  const auto callback = [](int32_t, void*) -> uint32_t { return 0; };
  refused(aclrtSnapShotCallbackRegister(static_cast<aclrtSnapShotStage>(6), callback, nullptr));
}

}  // namespace
}  // namespace anynpu::acl
