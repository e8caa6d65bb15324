// SPDX-License-Identifier: Apache-2.0
// Instances built from bound streams: switches, labels, ends, aborts.
#include <chrono>
#include <thread>
#include <tuple>

#include "acl/rt/device_query.h"
#include "acl/rt/memory_copy.h"
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

class Build : public InstanceTest {
 protected:
  void SetUp() override {
    InstanceTest::SetUp();
    ASSERT_EQ(aclmdlRIBuildBegin(&instance_, 0), ACL_SUCCESS);
  }
  void TearDown() override {
    if (instance_) drop();
    InstanceTest::TearDown();
  }
  void drop() {
    for (aclrtStream stream : bound_) aclmdlRIUnbindStream(instance_, stream);
    EXPECT_EQ(aclmdlRIDestroy(instance_), ACL_SUCCESS);
    for (aclrtStream stream : bound_) EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    instance_ = nullptr;
  }
  aclrtStream bind(uint32_t flag) {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS);
    EXPECT_EQ(aclmdlRIBindStream(instance_, stream, flag), ACL_SUCCESS);
    bound_.push_back(stream);
    return stream;
  }
  aclError finish(aclrtStream last) {
    if (const aclError code = aclmdlRIEndTask(instance_, last)) return code;
    return aclmdlRIBuildEnd(instance_, nullptr);
  }
  aclmdlRI instance_ = nullptr;
  std::vector<aclrtStream> bound_;
};

TEST_F(Build, BoundStreamsAreRecordedAndRunAnyNumberOfTimes) {
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(head), ACL_SUCCESS) << "at once";
  EXPECT_EQ(trail_.take(), "");
  EXPECT_NE(aclmdlRIExecuteAsync(instance_, s_), ACL_SUCCESS) << "not built yet";
  ASSERT_EQ(finish(head), ACL_SUCCESS);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "a");
    ASSERT_EQ(aclmdlRIExecute(instance_, -1), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "a");
  }
  EXPECT_NE(trail_.leave('b', head), ACL_SUCCESS) << "no more tasks";
  EXPECT_NE(aclmdlRIExecute(instance_, 0), ACL_SUCCESS);
}

TEST_F(Build, OnlyPersistentStreamsAreBoundAndOnce) {
  EXPECT_NE(aclmdlRIBindStream(instance_, s_, 0), ACL_SUCCESS) << "not persistent";
  EXPECT_NE(aclmdlRIBindStream(instance_, nullptr, 0), ACL_SUCCESS);
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  EXPECT_NE(aclmdlRIBindStream(instance_, head, 0), ACL_SUCCESS) << "bound already";
  EXPECT_NE(aclmdlRIBindStream(instance_, s_, 5), ACL_SUCCESS) << "a flag that is none";
  EXPECT_EQ(aclmdlRIEndTask(instance_, s_), 107005);
  EXPECT_EQ(aclmdlRIUnbindStream(instance_, s_), 107005);
  EXPECT_EQ(aclmdlRIUnbindStream(instance_, head), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIUnbindStream(instance_, head), 107005) << "no longer bound";
  aclmdlRI other = nullptr;
  EXPECT_NE(aclmdlRIBuildBegin(&other, 1), ACL_SUCCESS) << "a reserved flag";
}

TEST_F(Build, CacheOperationsWithBarriersAreForBoundStreams) {
  auto* memory = device_memory(4096);
  aclrtBarrierTaskInfo barriers{};
  barriers.barrierNum = 1;
  barriers.cmoInfo[0] = {ACL_RT_CMO_TYPE_INVALID, 7};
  EXPECT_EQ(aclrtCmoAsyncWithBarrier(memory, 4096, ACL_RT_CMO_TYPE_INVALID, 7, s_), 107005);
  EXPECT_EQ(aclrtCmoWaitBarrier(&barriers, s_, 0), 107005);
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  EXPECT_EQ(aclrtCmoAsyncWithBarrier(memory, 4096, ACL_RT_CMO_TYPE_INVALID, 7, head), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoAsyncWithBarrier(memory, 4096, ACL_RT_CMO_TYPE_FLUSH, 0, head), ACL_SUCCESS);
  EXPECT_NE(aclrtCmoAsyncWithBarrier(memory, 4096, ACL_RT_CMO_TYPE_FLUSH, 7, head), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoWaitBarrier(&barriers, head, 0), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  ASSERT_EQ(finish(head), ACL_SUCCESS);
  ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "a");
}

TEST_F(Build, OtherStreamsRunWhenTheyAreActivated) {
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream second = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  const aclrtStream never = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(second, head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', second), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('x', never), ACL_SUCCESS);
  ASSERT_EQ(finish(second), ACL_SUCCESS);
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "ab");
  }
  EXPECT_EQ(aclrtActiveStream(s_, head), 107005);
}

