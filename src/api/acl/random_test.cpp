// SPDX-License-Identifier: Apache-2.0
// Random numbers on streams, and the task that changes a recorded one.
#include <cmath>
#include <numeric>

#include "acl/rt/device_query.h"
#include "api/acl/instance_for_test.h"

namespace anynpu::acl {
namespace {

template <typename T>
aclrtRandomParaInfo given(T value) {
  aclrtRandomParaInfo info = {};
  std::memcpy(info.valueOrAddr, &value, sizeof value);
  info.size = sizeof value;
  return info;
}
template <typename T>
aclrtRandomParaInfo at(const T* address) {
  aclrtRandomParaInfo info = {};
  info.isAddr = 1;
  std::memcpy(info.valueOrAddr, &address, sizeof address);
  info.size = sizeof(T);
  return info;
}

class Random : public InstanceTest {
 protected:
  template <typename T>
  aclrtRandomNumTaskInfo request(aclDataType type, aclrtRandomNumFuncType kind, T first, T second,
                                 uint64_t count) {
    counter_ = device_memory<uint64_t>(2);
    write(counter_, uint64_t{0});
    write(counter_ + 1, uint64_t{0});
    result_ = device_memory(count * 8 + 8);
    aclrtRandomNumTaskInfo info = {};
    info.dataType = type;
    info.randomNumFuncParaInfo.funcType = kind;
    info.randomNumFuncParaInfo.paramInfo.uniformDisInfo = {given(first), given(second)};
    info.randomResultAddr = result_;
    info.randomCounterAddr = counter_;
    info.randomSeed = given(uint64_t{42});
    info.randomNum = given(count);
    return info;
  }
  template <typename T>
  std::vector<T> made(const aclrtRandomNumTaskInfo& info, size_t count) {
    EXPECT_EQ(aclrtRandomNumAsync(&info, s_, nullptr), ACL_SUCCESS);
    EXPECT_EQ(aclrtSynchronizeStream(s_), ACL_SUCCESS) << aclGetRecentErrMsg();
    std::vector<T> values(count);
    EXPECT_EQ(aclrtMemcpy(values.data(), count * sizeof(T), info.randomResultAddr,
                          count * sizeof(T), ACL_MEMCPY_DEVICE_TO_HOST),
              ACL_SUCCESS);
    return values;
  }
  uint64_t* counter_ = nullptr;
  uint8_t* result_ = nullptr;
};

TEST_F(Random, UniformNumbersLieBetweenTheirLimits) {
  const auto info = request(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, -2.0f, 6.0f, 10000);
  const auto values = made<float>(info, 10000);
  EXPECT_GE(*std::min_element(values.begin(), values.end()), -2.0f);
  EXPECT_LE(*std::max_element(values.begin(), values.end()), 6.0f);
  EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 10000, 2.0, 0.1);
  EXPECT_NE(made<float>(info, 10000), values) << "the counter has moved on";
  write(counter_, uint64_t{0});
  EXPECT_EQ(made<float>(info, 10000), values) << "the same seed and counter";
}

TEST_F(Random, WholeNumbersIncludeBothLimits) {
  const auto values = made<int32_t>(
      request(ACL_INT32, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, int32_t{-1}, int32_t{1}, 300),
      300);
  for (const int32_t value : {-1, 0, 1}) {
    EXPECT_GT(std::count(values.begin(), values.end(), value), 50) << value;
  }
}

TEST_F(Random, NormalNumbersHaveMeanAndDeviation) {
  for (const auto kind :
       {ACL_RT_RANDOM_NUM_FUNC_TYPE_NORMAL_DIS, ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS}) {
    const auto values = made<float>(request(ACL_FLOAT, kind, 3.0f, 2.0f, 20000), 20000);
    EXPECT_NEAR(std::accumulate(values.begin(), values.end(), 0.0) / 20000, 3.0, 0.1);
    const bool truncated = kind == ACL_RT_RANDOM_NUM_FUNC_TYPE_TRUNCATED_NORMAL_DIS;
    const float most = *std::max_element(values.begin(), values.end());
    EXPECT_EQ(most <= 7.0f, truncated) << most;
  }
}

TEST_F(Random, ADropoutMaskKeepsBits) {
  auto info = request(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_DROPOUT_BITMASK, 0.25f, 0.0f, 8000);
  const auto bytes = made<uint8_t>(info, 1000);
  int kept = 0;
  for (const uint8_t byte : bytes) kept += __builtin_popcount(byte);
  EXPECT_NEAR(kept / 8000.0, 0.75, 0.03);
}

TEST_F(Random, ParametersMayLieInDeviceMemory) {
  auto info = request(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 0.0f, 1.0f, 4);
  auto* limit = device_memory<float>(1);
  write(limit, 0.0f);
  info.randomNumFuncParaInfo.paramInfo.uniformDisInfo.max = at(limit);
  for (const float value : made<float>(info, 4)) EXPECT_EQ(value, 0.0f);
}

TEST_F(Random, WrongRequestsAreRefused) {
  auto info = request(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 0.0f, 1.0f, 4);
  int reserved = 0;
  EXPECT_NE(aclrtRandomNumAsync(&info, s_, &reserved), ACL_SUCCESS);
  EXPECT_NE(aclrtRandomNumAsync(nullptr, s_, nullptr), ACL_SUCCESS);
  info.dataType = ACL_STRING;
  EXPECT_NE(aclrtRandomNumAsync(&info, s_, nullptr), ACL_SUCCESS);
  info.dataType = ACL_FLOAT;
  info.randomResultAddr = nullptr;
  EXPECT_NE(aclrtRandomNumAsync(&info, s_, nullptr), ACL_SUCCESS);
}

TEST_F(Random, ATaskOfAnotherStreamChangesARecordedOne) {
  aclmdlRI instance = nullptr;
  aclrtStream head = nullptr;
  ASSERT_EQ(aclmdlRIBuildBegin(&instance, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateStreamWithConfig(&head, 0, ACL_STREAM_PERSISTENT), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBindStream(instance, head, ACL_MODEL_STREAM_FLAG_HEAD), ACL_SUCCESS);
  auto info = request(ACL_FLOAT, ACL_RT_RANDOM_NUM_FUNC_TYPE_UNIFORM_DIS, 5.0f, 6.0f, 4);
  ASSERT_EQ(aclrtRandomNumAsync(&info, head, nullptr), ACL_SUCCESS);
  uint32_t task = 0;
  ASSERT_EQ(aclrtGetThreadLastTaskId(&task), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIEndTask(instance, head), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIBuildEnd(instance, nullptr), ACL_SUCCESS);
  auto* elsewhere = device_memory<float>(4);
  write(elsewhere, 0.0f);
  info.randomResultAddr = elsewhere;
  auto* changed = device_memory<aclrtRandomNumTaskInfo>(1);
  write(changed, info);
  aclrtTaskUpdateInfo update = {};
  update.id = ACL_RT_UPDATE_RANDOM_TASK;
  update.val.randomTaskAttr = {changed, sizeof info, {}};
  ASSERT_EQ(aclrtTaskUpdateAsync(head, task, &update, s_), ACL_SUCCESS) << aclGetRecentErrMsg();
  EXPECT_NE(aclrtTaskUpdateAsync(head, 99, &update, s_), ACL_SUCCESS);
  EXPECT_NE(aclrtTaskUpdateAsync(s_, 1, &update, s_), ACL_SUCCESS) << "not a bound stream";
  ASSERT_EQ(run(instance, s_), ACL_SUCCESS);
  EXPECT_GE(read(elsewhere), 5.0f);
  EXPECT_EQ(aclmdlRIUnbindStream(instance, head), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(instance), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(head), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
