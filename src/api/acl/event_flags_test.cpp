// SPDX-License-Identifier: Apache-2.0
// What events of each kind may be used for, waits with time limits, events of several processes,
// counting notifies, host functions, callbacks about streams.
#include <pthread.h>

#include <atomic>
#include <future>
#include <thread>

#include "acl/rt/device_query.h"
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

class Events : public InstanceTest {
 protected:
  using Create = aclError (*)(aclrtEvent*, uint32_t);
  aclrtEvent make(Create create, uint32_t flag) {
    aclrtEvent event = nullptr;
    EXPECT_EQ(create(&event, flag), ACL_SUCCESS) << flag;
    made_.push_back(event);
    return event;
  }
  aclrtEvent plain() {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    made_.push_back(event);
    return event;
  }
  void TearDown() override {
    for (aclrtEvent event : made_) EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    InstanceTest::TearDown();
  }
  std::vector<aclrtEvent> made_;
};

TEST_F(Events, ResetIsForFlaggedEventsWithSync) {
  EXPECT_EQ(aclrtResetEvent(make(aclrtCreateEventWithFlag, ACL_EVENT_SYNC), s_), ACL_SUCCESS);
  EXPECT_NE(aclrtResetEvent(plain(), s_), ACL_SUCCESS);
  EXPECT_NE(aclrtResetEvent(make(aclrtCreateEventWithFlag, ACL_EVENT_TIME_LINE), s_), ACL_SUCCESS);
  EXPECT_NE(aclrtResetEvent(make(aclrtCreateEventExWithFlag, ACL_EVENT_SYNC), s_), ACL_SUCCESS);
}