// s1: op1, num <- target, num == 1 -> s3, num == 2 -> s4; s2: op2, end; s3: op3, end; s4: s2.
TEST_F(Build, ASwitchGoesOnInTheOtherStreamIfTwoValuesCompareSo) {
  auto* number = device_memory<int32_t>(1);
  auto* target = device_memory<int32_t>(1);
  auto* constants = device_memory<int32_t>(2);
  write(constants, 1);
  write(constants + 1, 2);
  const aclrtStream s1 = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream s2 = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  const aclrtStream s3 = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  const aclrtStream s4 = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  const aclrtStream last = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  ASSERT_EQ(trail_.leave('1', s1), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemcpyAsync(number, 4, target, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, s1), ACL_SUCCESS);
  const auto switch_to = [&](int32_t* value, aclrtStream stream) {
    return aclrtSwitchStream(number, ACL_RT_EQUAL, value, ACL_RT_SWITCH_INT32, stream, nullptr, s1);
  };
  ASSERT_EQ(switch_to(constants, s3), ACL_SUCCESS);
  ASSERT_EQ(switch_to(constants + 1, s4), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(last, s1), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('2', s2), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(last, s2), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('3', s3), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(last, s3), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(s2, s4), ACL_SUCCESS);
  ASSERT_EQ(finish(last), ACL_SUCCESS);
  const std::pair<int32_t, std::string> cases[] = {{1, "13"}, {2, "12"}, {7, "1"}, {1, "13"}};
  for (const auto& [value, expected] : cases) {
    write(target, value);
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), expected) << value;
  }
}

TEST_F(Build, ASwitchComparesInSixWaysAndTwoWidths) {
  auto* left = device_memory<int64_t>(1);
  auto* right = device_memory<int64_t>(1);
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream yes = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  const aclrtStream last = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  EXPECT_NE(aclrtSwitchStream(left, static_cast<aclrtCondition>(6), right, ACL_RT_SWITCH_INT64, yes,
                              nullptr, head),
            ACL_SUCCESS);
  EXPECT_NE(aclrtSwitchStream(left, ACL_RT_LESS, right, ACL_RT_SWITCH_INT64, yes, last, head),
            ACL_SUCCESS)
      << "falseStream is reserved";
  ASSERT_EQ(aclrtSwitchStream(left, ACL_RT_GREATER_OR_EQUAL, right, ACL_RT_SWITCH_INT64, yes,
                              nullptr, head),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(last, head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('y', yes), ACL_SUCCESS);
  ASSERT_EQ(aclrtActiveStream(last, yes), ACL_SUCCESS);
  ASSERT_EQ(finish(last), ACL_SUCCESS);
  const std::tuple<int64_t, int64_t, std::string> cases[] = {
      {int64_t{1} << 40, 3, "y"}, {3, 3, "y"}, {-1, 0, ""}, {2, int64_t{1} << 33, ""}};
  for (const auto& [a, b, expected] : cases) {
    write(left, a);
    write(right, b);
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), expected) << a << " " << b;
  }
}

TEST_F(Build, AnEndTaskThatNobodyReachesFailsTheRun) {
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream never = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  ASSERT_EQ(finish(never), ACL_SUCCESS);
  EXPECT_NE(run(instance_, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "a");
}

TEST_F(Build, LanesThatStillRunAtTheEndTaskStop) {
  auto* never = device_memory<uint64_t>(1);
  write(never, uint64_t{0});
  const aclrtStream waits = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream works = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream ends = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  ASSERT_EQ(aclrtValueWait(never, 1, ACL_STREAM_WAIT_VALUE_EQ, waits), ACL_SUCCESS);
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(
                  works, [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(1)); },
                  nullptr),
              ACL_SUCCESS);
  }
  ASSERT_EQ(trail_.leave('x', waits), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('e', ends), ACL_SUCCESS);
  ASSERT_EQ(finish(ends), ACL_SUCCESS);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "e");
  }
}

TEST_F(Build, EventsJoinBoundStreams) {
  const aclrtEvent e = joining_event();
  const aclrtStream first = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream second = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  ASSERT_EQ(aclrtRecordEvent(e, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(second, e), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', second), ACL_SUCCESS);
  ASSERT_EQ(finish(second), ACL_SUCCESS);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "b");
  }
}

TEST_F(Build, PageableCopiesToBoundStreamsAreDoneAtOnce) {
  auto* memory = device_memory<float>(4);
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const std::vector<float> values(4, 3.0f);
  ASSERT_EQ(aclrtMemcpyAsync(memory, 16, values.data(), 16, ACL_MEMCPY_HOST_TO_DEVICE, head),
            ACL_SUCCESS);
  EXPECT_EQ(read(memory), 3.0f);
}

