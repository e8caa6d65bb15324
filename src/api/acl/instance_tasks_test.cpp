// SPDX-License-Identifier: Apache-2.0
// What programs see and change of an instance: names, callbacks, streams, tasks, prints.
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "api/acl/instance_for_test.h"
#include "base/json.h"

namespace anynpu::acl {
namespace {

class Tasks : public InstanceTest {
 protected:
  std::vector<aclrtStream> streams_of(aclmdlRI instance) {
    uint32_t count = 0;
    EXPECT_EQ(aclmdlRIGetStreams(instance, nullptr, &count), ACL_SUCCESS);
    std::vector<aclrtStream> streams(count);
    EXPECT_EQ(aclmdlRIGetStreams(instance, streams.data(), &count), ACL_SUCCESS);
    return streams;
  }
  std::vector<aclmdlRITask> tasks_of(aclrtStream stream) {
    uint32_t count = 0;
    EXPECT_EQ(aclmdlRIGetTasksByStream(stream, nullptr, &count), ACL_SUCCESS);
    std::vector<aclmdlRITask> tasks(count);
    EXPECT_EQ(aclmdlRIGetTasksByStream(stream, tasks.data(), &count), ACL_SUCCESS);
    return tasks;
  }
  aclmdlRITaskType type_of(aclmdlRITask task) {
    aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
    EXPECT_EQ(aclmdlRITaskGetType(task, &type), ACL_SUCCESS);
    return type;
  }
  aclmdlRITaskParams params_of(aclmdlRITask task) {
    aclmdlRITaskParams params = {};
    EXPECT_EQ(aclmdlRITaskGetParams(task, &params), ACL_SUCCESS);
    return params;
  }
  aclmdlRI letters(const char* text) {
    EXPECT_EQ(begin(s_), ACL_SUCCESS);
    for (; *text; ++text) EXPECT_EQ(trail_.leave(*text, s_), ACL_SUCCESS);
    return end(s_);
  }
};

TEST_F(Tasks, TheLastNameCountsAndLongOnesAreCut) {
  const aclmdlRI instance = letters("a");
  char name[600] = "x";
  ASSERT_EQ(aclmdlRIGetName(instance, sizeof name, name), ACL_SUCCESS);
  EXPECT_STREQ(name, "") << "never set";
  ASSERT_EQ(aclmdlRISetName(instance, "first"), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRISetName(instance, "second"), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIGetName(instance, sizeof name, name), ACL_SUCCESS);
  EXPECT_STREQ(name, "second");
  ASSERT_EQ(aclmdlRIGetName(instance, 4, name), ACL_SUCCESS);
  EXPECT_STREQ(name, "sec");
  ASSERT_EQ(aclmdlRISetName(instance, std::string(700, 'n').c_str()), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIGetName(instance, sizeof name, name), ACL_SUCCESS);
  EXPECT_LE(std::strlen(name), 512u);
  uint32_t id = 0, other_id = 0;
  const aclmdlRI other = letters("a");
  EXPECT_EQ(aclmdlRIGetId(instance, &id), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIGetId(other, &other_id), ACL_SUCCESS);
  EXPECT_NE(id, other_id);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(other), ACL_SUCCESS);
}

TEST_F(Tasks, CallbacksRunWhenTheInstanceIsDestroyed) {
  int calls = 0;
  const auto count = [](void* data) { ++*static_cast<int*>(data); };
  const auto never = [](void*) { FAIL(); };
  const auto null = [](void* data) { EXPECT_EQ(data, nullptr); };
  const aclmdlRI instance = letters("a");
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(instance, count, &calls), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(instance, never, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIDestroyRegisterCallback(instance, null, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroyUnregisterCallback(instance, never), ACL_SUCCESS);
  EXPECT_NE(aclmdlRIDestroyUnregisterCallback(instance, never), ACL_SUCCESS);
  EXPECT_NE(aclmdlRIDestroyRegisterCallback(instance, nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(calls, 1);
}

TEST_F(Tasks, StreamsAndTasksAreGivenInTwoCalls) {
  const aclmdlRI instance = letters("abc");
  const auto streams = streams_of(instance);
  ASSERT_EQ(streams.size(), 1u);
  const auto tasks = tasks_of(streams[0]);
  ASSERT_EQ(tasks.size(), 3u);
  aclmdlRITask few[2];
  uint32_t room = 2;
  EXPECT_EQ(aclmdlRIGetTasksByStream(streams[0], few, &room), 107039);
  EXPECT_NE(aclmdlRIGetTasksByStream(s_, nullptr, &room), ACL_SUCCESS)
      << "a stream that belongs to no instance";
  for (uint32_t i = 0; i < 3; ++i) {
    uint32_t number = 0;
    EXPECT_EQ(aclmdlRITaskGetSeqId(tasks[i], &number), ACL_SUCCESS);
    EXPECT_EQ(number, i + 1);
  }
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_NE(aclmdlRITaskGetType(tasks[0], nullptr), ACL_SUCCESS);
  aclmdlRITaskType type;
  EXPECT_NE(aclmdlRITaskGetType(tasks[0], &type), ACL_SUCCESS) << "gone with the instance";
}

TEST_F(Tasks, EachTaskHasATypeAndParameters) {
  auto* value = device_memory<uint64_t>(2);
  auto* a = device_memory<float>(4);
  const aclrtEvent e1 = joining_event(), e2 = joining_event();
  aclrtEvent flag = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&flag, ACL_EVENT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(add(a, a, a, 4, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e1, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEventWithFlag(s_, e2, 0, ACL_EVENT_WAIT_EXTERNAL), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(flag, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(value, 7, 0, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWait(value, 5, ACL_STREAM_WAIT_VALUE_GEQ, s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemsetAsync(a, 16, 0, 16, s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  const auto tasks = tasks_of(streams_of(instance)[0]);
  const aclmdlRITaskType expected[] = {
      ACL_MODEL_RI_TASK_KERNEL,      ACL_MODEL_RI_TASK_EVENT_RECORD, ACL_MODEL_RI_TASK_EVENT_WAIT,
      ACL_MODEL_RI_TASK_EVENT_RESET, ACL_MODEL_RI_TASK_VALUE_WRITE,  ACL_MODEL_RI_TASK_VALUE_WAIT,
      ACL_MODEL_RI_TASK_DEFAULT};
  ASSERT_EQ(tasks.size(), std::size(expected));
  for (size_t i = 0; i < tasks.size(); ++i) {
    EXPECT_EQ(type_of(tasks[i]), expected[i]) << i;
    EXPECT_EQ(params_of(tasks[i]).type, expected[i]) << i;
  }
  EXPECT_EQ(params_of(tasks[1]).eventRecordTaskParams.event, e1);
  EXPECT_EQ(params_of(tasks[1]).eventRecordTaskParams.eventFlag, uint32_t{ACL_EVENT_SYNC});
  EXPECT_EQ(params_of(tasks[2]).eventWaitTaskParams.event, e2);
  EXPECT_EQ(params_of(tasks[2]).eventWaitTaskParams.waitFlag, uint32_t{ACL_EVENT_WAIT_EXTERNAL});
  EXPECT_EQ(params_of(tasks[3]).eventResetTaskParams.event, flag);
  EXPECT_EQ(params_of(tasks[4]).valueWriteTaskParams.devAddr, value);
  EXPECT_EQ(params_of(tasks[4]).valueWriteTaskParams.value, 7u);
  EXPECT_EQ(params_of(tasks[5]).valueWaitTaskParams.value, 5u);
  aclrtLaunchKernelAttrValue attribute{};
  EXPECT_EQ(
      aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &attribute),
      ACL_SUCCESS);
  EXPECT_NE(
      aclmdlRIKernelTaskGetAttribute(tasks[0], ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE, &attribute),
      ACL_SUCCESS);
  EXPECT_NE(
      aclmdlRIKernelTaskGetAttribute(tasks[1], ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE, &attribute),
      ACL_SUCCESS)
      << "no kernel";
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(flag), ACL_SUCCESS);
}

TEST_F(Tasks, ParametersThatAreSetCountFromTheUpdateOn) {
  auto* value = device_memory<uint64_t>(2);
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtValueWrite(value, 7, 0, s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  const aclmdlRITask task = tasks_of(streams_of(instance)[0])[0];
  aclmdlRITaskParams params = params_of(task);
  params.valueWriteTaskParams.devAddr = value + 1;
  params.valueWriteTaskParams.value = 9;
  ASSERT_EQ(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS);
  write(value, uint64_t{0});
  write(value + 1, uint64_t{0});
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(read(value), 7u) << "not updated yet";
  EXPECT_EQ(read(value + 1), 0u);
  ASSERT_EQ(aclmdlRIUpdate(instance), ACL_SUCCESS);
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(read(value + 1), 9u);
  params.type = ACL_MODEL_RI_TASK_VALUE_WAIT;
  EXPECT_NE(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS) << "another type";
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Tasks, EventsAreReadOnly) {
  const aclrtEvent e = joining_event();
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(e, s_), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  const aclmdlRITask task = tasks_of(streams_of(instance)[0])[0];
  aclmdlRITaskParams params = params_of(task);
  EXPECT_NE(aclmdlRITaskSetParams(task, &params), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Tasks, ADisabledTaskIsNotRunAfterTheUpdate) {
  const aclmdlRI instance = letters("abc");
  const auto tasks = tasks_of(streams_of(instance)[0]);
  ASSERT_EQ(aclmdlRITaskDisable(tasks[1]), ACL_SUCCESS);
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "abc");
  ASSERT_EQ(aclmdlRIUpdate(instance), ACL_SUCCESS);
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_EQ(trail_.take(), "ac");
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

TEST_F(Tasks, AnInstanceIsPrintedAsATraceOfChrome) {
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(trail_.leave('a', s_), ACL_SUCCESS);
  ASSERT_EQ(aclrtCacheLastTaskExtendInfo("{\"layer\": 3}", 12), ACL_SUCCESS);
  aclmdlRICaptureStatus state;
  aclmdlRI open = nullptr;
  ASSERT_EQ(aclmdlRICaptureGetInfo(s_, &state, &open), ACL_SUCCESS);
  EXPECT_NE(aclmdlRIDebugPrint(open), ACL_SUCCESS) << "only after the end";
  const aclmdlRI instance = end(s_);
  EXPECT_EQ(aclmdlRIDebugPrint(instance), ACL_SUCCESS);
  const std::string path =
      ::testing::TempDir() + "/instance_" + std::to_string(::getpid()) + ".json";
  ASSERT_EQ(aclmdlRIDebugJsonPrint(instance, path.c_str(), 1), ACL_SUCCESS);
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  const auto parsed = json::parse(text.str(), path);
  ASSERT_TRUE(parsed.ok());
  ASSERT_EQ(parsed->array()->size(), 1u);
  const json::Value* args = (*parsed->array())[0].find("args");
  ASSERT_NE(args, nullptr);
  EXPECT_EQ(*args->find("extend_info")->find("layer")->integer(), 3);
  EXPECT_EQ(*args->find("task_type")->string(), "DEFAULT");
  EXPECT_NE(aclmdlRIDebugJsonPrint(instance, "/no/such/folder/x.json", 0), ACL_SUCCESS);
  EXPECT_NE(aclmdlRIDebugJsonPrint(instance, path.c_str(), 2), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  std::remove(path.c_str());
}

TEST_F(Tasks, InformationIsCachedForTheLastTaskWhereTheStreamSaysSo) {
  auto* a = device_memory<float>(4);
  const auto caches = [&] {
    aclrtStreamAttrValue value = {};
    EXPECT_EQ(aclrtGetStreamAttribute(s_, ACL_STREAM_ATTR_CACHE_OP_INFO, &value), ACL_SUCCESS);
    return value.cacheOpInfoSwitch;
  };
  const char info[] = "Add";
  EXPECT_NE(aclrtCacheLastTaskOpInfo(info, sizeof info), ACL_SUCCESS) << "nothing was recorded";
  aclrtStreamAttrValue on = {};
  on.cacheOpInfoSwitch = 1;
  ASSERT_EQ(begin(s_), ACL_SUCCESS);
  ASSERT_EQ(add(a, a, a, 4, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtCacheLastTaskOpInfo(info, sizeof info), ACL_SUCCESS) << "the switch is off";
  ASSERT_EQ(aclrtSetStreamAttribute(s_, ACL_STREAM_ATTR_CACHE_OP_INFO, &on), ACL_SUCCESS);
  EXPECT_EQ(caches(), 1u);
  ASSERT_EQ(add(a, a, a, 4, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtCacheLastTaskOpInfo(info, 0), ACL_SUCCESS);
  EXPECT_NE(aclrtCacheLastTaskOpInfo(std::vector<char>(65537).data(), 65537), ACL_SUCCESS);
  EXPECT_EQ(aclrtCacheLastTaskOpInfo(info, sizeof info), ACL_SUCCESS);
  const aclmdlRI instance = end(s_);
  EXPECT_EQ(caches(), 0u) << "on only while it is captured";
  const auto params = params_of(tasks_of(streams_of(instance)[0])[1]);
  ASSERT_EQ(params.opInfoSize, sizeof info);
  EXPECT_STREQ(static_cast<const char*>(params.opInfoPtr), info);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
