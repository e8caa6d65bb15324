// SPDX-License-Identifier: Apache-2.0
// Task groups and their updates, and the events that order an update against a run.
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

class Groups : public InstanceTest {
 protected:
  void SetUp() override {
    InstanceTest::SetUp();
    for (float** each : {&one_, &two_, &sum_}) *each = device_memory<float>(4);
    for (int i = 0; i < 4; ++i) {
      write(one_ + i, 1.0f);
      write(two_ + i, 2.0f);
    }
  }
  // one + one, in a group.
  aclrtTaskGrp add_group() {
    aclrtTaskGrp group = nullptr;
    EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(s_), ACL_SUCCESS);
    EXPECT_EQ(add(one_, one_, sum_, 4, s_), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(s_, &group), ACL_SUCCESS);
    return group;
  }
  float *one_ = nullptr, *two_ = nullptr, *sum_ = nullptr;
};

TEST_F(Groups, AnUpdateReplacesTheTasksOfAGroup) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  const aclrtTaskGrp group = add_group();
  const aclmdlRI instance = end(s_);
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(read(sum_), 2.0f);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(t_, group), ACL_SUCCESS);
    ASSERT_EQ(add(one_, two_, sum_, 4, t_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(read(sum_), 3.0f);
  }
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(t_, group), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(t_), ACL_SUCCESS) << "an empty bracket";
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(read(sum_), 3.0f) << "changes nothing";
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Groups, AGroupTakesLaunchesOfOperatorsAlone) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(sum_, 16, 0, 16, s_), 507009);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(s_), 107033) << "nested";
  aclrtTaskGrp group = nullptr;
  ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(s_, &group), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(s_, &group), 107033) << "unpaired";
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskGrpBegin(s_), 107029) << "not being captured";
}

TEST_F(Groups, NothingHappensOnOtherStreamsWhileAGroupIsOpen) {
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e1), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureTaskGrpBegin(s_), ACL_SUCCESS);
  EXPECT_EQ(add(one_, one_, sum_, 4, t_), 107034);
  aclrtTaskGrp group = nullptr;
  EXPECT_EQ(aclmdlRICaptureTaskGrpEnd(t_, &group), 107033) << "of another stream";
  ASSERT_EQ(aclmdlRICaptureTaskGrpEnd(s_, &group), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e2, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e2), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
}

TEST_F(Groups, UpdatesAreRefusedOutOfOrder) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  const aclrtTaskGrp group = add_group();
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(s_, group), 107027) << "a stream that is captured";
  const aclmdlRI instance = end(s_);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateEnd(t_), 107033);
  ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(t_, group), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(t_, group), 107033);
  EXPECT_EQ(aclmdlRICaptureTaskUpdateBegin(s_, group), 107033) << "no two updates of one group";
  ASSERT_EQ(add(one_, two_, sum_, 4, t_), ACL_SUCCESS);
  EXPECT_NE(add(one_, two_, sum_, 4, t_), ACL_SUCCESS) << "more tasks than the group has";
  ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_NE(aclmdlRICaptureTaskUpdateBegin(t_, group), ACL_SUCCESS) << "gone with its instance";
}