TEST_F(Build, AbortStopsARunAndItCanBeExecutedAgain) {
  auto* value = device_memory<uint64_t>(1);
  write(value, uint64_t{0});
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  ASSERT_EQ(aclrtValueWait(value, 1, ACL_STREAM_WAIT_VALUE_EQ, head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  ASSERT_EQ(finish(head), ACL_SUCCESS);
  EXPECT_NE(aclmdlRIExecute(instance_, 20), ACL_SUCCESS) << "the time is over";
  EXPECT_EQ(aclmdlRIDestroy(instance_), 107037);
  EXPECT_EQ(aclmdlRIUnbindStream(instance_, head), 107037);
  EXPECT_EQ(aclmdlRIAbort(instance_), ACL_SUCCESS);
  write(value, uint64_t{1});
  ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "a");
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  const aclmdlRI captured = end(s_);
  EXPECT_NE(aclmdlRIAbort(captured), ACL_SUCCESS) << "not for captured ones";
  EXPECT_EQ(aclmdlRIDestroy(captured), ACL_SUCCESS);
}

TEST_F(Build, PersistentTasksCanBeDroppedAndFilledAnew) {
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  EXPECT_NE(aclrtPersistentTaskClean(s_), ACL_SUCCESS) << "not persistent";
  ASSERT_EQ(aclrtPersistentTaskClean(head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', head), ACL_SUCCESS);
  ASSERT_EQ(finish(head), ACL_SUCCESS);
  ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "b");
}

TEST_F(Build, BoundStreamsAreNotAbortedOrStopped) {
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  EXPECT_NE(aclrtStreamAbort(head), ACL_SUCCESS);
  EXPECT_NE(aclrtStreamStop(head), ACL_SUCCESS);
  EXPECT_NE(aclrtStreamStop(nullptr), ACL_SUCCESS);
}

TEST_F(Build, ASwitchOfLabelsJumpsToTheOneItFinds) {
  auto* index = device_memory<uint32_t>(1);
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  aclrtLabel labels[2] = {};
  aclrtLabelList list = nullptr;
  for (aclrtLabel& label : labels) ASSERT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateLabelList(labels, 2, &list), ACL_SUCCESS);
  EXPECT_NE(aclrtCreateLabelList(labels, 0, &list), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', head), ACL_SUCCESS);
  ASSERT_EQ(aclrtSwitchLabelByIndex(index, 2, list, head), ACL_SUCCESS);
  EXPECT_NE(aclrtSwitchLabelByIndex(index, 3, list, head), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetLabel(labels[0], head), ACL_SUCCESS);
  EXPECT_NE(aclrtSetLabel(labels[0], head), ACL_SUCCESS) << "twice";
  EXPECT_NE(aclrtSetLabel(labels[1], s_), ACL_SUCCESS) << "not bound";
  ASSERT_EQ(trail_.leave('b', head), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetLabel(labels[1], head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('c', head), ACL_SUCCESS);
  ASSERT_EQ(finish(head), ACL_SUCCESS);
  const std::pair<uint32_t, std::string> cases[] = {{0, "abc"}, {1, "ac"}, {9, "ac"}};
  for (const auto& [value, expected] : cases) {
    write(index, value);
    ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), expected) << value;
  }
  drop();
  EXPECT_EQ(aclrtDestroyLabelList(list), ACL_SUCCESS);
  for (aclrtLabel label : labels) EXPECT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
  EXPECT_NE(aclrtDestroyLabel(labels[0]), ACL_SUCCESS);
}

TEST_F(Build, ALabelMayLieInAnotherStream) {
  auto* index = device_memory<uint32_t>(1);
  write(index, 0u);
  const aclrtStream head = bind(ACL_MODEL_STREAM_FLAG_HEAD);
  const aclrtStream other = bind(ACL_MODEL_STREAM_FLAG_DEFAULT);
  aclrtLabel label = nullptr;
  aclrtLabelList list = nullptr;
  ASSERT_EQ(aclrtCreateLabel(&label), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateLabelList(&label, 1, &list), ACL_SUCCESS);
  ASSERT_EQ(aclrtSwitchLabelByIndex(index, 1, list, head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('x', head), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('y', other), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetLabel(label, other), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', other), ACL_SUCCESS);
  ASSERT_EQ(finish(other), ACL_SUCCESS);
  ASSERT_EQ(run(instance_, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "b");
  drop();
  EXPECT_EQ(aclrtDestroyLabelList(list), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyLabel(label), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
