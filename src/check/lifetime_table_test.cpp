// SPDX-License-Identifier: Apache-2.0
#include "check/lifetime_table.h"

#include <gtest/gtest.h>

namespace anynpu::check {
namespace {

TEST(LifetimeTable, SaysWhatAFunctionCreatesOrDestroysAndHowItIsEnded) {
  const Rows create = lifetimes_of("aclrtCreateStream");
  ASSERT_NE(create.first, nullptr);
  EXPECT_EQ(create.first->kind, &kStream);
  EXPECT_EQ(create.first->role, LifetimeRow::create);
  const Rows destroy = lifetimes_of(kStream.c);
  ASSERT_NE(destroy.first, nullptr);
  EXPECT_EQ(destroy.first->role, LifetimeRow::destroy);
  EXPECT_EQ(lifetimes_of("aclrtMemcpy").first, nullptr);
}

TEST(LifetimeTable, MemoryHasTheArgumentWithItsBytes) {
  const Rows rows = lifetimes_of("hi_mpi_dvpp_malloc");
  ASSERT_NE(rows.first, nullptr);
  EXPECT_EQ(rows.first->kind, &kMediaMemory);
  EXPECT_EQ(rows.first->argument, 1);
  EXPECT_EQ(rows.first->size, 2);
}

TEST(LifetimeTable, AllMemoryHasIt) {
  for (const char* function : {"aclrtMalloc", "aclrtMallocHost", "acldvppMalloc",
                               "aclrtMemAllocManaged", "aclrtMemPoolMallocAsync"}) {
    const Rows rows = lifetimes_of(function);
    ASSERT_NE(rows.first, nullptr) << function;
    EXPECT_EQ(rows.first->size, 1) << function;
  }
}

TEST(LifetimeTable, AFunctionMayCreateTwoObjects) {
  const Rows rows = lifetimes_of("aclmdlCreateAndGetOpDesc");
  ASSERT_NE(rows.first, nullptr);
  ASSERT_NE(rows.second, nullptr);
  EXPECT_EQ(rows.first->kind, rows.second->kind);
  EXPECT_NE(rows.first->argument, rows.second->argument);
}

TEST(LifetimeTable, ThatEndsWhatItIsSaidToEnd) {
  for (const Kind* kind : {&kDeviceMemory, &kHostMemory, &kMediaMemory, &kPoolMemory, &kStream,
                           &kContext, &kModel, &kBundle}) {
    const Rows rows = lifetimes_of(kind->c);
    ASSERT_NE(rows.first, nullptr) << kind->name;
    EXPECT_EQ(rows.first->kind, kind) << kind->name;
    EXPECT_EQ(rows.first->role, LifetimeRow::destroy) << kind->name;
  }
}

}  // namespace
}  // namespace anynpu::check
