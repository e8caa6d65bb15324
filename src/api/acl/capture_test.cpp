// SPDX-License-Identifier: Apache-2.0
// Captures of streams, sentence by sentence: states, modes, forbidden calls, joined streams.
#include <functional>
#include <thread>

#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

using Capture = InstanceTest;

TEST_F(Capture, TasksAreRecordedAndRunOnlyWhenTheInstanceIsExecuted) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "");
  EXPECT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "ab");
  EXPECT_EQ(run(instance, t_), ACL_SUCCESS);
  EXPECT_EQ(run(instance, nullptr), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "abab");
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, TasksSentBeforeTheBeginStillRunAtOnce) {
  ASSERT_EQ(trail_.leave('x', s_), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "x");
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, CopiesFillsAndOperatorsAreTasksThatRunAgain) {
  auto* from = device_memory<float>(4);
  auto* to = device_memory<float>(4);
  auto* sum = device_memory<float>(4);
  auto* host = reinterpret_cast<float*>(pinned_memory(16));
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(to, 16, 0, 16, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(from, 16, host, 16, ACL_MEMCPY_HOST_TO_DEVICE, s_), ACL_SUCCESS);
  ASSERT_EQ(add(from, to, sum, 4, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(to, 16, sum, 16, ACL_MEMCPY_DEVICE_TO_DEVICE, s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (const float value : {1.5f, -2.0f}) {
    std::fill_n(host, 4, value);
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(read(to), value);
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, TheStateGoesFromNoneToActiveToInvalidatedAndBack) {
  EXPECT_EQ(status(s_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  EXPECT_EQ(status(s_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(aclrtSynchronizeStream(s_), 107041);
  EXPECT_EQ(status(s_), ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
  EXPECT_EQ(end_code(s_), 507903);
  EXPECT_EQ(status(s_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  EXPECT_EQ(trail_.leave('a', s_), ACL_SUCCESS) << "the stream runs tasks again";
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "a");
}

TEST_F(Capture, GetInfoGivesTheInstanceThatEndReturns) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  aclmdlRICaptureStatus state;
  aclmdlRI during = nullptr;
  ASSERT_EQ(aclmdlRICaptureGetInfo(s_, &state, &during), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(during, t_), 107026) << "still being captured";
  EXPECT_EQ(end(s_), during);
  EXPECT_EQ(run(during, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "a");
  EXPECT_EQ(aclmdlRIDestroy(during), ACL_SUCCESS);
}

TEST_F(Capture, BeginIsRefusedForTheDefaultStreamAndForOneThatIsCaptured) {
  EXPECT_EQ(begin(nullptr), 107031);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  EXPECT_EQ(begin(s_), 107027);
  EXPECT_EQ(begin(t_, static_cast<aclmdlRICaptureMode>(3)), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
}

TEST_F(Capture, EndNeedsACaptureTheStreamItBeganOnAndItsThread) {
  EXPECT_EQ(end_code(s_), 107029);
  const aclrtEvent e = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e), ACL_SUCCESS);
  EXPECT_EQ(status(t_), ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(end_code(t_), 107036);
  std::thread([&] {
    aclrtSetDevice(0);
    EXPECT_EQ(end_code(s_), 107038);
    aclrtResetDevice(0);
  }).join();
  EXPECT_EQ(end_code(s_), 107025);
  EXPECT_EQ(status(t_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
}

TEST_F(Capture, ARelaxedCaptureMayBeEndedByAnotherThread) {
  ASSERT_EQ(begin(s_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  std::thread([&] {
    aclrtSetDevice(0);
    EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
    aclrtResetDevice(0);
  }).join();
}

TEST_F(Capture, WaitingForOrQueryingWhatIsCapturedBreaksTheCaptureInEveryMode) {
  const aclrtEvent e = joining_event();
  aclrtStreamStatus stream_status;
  aclrtEventRecordedStatus event_status;
  const std::vector<std::function<aclError()>> calls = {
      [&] { return aclrtSynchronizeStream(s_); },
      [&] { return aclrtSynchronizeStreamWithTimeout(s_, 10); },
      [&] { return aclrtStreamQuery(s_, &stream_status); },
      [&] { return aclrtSynchronizeEvent(e); },
      [&] { return aclrtQueryEventStatus(e, &event_status); },
      [&] { return aclrtSynchronizeDevice(); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(begin(s_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(e, s_), ACL_SUCCESS);
    EXPECT_EQ(calls[i](), 107041) << i;
    EXPECT_EQ(end_code(s_), 507903) << i;
  }
}

TEST_F(Capture, UnsafeCallsAreForbiddenByTheModeOfTheCapture) {
  auto* memory = device_memory(64);
  uint8_t host[64] = {};
  const std::vector<std::function<aclError()>> calls = {
      [&] { return aclrtMemset(memory, 64, 1, 64); },
      [&] { return aclrtMemcpy(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE); },
      [&] { return aclrtMemcpy2d(memory, 8, host, 8, 8, 2, ACL_MEMCPY_HOST_TO_DEVICE); },
  };
  for (size_t i = 0; i < calls.size(); ++i) {
    ASSERT_EQ(begin(s_), ACL_SUCCESS);
    EXPECT_EQ(calls[i](), 107030) << i;
    EXPECT_EQ(end_code(s_), 507903) << i;
    ASSERT_EQ(begin(s_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
    EXPECT_EQ(calls[i](), ACL_SUCCESS) << i;
    EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS) << i;
  }
}

TEST_F(Capture, AsynchronousCopiesNeedPinnedMemory) {
  auto* memory = device_memory(64);
  uint8_t host[64] = {};
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, s_), 107041);
  EXPECT_EQ(end_code(s_), 507903);
  std::fill_n(host, 64, uint8_t{7});
  ASSERT_EQ(begin(s_, ACL_MODEL_RI_CAPTURE_MODE_RELAXED), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpyAsync(memory, 64, host, 64, ACL_MEMCPY_HOST_TO_DEVICE, s_), ACL_SUCCESS);
  EXPECT_EQ(read(memory), 7) << "done at once, and not recorded";
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
}

TEST_F(Capture, AThreadExchangesItsModeAndGetsTheOneBefore) {
  auto* memory = device_memory(64);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  ASSERT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL);
  EXPECT_EQ(aclrtMemset(memory, 64, 1, 64), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureThreadExchangeMode(&mode), ACL_SUCCESS);
  EXPECT_EQ(mode, ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
  EXPECT_EQ(aclrtMemset(memory, 64, 1, 64), 107030);
  EXPECT_EQ(end_code(s_), 507903);
}

TEST_F(Capture, OtherThreadsAreBoundByGlobalCapturesAlone) {
  auto* memory = device_memory(64);
  const auto elsewhere = [&](aclmdlRICaptureMode own) {
    aclError code = -1;
    std::thread([&] {
      aclrtSetDevice(0);
      aclmdlRICaptureMode mode = own;
      aclmdlRICaptureThreadExchangeMode(&mode);
      code = aclrtMemset(memory, 64, 1, 64);
      aclrtResetDevice(0);
    }).join();
    return code;
  };
  const struct {
    aclmdlRICaptureMode capture, thread;
    aclError expected;
  } cases[] = {
      {ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, 107030},
      {ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, ACL_SUCCESS},
      {ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_MODEL_RI_CAPTURE_MODE_RELAXED, ACL_SUCCESS},
      {ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_SUCCESS},
      {ACL_MODEL_RI_CAPTURE_MODE_RELAXED, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL, ACL_SUCCESS},
  };
  for (const auto& each : cases) {
    ASSERT_EQ(begin(s_, each.capture), ACL_SUCCESS);
    EXPECT_EQ(elsewhere(each.thread), each.expected) << each.capture << " " << each.thread;
    EXPECT_EQ(end_code(s_), each.expected ? 507903 : ACL_SUCCESS);
  }
  ASSERT_EQ(begin(s_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(memory, 64, 1, 64), 107030) << "the capturing thread itself";
  EXPECT_EQ(end_code(s_), 507903);
}

TEST_F(Capture, OtherStreamsJoinAndComeBack) {
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e2), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('c', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  EXPECT_EQ(trail_.take(), "");
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "abc");
  }
  ASSERT_EQ(trail_.leave('x', t_), ACL_SUCCESS) << "the joined stream is ordinary again";
  ASSERT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "x");
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, StreamsJoinThroughOthers) {
  aclrtStream third = nullptr;
  ASSERT_EQ(aclrtCreateStream(&third), ACL_SUCCESS);
  const aclrtEvent e1 = joining_event(), e2 = joining_event(), e3 = joining_event(),
                   e4 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(third, e2), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', third), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e3, third), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e3), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('c', t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e4, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e4), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "abc");
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(third), ACL_SUCCESS);
}

TEST_F(Capture, AStreamThatDoesNotComeBackFailsTheEnd) {
  for (const char* last : {"task after the record", "record nobody waits for", "no record"}) {
    const aclrtEvent e1 = joining_event(), e2 = joining_event();
    ASSERT_EQ(begin(s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
    if (last[0] != 'n') {
      ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
    }
    if (last[0] == 't') {
      ASSERT_EQ(aclrtStreamWaitEvent(s_, e2), ACL_SUCCESS);
      ASSERT_EQ(trail_.leave('x', t_), ACL_SUCCESS);
    }
    EXPECT_EQ(end_code(s_), 107025) << last;
    EXPECT_EQ(status(s_), ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  }
}

TEST_F(Capture, EventsOfOneCaptureStayInsideIt) {
  const aclrtEvent inside = joining_event(), outside = joining_event(), other = joining_event();
  ASSERT_EQ(aclrtRecordEvent(outside, s_), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(s_, outside), 107024) << "no record in the capture";
  ASSERT_EQ(aclrtRecordEvent(inside, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(inside, t_), 107028) << "on a stream outside";
  ASSERT_EQ(begin(t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(other, t_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(t_, inside), 107032) << "ties two captures";
  EXPECT_EQ(aclmdlRIDestroy(end(t_)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(t_, inside), 107028) << "after the capture";
  EXPECT_EQ(aclrtSynchronizeEvent(inside), 107028);
  EXPECT_EQ(aclrtRecordEvent(inside, t_), ACL_SUCCESS) << "a new record frees it";
  EXPECT_EQ(aclrtSynchronizeEvent(inside), ACL_SUCCESS);
}

TEST_F(Capture, OnlyEventsMadeForItJoinStreams) {
  for (const uint32_t flag : {ACL_EVENT_TIME_LINE, ACL_EVENT_IPC}) {
    aclrtEvent event = nullptr;
    ASSERT_EQ(aclrtCreateEventExWithFlag(&event, flag), ACL_SUCCESS);
    ASSERT_EQ(begin(s_), ACL_SUCCESS);
    EXPECT_EQ(aclrtRecordEvent(event, s_), ACL_ERROR_RT_PARAM_INVALID) << flag;
    EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  }
}

TEST_F(Capture, AnInstanceWithoutTasksCannotBeExecuted) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  EXPECT_NE(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, AFailureInsideShowsAtTheNextSynchronize) {
  auto* memory = device_memory(64);
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, s_, 20), ACL_SUCCESS);  // it never comes
  ASSERT_EQ(aclrtMemsetAsync(memory, 64, 5, 64, s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  EXPECT_NE(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(Capture, AFailureOfAJoinedStreamEndsTheRun) {
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, t_, 20), ACL_SUCCESS);  // it never comes
  ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e2), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('c', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (int i = 0; i < 10; ++i) {
    EXPECT_NE(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "");
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(Capture, AJoinedStreamWhoseWaitFailsEndsTheRun) {
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, t_, 20), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e2), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  EXPECT_NE(run(instance, s_), ACL_SUCCESS) << "the notify never comes";
  ASSERT_EQ(aclrtRecordNotify(notify, s_), ACL_SUCCESS);
  EXPECT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
}

TEST_F(Capture, ExecutionsOfOneInstanceOnTwoStreamsFollowEachOther) {
  auto* value = device_memory<uint64_t>(1);
  write(value, uint64_t{0});
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  ASSERT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(instance, t_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), 107037) << "it runs";
  EXPECT_EQ(aclmdlRIUpdate(instance), 107040);
  write(value, uint64_t{1});
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "abab");
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, AnAbortedStreamDropsARunThatWaits) {
  auto* value = device_memory<uint64_t>(1);
  write(value, uint64_t{0});
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e2), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  ASSERT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(s_, 20), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtStreamAbort(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), 107023);
  EXPECT_EQ(trail_.take(), "");
  write(value, uint64_t{1});
  EXPECT_EQ(run(instance, s_), ACL_SUCCESS) << "it can be executed again";
  EXPECT_EQ(trail_.take(), "b");
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Capture, ManyExecutionsMayBeQueued) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (int i = 0; i < 100; ++i) ASSERT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), std::string(100, 'a'));
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_ERROR_INVALID_PARAM);
}

TEST_F(Capture, AStreamDestroyedDuringItsCaptureLeavesNothing) {
  aclrtStream third = nullptr;
  ASSERT_EQ(aclrtCreateStream(&third), ACL_SUCCESS);
  ASSERT_EQ(begin(third), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', third), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(third), ACL_SUCCESS);
  auto* memory = device_memory(8);
  EXPECT_EQ(aclrtMemset(memory, 8, 0, 8), ACL_SUCCESS) << "no capture is open any more";
}

}  // namespace
}  // namespace anynpu::acl
