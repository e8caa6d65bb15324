// SPDX-License-Identifier: Apache-2.0
#include "service/memory/memory_pool.h"

#include <gtest/gtest.h>

#include "device/memory.h"
#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Runtime;

struct MemoryPools : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(Runtime::instance().set_device(0).ok());
    stream = Runtime::instance().current().value()->create_stream({}).value();
    other = Runtime::instance().current().value()->create_stream({}).value();
    pool = create_pool(0, 0).value();
  }
  void TearDown() override {
    (void)destroy_pool(pool);
    EXPECT_TRUE(Runtime::instance().reset_device(0, Runtime::Reset::count_down).ok());
  }
  uint64_t attribute(PoolAttribute which) const {
    return resolve<MemoryPool>(pool).value()->attribute(which);
  }
  Status set(PoolAttribute which, uint64_t value) const {
    return resolve<MemoryPool>(pool).value()->set_attribute(which, value);
  }
  static Status synchronize(Handle which) {
    return Runtime::instance().stream(which).value()->synchronize();
  }
  Handle stream = 0, other = 0, pool = 0;
};

TEST_F(MemoryPools, ABlockIsUsedAgainOnItsStreamWithoutAWait) {
  void* first = take_from_pool(pool, 1000, stream).value();
  EXPECT_TRUE(device::fill(first, 1000, 1, 1000).ok()) << "memory like any other";
  EXPECT_EQ(attribute(PoolAttribute::used), 1024u);
  EXPECT_TRUE(give_back_to_pool(first, stream).ok());
  EXPECT_FALSE(device::fill(first, 1, 1, 1).ok()) << "given back";
  EXPECT_EQ(give_back_to_pool(first, stream).code(), Code::invalid_address);
  EXPECT_EQ(attribute(PoolAttribute::used), 0u);
  EXPECT_EQ(attribute(PoolAttribute::reserved), 1024u) << "stays with the pool";
  EXPECT_EQ(take_from_pool(pool, 900, stream).value(), first);
  EXPECT_TRUE(give_back_to_pool(first, stream).ok());
}

TEST_F(MemoryPools, TheNearestSizeIsTaken) {
  void* large = take_from_pool(pool, 1 << 20, stream).value();
  void* small = take_from_pool(pool, 4096, stream).value();
  EXPECT_TRUE(give_back_to_pool(large, stream).ok());
  EXPECT_TRUE(give_back_to_pool(small, stream).ok());
  EXPECT_EQ(take_from_pool(pool, 4000, stream).value(), small);
  EXPECT_EQ(take_from_pool(pool, 5000, stream).value(), large);
  EXPECT_TRUE(give_back_to_pool(small, stream).ok());
  EXPECT_TRUE(give_back_to_pool(large, stream).ok());
}

TEST_F(MemoryPools, WhatIsAboveTheThresholdGoesBackAtTheNextSynchronize) {
  void* block = take_from_pool(pool, 1 << 20, stream).value();
  EXPECT_TRUE(set(PoolAttribute::release_threshold, 2 << 20).ok());
  EXPECT_TRUE(give_back_to_pool(block, stream).ok());
  EXPECT_TRUE(synchronize(stream).ok());
  EXPECT_EQ(attribute(PoolAttribute::reserved), uint64_t{1} << 20);
  EXPECT_TRUE(set(PoolAttribute::release_threshold, 0).ok());
  EXPECT_TRUE(synchronize(stream).ok());
  EXPECT_EQ(attribute(PoolAttribute::reserved), 0u);
  EXPECT_EQ(attribute(PoolAttribute::reserved_peak), uint64_t{1} << 20);
}

TEST_F(MemoryPools, TrimmingWinsOverTheThresholdAndLeavesBlocksInUse) {
  EXPECT_TRUE(set(PoolAttribute::release_threshold, UINT64_MAX).ok());
  void* used = take_from_pool(pool, 4096, stream).value();
  void* unused = take_from_pool(pool, 8192, stream).value();
  EXPECT_TRUE(give_back_to_pool(unused, stream).ok());
  resolve<MemoryPool>(pool).value()->trim(0);
  EXPECT_EQ(attribute(PoolAttribute::reserved), 4096u);
  EXPECT_TRUE(device::fill(used, 4096, 1, 4096).ok());
  EXPECT_TRUE(give_back_to_pool(used, stream).ok());
}

TEST_F(MemoryPools, OnAnotherStreamABlockIsUsedWhenItsWorkIsDone) {
  void* block = take_from_pool(pool, 4096, stream).value();
  EXPECT_TRUE(set(PoolAttribute::release_threshold, UINT64_MAX).ok());
  EXPECT_TRUE(give_back_to_pool(block, stream).ok());
  EXPECT_TRUE(synchronize(stream).ok());
  for (int i = 1; i <= 3; ++i) EXPECT_TRUE(set(static_cast<PoolAttribute>(i), 0).ok());
  void* second = take_from_pool(pool, 4096, other).value();
  EXPECT_NE(second, block) << "nothing allows it";
  EXPECT_TRUE(set(PoolAttribute::opportunistic, 1).ok());
  EXPECT_EQ(take_from_pool(pool, 4096, other).value(), block);
  EXPECT_TRUE(give_back_to_pool(block, other).ok());
  EXPECT_TRUE(give_back_to_pool(second, other).ok());
}

TEST_F(MemoryPools, AttributesAndSizesAreChecked) {
  EXPECT_EQ(take_from_pool(pool, 0, stream).status().code(), Code::invalid_argument);
  EXPECT_EQ(take_from_pool(pool, SIZE_MAX, stream).status().code(), Code::out_of_memory);
  EXPECT_EQ(set(PoolAttribute::used, 0).code(), Code::invalid_argument);
  EXPECT_EQ(set(PoolAttribute::used_peak, 1).code(), Code::invalid_argument);
  EXPECT_TRUE(set(PoolAttribute::used_peak, 0).ok());
  EXPECT_EQ(set(PoolAttribute::opportunistic, 2).code(), Code::invalid_argument);
  EXPECT_EQ(MemoryPool::attribute_bytes(9).status().code(), Code::invalid_argument);
  EXPECT_EQ(create_pool(99, 0).status().code(), Code::invalid_device);
  const Handle small = create_pool(0, 4096).value();
  void* block = take_from_pool(small, 4096, stream).value();
  EXPECT_EQ(take_from_pool(small, 1, stream).status().code(), Code::out_of_memory);
  EXPECT_TRUE(destroy_pool(small).ok());
  EXPECT_EQ(destroy_pool(small).code(), Code::invalid_handle);
  EXPECT_TRUE(device::fill(block, 1, 1, 1).ok()) << "lives until it is given back";
  EXPECT_TRUE(give_back_to_pool(block, stream).ok());
}

}  // namespace
}  // namespace anynpu::service