TEST_F(Groups, AnExternalEventOrdersAnUpdateAgainstARun) {
  aclrtEvent e = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&e, ACL_EVENT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(s_, e), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(e, s_), ACL_SUCCESS);
  const aclrtTaskGrp group = add_group();
  const aclmdlRI instance = end(s_);
  const std::pair<float*, float> steps[] = {{two_, 3.0f}, {one_, 2.0f}, {two_, 3.0f}};
  for (const auto& [other, expected] : steps) {
    ASSERT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskUpdateBegin(t_, group), ACL_SUCCESS);
    ASSERT_EQ(add(one_, other, sum_, 4, t_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRICaptureTaskUpdateEnd(t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(e, t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
    EXPECT_EQ(read(sum_), expected);
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(e), ACL_SUCCESS);
}

using OutsideEvents = InstanceTest;

TEST_F(OutsideEvents, AGraphWaitsForARecordMadeElsewhere) {
  const aclrtEvent e = joining_event();
  auto* gate = device_memory<uint64_t>(1);
  write(gate, uint64_t{0});
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(s_, e, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (uint64_t turn = 1; turn <= 3; ++turn) {
    ASSERT_EQ(aclrtValueWait(gate, turn, ACL_STREAM_WAIT_VALUE_EQ, t_), ACL_SUCCESS);
    ASSERT_EQ(trail_.leave('a', t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(e, t_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(s_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    write(gate, turn);
    ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "ab");
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(OutsideEvents, ARecordOfAGraphIsSeenOutsideEachTimeItRuns) {
  const aclrtEvent e = joining_event();
  auto* gate = device_memory<uint64_t>(1);
  write(gate, uint64_t{0});
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(gate, 1, ACL_STREAM_WAIT_VALUE_EQ, s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEventWithFlag(e, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (int turn = 0; turn < 3; ++turn) {
    write(gate, uint64_t{0});
    ASSERT_EQ(aclmdlRIExecuteAsync(instance, s_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(t_, e), ACL_SUCCESS);
    ASSERT_EQ(trail_.leave('b', t_), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(t_, 5), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
    write(gate, uint64_t{1});
    ASSERT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeEvent(e), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "ab");
    ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(OutsideEvents, OneGraphRecordsAndAnotherWaits) {
  const aclrtEvent e = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEventWithFlag(e, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_SUCCESS);
  const aclmdlRI first = end(s_);
  ASSERT_EQ(begin(t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(t_, e, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', t_), ACL_SUCCESS);
  const aclmdlRI second = end(t_);
  for (int turn = 0; turn < 10; ++turn) {
    ASSERT_EQ(aclmdlRIExecuteAsync(first, s_), ACL_SUCCESS);
    ASSERT_EQ(aclmdlRIExecuteAsync(second, t_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(t_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "ab");
  }
  ASSERT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(first), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(second), ACL_SUCCESS);
}

TEST_F(OutsideEvents, TheFlagNeedsACapturingStreamAndAnEventMadeForIt) {
  const aclrtEvent e = joining_event();
  EXPECT_EQ(aclrtRecordEventWithFlag(e, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEventWithFlag(s_, e, 0, ACL_EVENT_WAIT_EXTERNAL),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordEventWithFlag(e, s_, 2), ACL_ERROR_RT_PARAM_INVALID);
  aclrtEvent timed = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&timed, ACL_EVENT_TIME_LINE | ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEventWithFlag(timed, s_, ACL_EVENT_RECORD_EXTERNAL),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEventWithFlag(s_, e, 5, ACL_EVENT_WAIT_EXTERNAL),
            ACL_ERROR_RT_PARAM_INVALID)
      << "a timeout";
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(timed), ACL_SUCCESS);
}

TEST_F(OutsideEvents, AnEventHasOneOperationOutsideInAGraph) {
  const aclrtEvent e = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEventWithFlag(e, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEventWithFlag(e, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEventWithFlag(s_, e, 0, ACL_EVENT_WAIT_EXTERNAL),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
}

TEST_F(OutsideEvents, TheFlagOfAnEventIsThatOfItsFirstCall) {
  const aclrtEvent e = joining_event();
  ASSERT_EQ(aclrtRecordEvent(e, s_), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEventWithFlag(e, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEventWithFlag(s_, e, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_SUCCESS)
      << "records and waits are apart";
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(s_, e), ACL_ERROR_RT_PARAM_INVALID);
  const aclrtEvent failed = joining_event();
  EXPECT_NE(aclrtRecordEventWithFlag(failed, s_, ACL_EVENT_RECORD_EXTERNAL), ACL_SUCCESS);
  EXPECT_EQ(aclrtRecordEvent(failed, s_), ACL_ERROR_RT_PARAM_INVALID)
      << "a call that failed counts";
}

}  // namespace
}  // namespace anynpu::acl