TEST_F(Events, StreamsWaitForEventsWithSync) {
  for (const Create create : {aclrtCreateEventWithFlag, aclrtCreateEventExWithFlag}) {
    const aclrtEvent sync = make(create, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE);
    const aclrtEvent timed = make(create, ACL_EVENT_TIME_LINE);
    ASSERT_EQ(aclrtRecordEvent(sync, s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(timed, s_), ACL_SUCCESS);
    EXPECT_EQ(aclrtStreamWaitEvent(t_, sync), ACL_SUCCESS);
    EXPECT_NE(aclrtStreamWaitEvent(t_, timed), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
}

TEST_F(Events, ExtendedEventsAnswerToQueryEventStatusAlone) {
  const aclrtEvent event = make(aclrtCreateEventExWithFlag, ACL_EVENT_SYNC);
  aclrtEventStatus status;
  aclrtEventWaitStatus waits;
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
  EXPECT_NE(aclrtQueryEvent(event, &status), ACL_SUCCESS);
  EXPECT_NE(aclrtQueryEventWaitStatus(event, &waits), ACL_SUCCESS);
  EXPECT_EQ(aclrtQueryEventStatus(event, &recorded), ACL_SUCCESS);
  EXPECT_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE) << "never recorded";
  EXPECT_EQ(aclrtQueryEventStatus(plain(), &recorded), ACL_SUCCESS);
  EXPECT_EQ(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

TEST_F(Events, FlagsThatStandAloneAreNotCombined) {
  aclrtEvent event = nullptr;
  EXPECT_NE(aclrtCreateEventExWithFlag(&event, ACL_EVENT_IPC | ACL_EVENT_SYNC), ACL_SUCCESS);
  EXPECT_NE(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL | ACL_EVENT_SYNC), ACL_SUCCESS);
  EXPECT_NE(aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC), ACL_SUCCESS);
}

TEST_F(Events, AWaitThatTakesTooLongShowsAtTheSynchronize) {
  auto* gate = device_memory<uint64_t>(1);
  write(gate, uint64_t{0});
  const aclrtEvent event = make(aclrtCreateEventWithFlag, ACL_EVENT_SYNC);
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(t_, event, -1), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(t_, event, 1), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(t_, event, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(t_, event, 60, ACL_EVENT_WAIT_DEFAULT), ACL_SUCCESS);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
}

TEST_F(Events, AnEventOfSeveralProcessesIsOpenedByItsHandle) {
  const aclrtEvent event = make(aclrtCreateEventExWithFlag, ACL_EVENT_IPC);
  aclrtIpcEventHandle handle = {};
  ASSERT_EQ(aclrtIpcGetEventHandle(event, &handle), ACL_SUCCESS);
  aclrtEvent opened = nullptr;
  ASSERT_EQ(aclrtIpcOpenEventHandle(handle, &opened), ACL_SUCCESS);
  made_.push_back(opened);
  auto* gate = device_memory<uint64_t>(1);
  write(gate, uint64_t{0});
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, opened), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', t_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(t_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  EXPECT_EQ(aclrtQueryEventStatus(opened, &recorded), ACL_SUCCESS);
  EXPECT_EQ(recorded, ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(opened, 10), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  write(gate, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(opened), ACL_SUCCESS);
  EXPECT_EQ(aclrtQueryEventStatus(opened, &recorded), ACL_SUCCESS);
  EXPECT_EQ(recorded, ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(trail_.take(), "b");
}

TEST_F(Events, EventsOfSeveralProcessesAreRefusedInMostCalls) {
  const aclrtEvent event = make(aclrtCreateEventExWithFlag, ACL_EVENT_IPC);
  aclrtEventStatus status;
  aclrtEventWaitStatus waits;
  uint64_t stamp = 0;
  uint32_t id = 0;
  float ms = 0;
  EXPECT_NE(aclrtResetEvent(event, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtQueryEvent(event, &status), ACL_SUCCESS);
  EXPECT_NE(aclrtQueryEventWaitStatus(event, &waits), ACL_SUCCESS);
  EXPECT_NE(aclrtEventElapsedTime(&ms, event, event), ACL_SUCCESS);
  EXPECT_NE(aclrtEventGetTimestamp(event, &stamp), ACL_SUCCESS);
  EXPECT_NE(aclrtGetEventId(event, &id), ACL_SUCCESS);
  aclrtIpcEventHandle handle = {};
  EXPECT_NE(aclrtIpcGetEventHandle(plain(), &handle), ACL_SUCCESS);
  aclrtEvent opened = nullptr;
  EXPECT_NE(aclrtIpcOpenEventHandle(handle, &opened), ACL_SUCCESS) << "64 zeros";
}

class Counting : public InstanceTest {
 protected:
  void SetUp() override {
    InstanceTest::SetUp();
    ASSERT_EQ(aclrtCntNotifyCreate(&notify_, 0), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtCntNotifyDestroy(notify_), ACL_SUCCESS);
    InstanceTest::TearDown();
  }
  aclError record(aclrtCntNotifyRecordMode mode, uint32_t value) {
    aclrtCntNotifyRecordInfo info = {mode, value};
    return aclrtCntNotifyRecord(notify_, s_, &info);
  }
  aclError wait(aclrtCntNotifyWaitMode mode, uint32_t value, bool clear = false,
                uint32_t timeout = 0) {
    aclrtCntNotifyWaitInfo info = {mode, value, timeout, clear, {}};
    return aclrtCntNotifyWaitWithTimeout(notify_, t_, &info);
  }
  bool passed() { return aclrtSynchronizeStreamWithTimeout(t_, 20) == ACL_SUCCESS; }
  aclrtCntNotify notify_ = nullptr;
};

TEST_F(Counting, RecordsSetAddAndChangeBits) {
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 5), ACL_SUCCESS);
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 3), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 8), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_BIT_OR_MODE, 3), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 11), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_BIT_AND_MODE, 9), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_WITH_BITMASK_MODE, 9), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_SET_VALUE_MODE, 2), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, 3), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_MODE, 2), ACL_SUCCESS);
  EXPECT_FALSE(passed());
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_BIGGER_OR_EQUAL_MODE, 3, true), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_LESS_MODE, 1), ACL_SUCCESS) << "cleared";
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
}

TEST_F(Counting, AResetIsATaskAndAWaitMayTimeOut) {
  ASSERT_EQ(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 5), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtCntNotifyReset(notify_, t_), ACL_SUCCESS);
  ASSERT_EQ(wait(ACL_RT_CNT_NOTIFY_WAIT_EQUAL_MODE, 5, false, 1), ACL_SUCCESS);
  EXPECT_NE(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  uint32_t id = 0;
  EXPECT_EQ(aclrtCntNotifyGetId(notify_, &id), ACL_SUCCESS);
  EXPECT_NE(record(static_cast<aclrtCntNotifyRecordMode>(3), 1), ACL_SUCCESS);
  EXPECT_NE(record(ACL_RT_CNT_NOTIFY_RECORD_ADD_MODE, 0), ACL_SUCCESS) << "values are 1 and more";
  EXPECT_NE(wait(static_cast<aclrtCntNotifyWaitMode>(5), 1), ACL_SUCCESS);
  aclrtCntNotify other = nullptr;
  EXPECT_NE(aclrtCntNotifyCreate(&other, 1), ACL_SUCCESS);
}

using HostFunctions = InstanceTest;

