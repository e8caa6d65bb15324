// SPDX-License-Identifier: Apache-2.0
#include "service/memory/async_copy.h"

#include <gtest/gtest.h>

#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::CopyKind;
using device::Runtime;

struct AsyncCopy : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(Runtime::instance().set_device(0).ok());
    const auto owner = Runtime::instance().device(0).value();
    block = static_cast<uint8_t*>(device::allocate_device(*owner, 64, {}).value());
  }
  void TearDown() override {
    set_copy_rules(CopyRules::runtime);
    EXPECT_TRUE(device::free_device(block).ok());
    EXPECT_TRUE(Runtime::instance().reset_device(0, Runtime::Reset::count_down).ok());
  }
  uint8_t* block = nullptr;
  uint8_t own[64] = {};
};

TEST_F(AsyncCopy, ACopyWithPageableMemoryIsDoneWhenTheCallReturns) {
  own[5] = 9;
  EXPECT_TRUE(copy_async({block, 64, own, 64, CopyKind::host_to_device}, 0).ok());
  own[5] = 1;
  EXPECT_EQ(block[5], 9);
  uint8_t back[64] = {};
  EXPECT_TRUE(copy_2d_async({back, 8, block, 8, 8, 8, CopyKind::device_to_host}, 0).ok());
  EXPECT_EQ(back[5], 9);
  EXPECT_TRUE(Runtime::instance().stream(0).value()->idle());
}

TEST_F(AsyncCopy, ABatchWaitsToo) {
  own[3] = 8;
  const device::BatchCopy up{block, 64, own, 64, {true, 0}, {}};
  size_t failed = 0;
  EXPECT_TRUE(copy_batch_async({&up, 1}, &failed, 0).ok());
  EXPECT_EQ(block[3], 8);
}

TEST_F(AsyncCopy, RowsHaveTwoWaysAndLimits) {
  device::Copy2d rows{block, 8, own, 8, 8, 8, CopyKind::device_to_device};
  EXPECT_EQ(service::copy_2d(rows).code(), Code::unsupported_shape);
  EXPECT_EQ(copy_2d_async(rows, 0).code(), Code::unsupported_shape);
  rows.kind = CopyKind::host_to_device;
  EXPECT_TRUE(service::copy_2d(rows).ok());
  rows.height = 5'242'881;
  EXPECT_EQ(copy_2d_async(rows, 0).code(), Code::unsupported_shape);
  rows = {block, 5'000'001, own, 5'000'001, 5'000'001, 1, CopyKind::host_to_device};
  EXPECT_EQ(copy_2d_async(rows, 0).code(), Code::unsupported_shape);
  set_copy_rules(CopyRules::guide);
  EXPECT_EQ(copy_2d_async(rows, 0).code(), Code::invalid_address) << "no such rule";
}

TEST_F(AsyncCopy, InsideTheHostTheCallOrTheSynchronizeRefuses) {
  uint8_t other[64];
  const device::Copy inside{other, 64, own, 64, CopyKind::host_to_host};
  EXPECT_EQ(copy_async(inside, 0).code(), Code::unsupported_feature);
  set_copy_rules(CopyRules::guide);
  EXPECT_TRUE(copy_async(inside, 0).ok());
  EXPECT_EQ(Runtime::instance().stream(0).value()->synchronize().code(), Code::unsupported_feature);
}

}  // namespace
}  // namespace anynpu::service
