// SPDX-License-Identifier: Apache-2.0
#include "service/random/random_numbers.h"

#include <gtest/gtest.h>

#include <cstring>

#include "device/memory.h"
#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Runtime;

template <typename T>
RandomParameter given(T value) {
  RandomParameter parameter;
  std::memcpy(parameter.value.data(), &value, sizeof value);
  parameter.bytes = sizeof value;
  return parameter;
}

class RandomNumbers : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(Runtime::instance().set_device(0).ok());
    memory_ = static_cast<std::byte*>(*device::allocate_host(1024));
    std::memset(memory_, 0, 1024);
  }
  void TearDown() override {
    EXPECT_TRUE(device::free_host(memory_).ok());
    Runtime::instance().reset_all();
  }
  RandomRequest request() {
    RandomRequest request;
    request.first = given(2.0f);
    request.second = given(3.0f);
    request.counter = memory_;
    request.result = memory_ + 16;
    request.seed = given(uint64_t{1});
    request.count = given(uint64_t{100});
    return request;
  }
  Status run(const RandomRequest& request) {
    ANYNPU_TRY(submit_random_numbers(request, 0));
    return (*Runtime::instance().stream(0))->synchronize();
  }
  std::byte* memory_ = nullptr;
};

TEST_F(RandomNumbers, LieInTheirRangeAndMoveTheCounterOn) {
  ASSERT_TRUE(run(request()).ok());
  const auto* values = reinterpret_cast<const float*>(memory_ + 16);
  for (int i = 0; i < 100; ++i) {
    EXPECT_GE(values[i], 2.0f);
    EXPECT_LT(values[i], 3.0f);
  }
  uint64_t counter;
  std::memcpy(&counter, memory_, sizeof counter);
  EXPECT_EQ(counter, 100u);
}

TEST_F(RandomNumbers, WrongRequestsAreRefused) {
  auto wrong = request();
  wrong.type = DType::string;
  EXPECT_EQ(run(wrong).code(), Code::invalid_argument);
  wrong = request();
  wrong.kind = static_cast<RandomRequest::Kind>(4);
  EXPECT_EQ(run(wrong).code(), Code::invalid_argument);
  wrong = request();
  wrong.count = given(uint64_t{1} << 40);
  EXPECT_EQ(run(wrong).code(), Code::invalid_argument);
  wrong = request();
  wrong.first.bytes = 3;
  EXPECT_EQ(run(wrong).code(), Code::invalid_argument);
}

TEST_F(RandomNumbers, AChangeTakesOverAddressesSeedAndCount) {
  RandomTask task;
  task.request = request();
  RandomRequest changed;
  changed.count = given(uint64_t{5});
  change_random_task(task, changed);
  EXPECT_EQ(task.request.result, nullptr);
  EXPECT_EQ(task.request.first.bytes, 4) << "the distribution stays";
}

}  // namespace
}  // namespace anynpu::service