TEST_F(HostFunctions, AFunctionRunsInAThreadOfTheRuntimeAndHoldsItsStream) {
  struct Seen {
    pthread_t thread{};
    std::atomic<bool> done{false};
  } seen;
  ASSERT_EQ(aclrtLaunchHostFunc(
                s_,
                [](void* data) {
                  auto& seen = *static_cast<Seen*>(data);
                  seen.thread = pthread_self();
                  seen.done = true;
                },
                &seen),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_TRUE(seen.done);
  EXPECT_FALSE(pthread_equal(seen.thread, pthread_self()));
  EXPECT_NE(aclrtLaunchHostFunc(s_, nullptr, nullptr), ACL_SUCCESS);
}

TEST_F(HostFunctions, ASubscribedThreadRunsThem) {
  std::promise<uint64_t> ready;
  std::atomic<bool> stop{false};
  std::thread server([&] {
    ready.set_value(static_cast<uint64_t>(pthread_self()));
    while (!stop) (void)aclrtProcessHostFunc(20);
  });
  const uint64_t thread = ready.get_future().get();
  EXPECT_NE(aclrtSubscribeHostFunc(thread, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSubscribeHostFunc(thread, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtSubscribeHostFunc(thread, s_), ACL_SUCCESS) << "one thread a stream";
  uint64_t seen = 0;
  ASSERT_EQ(
      aclrtLaunchHostFunc(
          s_,
          [](void* data) { *static_cast<uint64_t*>(data) = static_cast<uint64_t>(pthread_self()); },
          &seen),
      ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(seen, thread);
  EXPECT_EQ(aclrtUnSubscribeHostFunc(thread, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtUnSubscribeHostFunc(thread, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtProcessHostFunc(0), ACL_SUCCESS);
  stop = true;
  server.join();
}

struct StateSeen {
  std::vector<std::pair<aclrtStream, aclrtStreamState>> calls;
};
void see_state(aclrtStream stream, aclrtStreamState state, void* data) {
  static_cast<StateSeen*>(data)->calls.emplace_back(stream, state);
}

TEST_F(HostFunctions, CallbacksAreToldOfStreamsThatComeAndGo) {
  StateSeen seen;
  ASSERT_EQ(aclrtRegStreamStateCallback("test", see_state, &seen), ACL_SUCCESS);
  EXPECT_NE(aclrtRegStreamStateCallback("test", see_state, &seen), ACL_SUCCESS) << "the same name";
  EXPECT_NE(aclrtRegStreamStateCallback("", see_state, &seen), ACL_SUCCESS);
  EXPECT_NE(aclrtRegStreamStateCallback(nullptr, see_state, &seen), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(seen.calls.size(), 1u);
  EXPECT_EQ(seen.calls[0], std::make_pair(stream, ACL_RT_STREAM_STATE_CREATE_POST));
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  ASSERT_EQ(seen.calls.size(), 2u);
  EXPECT_EQ(seen.calls[1], std::make_pair(stream, ACL_RT_STREAM_STATE_DESTROY_PRE));
  aclrtContext context = nullptr, before = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&context, 0), ACL_SUCCESS);
  EXPECT_EQ(seen.calls.size(), 3u) << "default streams, too";
  ASSERT_EQ(aclrtDestroyContext(context), ACL_SUCCESS);
  EXPECT_EQ(seen.calls.size(), 4u);
  ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
  ASSERT_EQ(aclrtRegStreamStateCallback("test", nullptr, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
  EXPECT_EQ(seen.calls.size(), 4u) << "unregistered";
}

using StreamStop = InstanceTest;

TEST_F(StreamStop, WhatRunsIsStoppedAndTheQueueIsKept) {
  auto* gate = device_memory<uint64_t>(1);
  write(gate, uint64_t{0});
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(s_, 10), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamStop(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), 107023);
  EXPECT_EQ(trail_.take(), "a");
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
}

using UserTrace = InstanceTest;

TEST_F(UserTrace, MarksHaveAtMostEighteenBytes) {
  char data[19] = "0123456789";
  EXPECT_EQ(aclrtProfTrace(data, 10, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProfTrace(data, 18, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtProfTrace(data, 19, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtProfTrace(nullptr, 4, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutWithMs(1500), ACL_SUCCESS);
  uint32_t limit = 0;
  EXPECT_EQ(aclrtGetOpExecuteTimeout(&limit), ACL_SUCCESS);
  EXPECT_EQ(limit, 1500u);
  EXPECT_EQ(aclrtSetOpExecuteTimeOutWithMs(0), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
