// SPDX-License-Identifier: Apache-2.0
#include "service/memory/managed_memory.h"

#include <gtest/gtest.h>

#include <cstring>

#include "device/memory.h"
#include "device/runtime.h"

namespace anynpu::service {
namespace {

using device::Runtime;

struct ManagedMemory : testing::Test {
  void SetUp() override {
    ASSERT_TRUE(Runtime::instance().set_device(0).ok());
    block = static_cast<uint8_t*>(allocate_managed(kManagedPage + 1).value());
  }
  void TearDown() override {
    EXPECT_TRUE(device::free_device(block).ok());
    EXPECT_TRUE(Runtime::instance().reset_device(0, Runtime::Reset::count_down).ok());
  }
  int32_t read(PageAttribute attribute, size_t bytes = 2 * kManagedPage) const {
    int32_t word = 77;
    EXPECT_TRUE(read_page_attribute(static_cast<int>(attribute), block, bytes, &word, 4).ok());
    return word;
  }
  uint8_t* block = nullptr;
  const PageLocation device{1, 0}, host{2, 0};
};

TEST_F(ManagedMemory, BothSidesUseOneAddress) {
  std::memset(block, 3, 2 * kManagedPage);
  uint8_t byte = 0;
  EXPECT_TRUE(device::copy({&byte, 1, block + 5, 1, device::CopyKind::device_to_host}).ok());
  EXPECT_EQ(byte, 3);
  EXPECT_TRUE(device::fill(block, 8, 4, 8).ok());
  EXPECT_EQ(block[7], 4);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block) % kManagedPage, 0u);
  EXPECT_EQ(allocate_managed(0).status().code(), Code::invalid_argument);
  EXPECT_EQ(allocate_managed(UINT64_MAX).status().code(), Code::invalid_argument);
}

TEST_F(ManagedMemory, AnAttributeHoldsWhenAllPagesHaveIt) {
  EXPECT_EQ(read(PageAttribute::read_mostly), 0);
  EXPECT_TRUE(advise_pages(block, kManagedPage, 0, {}).ok());
  EXPECT_EQ(read(PageAttribute::read_mostly, kManagedPage), 1);
  EXPECT_EQ(read(PageAttribute::read_mostly), 0);
  EXPECT_EQ(read(PageAttribute::preferred), -2);
  EXPECT_TRUE(advise_pages(block, 2 * kManagedPage, 2, host).ok());
  EXPECT_EQ(read(PageAttribute::preferred), -1);
  EXPECT_EQ(read(PageAttribute::preferred_type), 2);
  EXPECT_TRUE(advise_pages(block, kManagedPage, 2, device).ok());
  EXPECT_EQ(read(PageAttribute::preferred, kManagedPage), 0);
  EXPECT_EQ(read(PageAttribute::preferred), -2);
  EXPECT_EQ(read(PageAttribute::preferred_type), 0);
  EXPECT_TRUE(advise_pages(block, 2 * kManagedPage, 3, {}).ok());
  EXPECT_EQ(read(PageAttribute::preferred), -2);
}

TEST_F(ManagedMemory, AccessorsAreAListThatIsFilledUp) {
  EXPECT_TRUE(advise_pages(block, 2 * kManagedPage, 4, device).ok());
  EXPECT_TRUE(advise_pages(block, kManagedPage, 4, host).ok());
  int32_t ids[3] = {};
  EXPECT_TRUE(read_page_attribute(3, block, 2 * kManagedPage, ids, sizeof ids).ok());
  EXPECT_EQ(ids[0], 0);
  EXPECT_EQ(ids[1], -2);
  EXPECT_TRUE(read_page_attribute(3, block, kManagedPage, ids, sizeof ids).ok());
  EXPECT_EQ(ids[0], -1);
  EXPECT_EQ(ids[1], 0);
  EXPECT_EQ(ids[2], -2);
  EXPECT_EQ(read_page_attribute(3, block, kManagedPage, ids, 6).code(), Code::invalid_argument);
  EXPECT_EQ(read_page_attribute(1, block, kManagedPage, ids, 8).code(), Code::invalid_argument);
}

TEST_F(ManagedMemory, APrefetchIsSeenBehindItsStream) {
  const PageRange range{block, 2 * kManagedPage, device};
  EXPECT_TRUE(prefetch_pages({&range, 1}, 0).ok());
  EXPECT_TRUE(Runtime::instance().stream(0).value()->synchronize().ok());
  EXPECT_EQ(read(PageAttribute::prefetched), 0);
  EXPECT_EQ(read(PageAttribute::prefetched_type), 1);
  EXPECT_EQ(advise_pages(block, kManagedPage, 2, host).code(), Code::bad_call_order);
  EXPECT_TRUE(advise_pages(block, kManagedPage, 0, {}).ok());
  EXPECT_TRUE(advise_pages(block, kManagedPage, 2, host).ok()) << "read-mostly pages are copied";
}

TEST_F(ManagedMemory, RangesAndPlacesAreChecked) {
  EXPECT_EQ(advise_pages(block, 4096, 0, {}).code(), Code::invalid_argument);
  EXPECT_EQ(advise_pages(block, 3 * kManagedPage, 0, {}).code(), Code::invalid_argument);
  EXPECT_EQ(advise_pages(block, kManagedPage, 6, {}).code(), Code::invalid_argument);
  EXPECT_EQ(advise_pages(block, kManagedPage, 2, {0, 0}).code(), Code::invalid_argument);
  EXPECT_EQ(advise_pages(block, kManagedPage, 2, {1, 99}).code(), Code::invalid_device);
  int own = 0;
  EXPECT_EQ(advise_pages(&own, kManagedPage, 0, {}).code(), Code::invalid_argument);
}

}  // namespace
}  // namespace anynpu::service
