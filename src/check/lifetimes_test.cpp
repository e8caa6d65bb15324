// SPDX-License-Identifier: Apache-2.0
#include "check/lifetimes.h"

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "acl/dvpp/hi_dvpp.h"
#include "check/findings_for_test.h"

namespace anynpu::check {
namespace {

constexpr uint64_t kHandle = uint64_t{3} << 56;

void create(uint64_t handle) { call("aclCreateDataBuffer", {0x1000, 64}, handle, false); }
void destroy(uint64_t handle) { call("aclDestroyDataBuffer", {handle}); }

TEST(Lifetimes, AnObjectDestroyedTwiceIsADoubleFree) {
  create(kHandle);
  destroy(kHandle);
  const Findings findings;
  destroy(kHandle);
  EXPECT_EQ(findings.kinds(), Kinds{"double-free"});
}

TEST(Lifetimes, AnObjectUsedAfterItsEndIsFoundWhateverTheFunction) {
  create(kHandle + 1);
  destroy(kHandle + 1);
  const Findings findings;
  call("aclSomethingElse", {0, kHandle + 1});
  EXPECT_EQ(findings.kinds(), Kinds{"use-after-destroy"});
}

TEST(Lifetimes, AHandleThatIsGivenOutAgainIsAlive) {
  create(kHandle + 2);
  destroy(kHandle + 2);
  create(kHandle + 2);
  const Findings findings;
  call("aclSomethingElse", {0, kHandle + 2});
  destroy(kHandle + 2);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST(Lifetimes, ACallThatFailedCreatesAndDestroysNothing) {
  create(kHandle + 3);
  call("aclDestroyDataBuffer", {kHandle + 3}, 100000);
  const Findings findings;
  destroy(kHandle + 3);
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST(Lifetimes, ABlockWithTwoHoldersIsReleasedTwice) {
  call("hi_mpi_vb_get_block", {1, 64, 0}, 7, false);
  call("hi_mpi_vb_block_copyref", {7});
  const Findings findings;
  call("hi_mpi_vb_release_block", {7});
  call("hi_mpi_vb_release_block", {7});
  EXPECT_EQ(findings.kinds(), Kinds{});
  call("hi_mpi_vb_release_block", {7});
  EXPECT_EQ(findings.kinds(), Kinds{"double-free"});
}

TEST(Lifetimes, MemoryOfAPoolIsFreedOnce) {
  uint64_t address = 0x9000;
  call("aclrtMemPoolMallocAsync", {word(&address), 100, kHandle + 4});
  ASSERT_TRUE(block_at(address + 99).has_value());
  EXPECT_FALSE(block_at(address + 100).has_value());
  const Findings findings;
  call("aclrtMemPoolFreeAsync", {address, 0});
  EXPECT_EQ(findings.kinds(), Kinds{});
  call("aclSomethingElse", {address});
  call("aclrtMemPoolFreeAsync", {address, 0});
  EXPECT_EQ(findings.kinds(), (Kinds{"use-after-free", "double-free"}));
}

// Memory that the library has for itself where the program had, and freed, a block of its own.
class MemoryOfTheLibrary : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&memory_, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    address_ = word(memory_);
    uint64_t given = address_;
    call("aclrtMalloc", {word(&given), 100, 0});
    call("aclrtFree", {address_});
  }
  void TearDown() override {
    aclrtFree(memory_);
    aclrtResetDevice(0);
    aclFinalize();
  }
  void* memory_ = nullptr;
  uint64_t address_ = 0;
};

TEST_F(MemoryOfTheLibrary, MayBeUsedOnceItsAddressWasReturned) {
  const Findings findings;
  call("acldvppGetStreamDescData", {kHandle + 5}, address_ + 8, false);
  call("aclSomethingElse", {address_ + 8});
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(MemoryOfTheLibrary, MayBeUsedOnceAPacketOfAnEncoderNamedIt) {
  hi_venc_pack pack = {};
  pack.addr = static_cast<hi_u8*>(memory_);
  hi_venc_stream stream = {};
  stream.pack = &pack;
  stream.pack_cnt = 1;
  const Findings findings;
  call("hi_mpi_venc_get_stream", {0, word(&stream), 0});
  call("aclSomethingElse", {address_});
  EXPECT_EQ(findings.kinds(), Kinds{});
}

TEST_F(MemoryOfTheLibrary, IsTakenForTheFreedBlockUntilThen) {
  const Findings findings;
  call("aclSomethingElse", {address_});
  EXPECT_EQ(findings.kinds(), Kinds{"use-after-free"});
}

class DeviceMemory : public testing::Test {
 protected:
  void SetUp() override { call("aclrtMalloc", {word(&address_), 100, 0}); }
  uint64_t address_ = 0x5000;
};

TEST_F(DeviceMemory, IsFoundByAnyAddressInItWithTheSizeThatWasAskedFor) {
  const auto block = block_at(address_ + 99);
  ASSERT_TRUE(block.has_value());
  EXPECT_EQ(block->base, address_);
  EXPECT_EQ(block->bytes, 100u);
  EXPECT_FALSE(block_at(address_ + 100).has_value());
  call("aclrtFree", {address_});
  EXPECT_FALSE(block_at(address_).has_value());
}

TEST_F(DeviceMemory, FreedTwiceOrUsedAfterwardsIsFound) {
  call("aclrtFree", {address_});
  const Findings findings;
  call("aclSomethingElse", {address_ + 8});
  call("aclrtFree", {address_});
  EXPECT_EQ(findings.kinds(), (Kinds{"use-after-free", "double-free"}));
}

TEST_F(DeviceMemory, ThatAnObjectStillNamesAfterItsEndIsFound) {
  call("aclrtFree", {address_});
  const Findings findings;
  call("aclGetDataBufferAddr", {kHandle + 6}, address_, false);
  call("aclSomethingElse", {address_});
  EXPECT_EQ(findings.kinds(), Kinds{"use-after-free"});
}

TEST_F(DeviceMemory, BytesBehindItsEndAreFound) {
  const Findings findings;
  Function function = made_up("aclrtMemcpy");
  Call one(function, {});
  check_span(one, "dst", address_ + 90, 10);
  EXPECT_EQ(findings.kinds(), Kinds{});
  check_span(one, "dst", address_ + 90, 11);
  EXPECT_EQ(findings.kinds(), Kinds{"past-the-end"});
  call("aclrtFree", {address_});
}

}  // namespace
}  // namespace anynpu::check
