// SPDX-License-Identifier: Apache-2.0
// Conditions in captures.
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

class Conditions : public InstanceTest {
 protected:
  aclmdlRI capturing(aclrtStream stream) {
    aclmdlRICaptureStatus state;
    aclmdlRI instance = nullptr;
    EXPECT_EQ(aclmdlRICaptureGetInfo(stream, &state, &instance), ACL_SUCCESS);
    return instance;
  }
  aclmdlRICondHandle condition(uint32_t start, int flag, aclrtStream stream) {
    aclmdlRICondHandle handle = nullptr;
    EXPECT_EQ(aclmdlRICondHandleCreate(capturing(stream), start,
                                       static_cast<aclmdlRICondHandleFlag>(flag), &handle),
              ACL_SUCCESS);
    EXPECT_EQ(aclmdlRICondHandleGetCondPtr(handle, &value_), ACL_SUCCESS);
    return handle;
  }
  aclError add_task(aclmdlRICondHandle handle, aclmdlRICondTaskType type, uint32_t size,
                    aclmdlRI* bodies) {
    return aclmdlRIAddCondTask({handle, type, size, bodies}, s_, 0);
  }
  // A body that leaves a letter.
  void capture_body(aclmdlRI body, char letter) {
    ASSERT_EQ(aclmdlRICaptureToModelRIBegin(t_, body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
              ACL_SUCCESS);
    ASSERT_EQ(trail_.leave(letter, t_), ACL_SUCCESS);
    EXPECT_EQ(end(t_), body) << "the same handle";
  }
  void set(uint64_t value) { write(value_, value); }
  uint64_t* value_ = nullptr;
};

TEST_F(Conditions, IfRunsTheFirstInstanceForNonZeroElseTheSecond) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  aclmdlRI bodies[2] = {};
  ASSERT_EQ(add_task(condition(0, 0, s_), ACL_MODEL_RI_COND_TYPE_IF, 2, bodies), ACL_SUCCESS);
  capture_body(bodies[0], 'y');
  capture_body(bodies[1], 'n');
  ASSERT_EQ(trail_.leave('z', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  const std::pair<uint64_t, std::string> cases[] = {{1, "ayz"}, {0, "anz"}, {5, "ayz"}};
  for (const auto& [value, expected] : cases) {
    set(value);
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), expected);
  }
  EXPECT_NE(aclmdlRIDestroy(bodies[0]), ACL_SUCCESS) << "it belongs to the condition";
  EXPECT_NE(aclmdlRIExecuteAsync(bodies[0], s_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Conditions, ADefaultIsAssignedAtTheStartOfEveryRun) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  aclmdlRI bodies[2] = {};
  ASSERT_EQ(add_task(condition(0, 1, s_), ACL_MODEL_RI_COND_TYPE_IF, 2, bodies), ACL_SUCCESS);
  capture_body(bodies[0], 'y');
  capture_body(bodies[1], 'n');
  const aclmdlRI instance = end(s_);
  for (int i = 0; i < 2; ++i) {
    set(1);
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "n") << "what the host wrote is lost";
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Conditions, WhileRepeatsItsInstanceUntilTheValueIsZero) {
  auto* zero = device_memory<uint64_t>(1);
  write(zero, uint64_t{0});
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  aclmdlRI body = nullptr;
  ASSERT_EQ(add_task(condition(1, 1, s_), ACL_MODEL_RI_COND_TYPE_WHILE, 1, &body), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(t_, body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('r', t_), ACL_SUCCESS);
  struct Count {
    uint64_t* value;
    int left = 3;
  } count{value_};
  ASSERT_EQ(aclrtLaunchHostFunc(
                t_,
                [](void* data) {
                  auto& count = *static_cast<Count*>(data);
                  if (--count.left == 0) *count.value = 0;
                },
                &count),
            ACL_SUCCESS);
  end(t_);
  ASSERT_EQ(trail_.leave('z', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (int i = 0; i < 2; ++i) {
    count.left = 3;
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "rrrz");
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Conditions, SwitchRunsTheInstanceOfTheValue) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  aclmdlRI bodies[3] = {};
  ASSERT_EQ(add_task(condition(0, 0, s_), ACL_MODEL_RI_COND_TYPE_SWITCH, 3, bodies), ACL_SUCCESS);
  for (size_t i = 0; i < 3; ++i) capture_body(bodies[i], static_cast<char>('0' + i));
  const aclmdlRI instance = end(s_);
  const std::pair<uint64_t, std::string> cases[] = {{0, "0"}, {1, "1"}, {2, "2"}, {3, ""}};
  for (const auto& [value, expected] : cases) {
    set(value);
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), expected);
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Conditions, EveryInstanceIsCapturedBeforeTheParentEnds) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  aclmdlRI body = nullptr;
  ASSERT_EQ(add_task(condition(0, 0, s_), ACL_MODEL_RI_COND_TYPE_IF, 1, &body), ACL_SUCCESS);
  EXPECT_EQ(end_code(s_), 107045) << "never captured";
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(t_, body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  EXPECT_EQ(end_code(s_), 107045) << "still capturing";
  ASSERT_EQ(trail_.leave('y', t_), ACL_SUCCESS);
  end(t_);
  EXPECT_EQ(aclmdlRIDestroy(end(s_)), ACL_SUCCESS);
}

TEST_F(Conditions, WrongUsesAreRefused) {
  aclmdlRICondHandle handle = nullptr;
  aclmdlRI bodies[3] = {};
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  handle = condition(0, 0, s_);
  EXPECT_NE(add_task(handle, ACL_MODEL_RI_COND_TYPE_IF, 3, bodies), ACL_SUCCESS);
  EXPECT_NE(add_task(handle, ACL_MODEL_RI_COND_TYPE_WHILE, 2, bodies), ACL_SUCCESS);
  EXPECT_NE(add_task(handle, ACL_MODEL_RI_COND_TYPE_SWITCH, 0, bodies), ACL_SUCCESS);
  EXPECT_NE(aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_IF, 1, bodies}, s_, 1),
            ACL_SUCCESS);
  EXPECT_NE(aclmdlRIAddCondTask({handle, ACL_MODEL_RI_COND_TYPE_IF, 1, bodies}, t_, 0), ACL_SUCCESS)
      << "a stream that is not captured";
  ASSERT_EQ(add_task(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, bodies), ACL_SUCCESS);
  EXPECT_NE(add_task(handle, ACL_MODEL_RI_COND_TYPE_IF, 1, bodies + 1), ACL_SUCCESS)
      << "a handle serves one task";
  const aclrtEvent e = joining_event();
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(t_, bodies[0], ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_SUCCESS);
  EXPECT_NE(aclrtRecordEventWithFlag(e, t_, ACL_EVENT_RECORD_EXTERNAL), ACL_SUCCESS)
      << "no external events inside";
  ASSERT_EQ(trail_.leave('b', t_), ACL_SUCCESS);
  end(t_);
  const aclmdlRI instance = end(s_);
  EXPECT_EQ(aclmdlRICondHandleCreate(instance, 0, static_cast<aclmdlRICondHandleFlag>(0), &handle),
            ACL_ERROR_INVALID_PARAM)
      << "not being captured";
  EXPECT_NE(aclmdlRICaptureToModelRIBegin(t_, instance, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL),
            ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Conditions, InstancesOfConditionsMayHaveStreamsThatJoin) {
  aclrtStream third = nullptr;
  ASSERT_EQ(aclrtCreateStream(&third), ACL_SUCCESS);
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  aclmdlRI body = nullptr;
  ASSERT_EQ(add_task(condition(1, 1, s_), ACL_MODEL_RI_COND_TYPE_IF, 1, &body), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRICaptureToModelRIBegin(t_, body, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, t_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(third, e1), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('b', third), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e2, third), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(t_, e2), ACL_SUCCESS);
  end(t_);
  ASSERT_EQ(trail_.leave('z', s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
    EXPECT_EQ(trail_.take(), "abz");
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(third), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
