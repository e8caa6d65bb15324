// SPDX-License-Identifier: Apache-2.0
// What the documents say about functions of the runtime and is easily got wrong, as C programs call
// them: streams, events, memory, limits.
#include <sys/mman.h>

#include <climits>
#include <thread>

#include "acl/error_codes/rt_error_codes.h"
#include "acl/rt/device.h"
#include "acl/rt/shared_memory.h"
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

class RuntimeFacts : public InstanceTest {
 protected:
  // A value in device memory that a stream can wait for.
  uint64_t* closed_gate() {
    auto* gate = device_memory<uint64_t>(1);
    write(gate, uint64_t{0});
    return gate;
  }
};

TEST_F(RuntimeFacts, AWaitForAValueWrapsOrLooksAtItsBits) {
  struct Case {
    uint64_t memory, value;
    uint32_t flag;
    bool passes;
  };
  const Case cases[] = {
      {5, 5, ACL_STREAM_WAIT_VALUE_GEQ, true},
      {4, 5, ACL_STREAM_WAIT_VALUE_GEQ, false},
      {2, UINT64_MAX - 2, ACL_STREAM_WAIT_VALUE_GEQ, true},  // the counter has gone round
      {6, 2, ACL_STREAM_WAIT_VALUE_AND, true},
      {4, 2, ACL_STREAM_WAIT_VALUE_AND, false},
      {1, 2, ACL_STREAM_WAIT_VALUE_NOR, true},
      {UINT64_MAX - 2, 2, ACL_STREAM_WAIT_VALUE_NOR, false},  // every bit is in one of them
  };
  for (const Case& one : cases) {
    auto* word = device_memory<uint64_t>(1);
    write(word, one.memory);
    ASSERT_EQ(aclrtValueWait(word, one.value, one.flag, s_), ACL_SUCCESS);
    const aclError code = aclrtSynchronizeStreamWithTimeout(s_, one.passes ? 10'000 : 20);
    EXPECT_EQ(code, one.passes ? ACL_SUCCESS : ACL_ERROR_RT_STREAM_SYNC_TIMEOUT)
        << one.memory << " " << one.value << " " << one.flag;
    if (one.passes) continue;
    ASSERT_EQ(aclrtStreamAbort(s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStreamForce(s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&s_), ACL_SUCCESS);
  }
}

TEST_F(RuntimeFacts, LimitsOfWaitsHaveTheirCodesAndSeveralUnits) {
  uint64_t* gate = closed_gate();
  const aclrtEvent event = joining_event();
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(s_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_NE(aclrtSynchronizeStreamWithTimeout(s_, -2), ACL_SUCCESS);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(s_, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event, -1), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, StreamsOfOtherKindsAreNotWaitedFor) {
  for (const uint32_t flag :
       {ACL_STREAM_PERSISTENT, ACL_STREAM_DEVICE_USE_ONLY, ACL_STREAM_CPU_SCHEDULE}) {
    aclrtStream stream = nullptr;
    ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 0, flag), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS) << flag;
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream, 5), ACL_SUCCESS) << flag;
    uint32_t flags = 0;
    EXPECT_EQ(aclrtStreamGetFlags(stream, &flags), ACL_SUCCESS);
    EXPECT_EQ(flags, flag);
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  }
  uint32_t flags = 77;
  EXPECT_EQ(aclrtStreamGetFlags(s_, &flags), ACL_SUCCESS);
  EXPECT_EQ(flags, 0u);
}

TEST_F(RuntimeFacts, AnAbortedStreamSaysSo) {
  ASSERT_EQ(aclrtValueWait(closed_gate(), 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  std::thread other([&] { EXPECT_EQ(aclrtStreamAbort(s_), ACL_SUCCESS); });
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_ERROR_RT_STREAM_ABORT);
  other.join();
}

TEST_F(RuntimeFacts, TheTimeBetweenTwoEventsNeedsBoth) {
  const aclrtEvent first = timed_event(), second = timed_event(), never = timed_event();
  ASSERT_EQ(aclrtRecordEvent(first, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device_memory(1 << 20), 1 << 20, 1, 1 << 20, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(second, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  float ms = -1;
  EXPECT_EQ(aclrtEventElapsedTime(&ms, first, second), ACL_SUCCESS);
  EXPECT_GE(ms, 0);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, first, never), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, second, first), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
}

TEST_F(RuntimeFacts, AnEventThatIsDestroyedWhileItIsPendingHoldsNobodyUp) {
  uint64_t* gate = closed_gate();
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(t_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, AWaitIsForTheRecordThatWasTheLatestAtTheCall) {
  uint64_t* gate = closed_gate();
  const aclrtEvent event = joining_event();
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);  // of the gate, for later waits
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(t_, 10'000), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(t_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, StreamsAndEventsBelongToADevice) {
  uint32_t count = 0;
  ASSERT_EQ(aclrtGetDeviceCount(&count), ACL_SUCCESS);
  ASSERT_GE(count, 2u);
  const aclrtEvent event = timed_event();
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream foreign = nullptr;
  ASSERT_EQ(aclrtCreateStream(&foreign), ACL_SUCCESS);
  EXPECT_NE(aclrtRecordEvent(event, foreign), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS) << "from another device";
  uint8_t* pinned = pinned_memory(16);
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 16, ACL_MEM_MALLOC_NORMAL_ONLY), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(memory, 16, pinned, 16, ACL_MEMCPY_HOST_TO_DEVICE, s_),
            ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(foreign), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);  // it was set twice
}

TEST_F(RuntimeFacts, PeersAreOthers) {
  int32_t can = 7;
  EXPECT_NE(aclrtDeviceEnablePeerAccess(0, 0), ACL_SUCCESS) << "to oneself";
  EXPECT_EQ(aclrtDeviceCanAccessPeer(&can, 0, 1), ACL_SUCCESS);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(aclrtDeviceEnablePeerAccess(1, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceDisablePeerAccess(1), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, NullIsNotFreed) {
  EXPECT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  EXPECT_NE(aclrtFreeHost(nullptr), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, MemoryOfAnotherDeviceIsNotAskedForByAnAttribute) {
  aclrtMallocAttribute attribute{};
  attribute.attr = ACL_RT_MEM_ATTR_DEVICE_ID;
  aclrtMallocConfig config{&attribute, 1};
  void* memory = nullptr;
  attribute.value.deviceId = 1;
  EXPECT_NE(aclrtMallocWithCfg(&memory, 64, ACL_MEM_TYPE_LOW_BAND_WIDTH, &config), ACL_SUCCESS);
  attribute.value.deviceId = 0;
  ASSERT_EQ(aclrtMallocWithCfg(&memory, 64, ACL_MEM_MALLOC_NORMAL_ONLY, &config), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, HostMemoryIsRegisteredOnce) {
  void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  void* device = nullptr;
  EXPECT_EQ(aclrtHostUnregister(page), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  ASSERT_EQ(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &device), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostRegister(page, 4096, ACL_HOST_REGISTER_MAPPED, &device),
            ACL_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_EQ(aclrtHostUnregister(page), ACL_SUCCESS);
  EXPECT_EQ(aclrtHostUnregister(page), ACL_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_NE(aclrtHostRegisterV2(pinned_memory(4096), 4096, ACL_HOST_REG_PINNED), ACL_SUCCESS)
      << "it is pinned already";
  munmap(page, 8192);
}

TEST_F(RuntimeFacts, AHandleIsMappedWhole) {
  aclrtPhysicalMemProp prop{};
  prop.location = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  prop.memAttr = ACL_HBM_MEM_HUGE;
  constexpr size_t kSize = 2u << 20;
  aclrtDrvMemHandle handle = nullptr;
  void* at = nullptr;
  ASSERT_EQ(aclrtMallocPhysical(&handle, kSize, &prop, 0), ACL_SUCCESS) << aclGetRecentErrMsg();
  ASSERT_EQ(aclrtReserveMemAddress(&at, 2 * kSize, 0, nullptr, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtMapMem(at, kSize / 2, 0, handle, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtMapMem(at, kSize, 4096, handle, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtMapMem(at, kSize, 0, handle, 1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(at, kSize, 0, handle, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS) << "postponed until it is unmapped";
  EXPECT_EQ(aclrtMemset(at, kSize, 5, kSize), ACL_SUCCESS);
  EXPECT_EQ(read(static_cast<uint8_t*>(at) + kSize - 1), 5);
  EXPECT_EQ(aclrtUnmapMem(at), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(at, kSize, 5, kSize), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(at), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, OptionsThatNobodySetAre0OrUnknown) {
  int64_t value = 7;
  EXPECT_EQ(aclrtGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value),
            ACL_ERROR_RT_SYSPARAMOPT_NOT_SET);
  ASSERT_EQ(aclrtCtxSetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtCtxGetSysParamOpt(ACL_OPT_STRONG_CONSISTENCY, &value), ACL_SUCCESS);
  EXPECT_EQ(value, 1);
}

TEST_F(RuntimeFacts, LimitsOfDevicesAreRoundedUp) {
  struct Case {
    aclrtDeviceLimit limit;
    size_t value, rounded;
  };
  const Case cases[] = {
      {ACL_RT_DEV_LIMIT_SIMT_STACK_SIZE, 1153, 1280},
      {ACL_RT_DEV_LIMIT_SIMT_DVG_WARP_STACK_SIZE, 1025, 1152},
      {ACL_RT_DEV_LIMIT_SIMD_STACK_SIZE, 32769, 49152},
      {ACL_RT_DEV_LIMIT_SIMT_PRINTF_FIFO_SIZE, (2u << 20) + 1, (2u << 20) + 8},
  };
  for (const Case& one : cases) {
    size_t before = 0, value = 0;
    ASSERT_EQ(aclrtDeviceGetLimit(one.limit, &before), ACL_SUCCESS) << one.limit;
    ASSERT_EQ(aclrtDeviceSetLimit(one.limit, one.value), ACL_SUCCESS) << one.limit;
    EXPECT_EQ(aclrtDeviceGetLimit(one.limit, &value), ACL_SUCCESS);
    EXPECT_EQ(value, one.rounded) << one.limit;
    EXPECT_EQ(aclrtDeviceSetLimit(one.limit, before), ACL_SUCCESS);
  }
}

TEST_F(RuntimeFacts, NoLimitOfOperatorsIsTheLargestNumber) {
  uint64_t actual = 0;
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(2'500'000, &actual), ACL_SUCCESS);
  EXPECT_EQ(actual, 2'500'000u);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(0, &actual), ACL_SUCCESS);
  EXPECT_EQ(actual, UINT64_MAX);
}

TEST_F(RuntimeFacts, AReportBelongsToOneThread) {
  ASSERT_EQ(aclrtSubscribeReport(pthread_self(), s_), ACL_SUCCESS);
  const aclError again = aclrtSubscribeReport(pthread_self(), s_);
  EXPECT_TRUE(again == 107011 || again == 107012 || again == 100033) << again;
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), s_), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, AReportThreadServesOneDevice) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  aclrtStream other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(pthread_self(), other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_NE(aclrtSubscribeReport(pthread_self(), s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnSubscribeReport(pthread_self(), other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  for (const int device : {1, 1, 0, 0}) {  // each was set twice more
    EXPECT_EQ(aclrtResetDevice(device), ACL_SUCCESS);
  }
}

TEST_F(RuntimeFacts, TheDefaultStreamWaitsForNoOther) {
  uint64_t* gate = closed_gate();
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(device_memory(64), 64, 1, 64, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(nullptr, 10'000), ACL_SUCCESS);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, ATimeLimitOfWaitsIsForLaterOnes) {
  uint64_t* gate = closed_gate();
  aclrtEvent event = nullptr;
  aclrtStream later = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&later), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(later, event), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(later), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(t_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), ACL_SUCCESS);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(later), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, UnknownFlagsMakeAnOrdinaryStreamAndPrioritiesEndAt7) {
  aclrtStream stream = nullptr;
  uint32_t flags = 9;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&stream, 7, 0x40000000), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetFlags(stream, &flags), ACL_SUCCESS);
  EXPECT_EQ(flags, 0u);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 8, 0), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(RuntimeFacts, AStreamThatStoppedStopsItsContext) {
  aclrtContext context = nullptr, before = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  uint8_t* memory = device_memory(64);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  aclrtStream stops = nullptr, other = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stops), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetStreamFailureMode(stops, ACL_STOP_ON_FAILURE), ACL_SUCCESS);
  EXPECT_NE(aclrtSetStreamFailureMode(stops, ACL_STOP_ON_FAILURE), ACL_SUCCESS) << "once";
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stops, 1), ACL_SUCCESS);  // it never comes
  EXPECT_NE(aclrtSynchronizeStream(stops), ACL_SUCCESS);
  for (aclrtStream each : {stops, other})
    EXPECT_NE(aclrtMemsetAsync(memory, 64, 1, 64, each), ACL_SUCCESS) << "no new tasks";
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stops), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(memory, 64, 1, 64, s_), ACL_SUCCESS) << "another context";
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, AMessageIsTakenOnceAndTheLastErrorIsTheLatest) {
  ASSERT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclGetRecentErrMsg(), nullptr);
  ASSERT_NE(aclrtFree(nullptr), ACL_SUCCESS);
  const aclError latest = aclrtHostUnregister(this);
  ASSERT_NE(latest, ACL_SUCCESS);
  EXPECT_EQ(aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL), latest);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), latest);
  EXPECT_EQ(aclrtGetLastError(ACL_RT_THREAD_LEVEL), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, RowsAreCopiedBetweenHostAndDevice) {
  uint8_t* device = device_memory(64);
  uint8_t host[64] = {};
  EXPECT_EQ(aclrtMemcpy2d(device, 8, host, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy2d(device, 8, device, 8, 8, 8, ACL_MEMCPY_DEVICE_TO_DEVICE),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_NE(aclrtMemcpy2d(device, 4, host, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  uint8_t* pinned = pinned_memory(64);
  EXPECT_EQ(aclrtMemcpy2dAsync(device, 8, pinned, 8, 8, 8, ACL_MEMCPY_HOST_TO_DEVICE, s_),
            ACL_SUCCESS);
  EXPECT_NE(aclrtMemcpy2dAsync(device, 6'000'000, pinned, 6'000'000, 5'000'001, 1,
                               ACL_MEMCPY_HOST_TO_DEVICE, s_),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
}

TEST_F(RuntimeFacts, AResetByForceWorksOnce) {
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(1), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDeviceForce(1), ACL_SUCCESS);
  EXPECT_NE(aclrtResetDeviceForce(1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);  // it was set twice
}

}  // namespace
}  // namespace anynpu::acl
