// SPDX-License-Identifier: Apache-2.0
#include "acl/acl_rt_memory_soma.h"
#include "acl/rt/memory_copy.h"
#include "device_case.h"

namespace conformance {
namespace {

class Memory : public DeviceCase {};
class Copies : public DeviceCase {};

TEST_F(Memory, BlocksAreAlignedAndCountedAsUsed) {
  size_t free_before = 0, free_now = 0, total = 0;
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &free_before, &total));
  const Block<uint8_t> block(size_t{1} << 20);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(block.at()) % 64, 0u);
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &free_now, &total));
  EXPECT_LE(free_now + (size_t{1} << 20), free_before);
}

TEST_F(Memory, MoreThanTheDeviceHasIsRefused) {
  size_t free = 0, total = 0;
  ASSERT_ACL(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
  void* address = nullptr;
  EXPECT_EQ(aclrtMalloc(&address, total + (size_t{1} << 30), ACL_MEM_MALLOC_HUGE_FIRST),
            ACL_ERROR_RT_MEMORY_ALLOCATION);
}

TEST_F(Memory, AFreedBlockIsRecognised) {
  void* address = nullptr;
  ASSERT_ACL(aclrtMalloc(&address, 4096, ACL_MEM_MALLOC_HUGE_FIRST));
  ASSERT_ACL(aclrtFree(address));
  char byte = 0;
  EXPECT_NE(aclrtFree(address), ACL_SUCCESS);
  EXPECT_NE(aclrtMemcpy(&byte, 1, address, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
}

TEST_F(Memory, ProgramsMayReadDeviceMemory) {
  NEEDS(host_readable);
  const Block<int> block(counted<int>(8));
  EXPECT_EQ(static_cast<int*>(block.at())[7], 7);
}

using MemoryDeathTest = Memory;

TEST_F(MemoryDeathTest, AProgramThatReadsItOnTheHostIsToldWhatToDo) {
  if (capabilities().host_readable) GTEST_SKIP() << "programs may read it";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(
      {
        const Block<int> block(1024);
        volatile int* const data = static_cast<int*>(block.at());
        data[1] = data[0];
      },
      "aclrtMemcpy");
}

TEST_F(Memory, VirtualMemoryIsMappedAndUsed) {
  NEEDS(shared_memory);
  void* address = nullptr;
  ASSERT_ACL(aclrtReserveMemAddress(&address, size_t{2} << 20, 0, nullptr, 0));
  EXPECT_ACL(aclrtReleaseMemAddress(address));
}

TEST_F(Memory, APoolLendsMemoryInTheOrderOfAStream) {
  aclrtMemPoolProps props = {};
  props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  aclrtMemPool pool = nullptr;
  ASSERT_ACL(aclrtMemPoolCreate(&pool, &props));
  aclrtStream stream = create_stream();
  void* first = nullptr;
  ASSERT_ACL(aclrtMemPoolMallocAsync(&first, 4096, pool, stream));
  EXPECT_ACL(aclrtMemsetAsync(first, 4096, 3, 4096, stream));
  std::vector<uint8_t> got(4096);
  EXPECT_ACL(aclrtMemcpyAsync(got.data(), 4096, first, 4096, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  EXPECT_ACL(aclrtMemPoolFreeAsync(first, stream));
  EXPECT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(got, std::vector<uint8_t>(4096, 3));
  EXPECT_ACL(aclrtMemPoolDestroy(pool));
}

TEST_F(Copies, WordsAreFilledAndPointersInDeviceMemoryFollowed) {
  const Block<uint32_t> block(64);
  EXPECT_ACL(aclrtMemsetD32(block.at(), block.bytes(), 7, 64));
  EXPECT_EQ(block.get(), std::vector<uint32_t>(64, 7));
  const Block<void*> pointers({block.at(), block.at(32)});
  aclrtStream stream = create_stream();
  EXPECT_ACL(aclrtMemsetD32Async(block.at(33), 4, 9, 1, stream));
  EXPECT_ACL(aclrtMemcpyAsyncWithOffset(static_cast<void**>(pointers.at()), 4, 8,
                                        static_cast<const void**>(pointers.at(1)), 4, 4,
                                        ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  EXPECT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(block.get()[2], 9u);
}

TEST_F(Copies, BytesGoToTheDeviceAndBack) {
  for (size_t count : {1u, 63u, 4096u, 1u << 20}) {
    const auto sent = counted<uint8_t>(count, 7);
    EXPECT_EQ(Block<uint8_t>(sent).get(), sent);
  }
}

TEST_F(Copies, InteriorAddressesAndOverlapInsideTheDevice) {
  const Block<int> block(counted<int>(100));
  ASSERT_ACL(aclrtMemcpy(block.at(10), 80 * sizeof(int), block.at(), 80 * sizeof(int),
                         ACL_MEMCPY_DEVICE_TO_DEVICE));
  const auto got = block.get();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(got[i], i < 10 || i >= 90 ? i : i - 10);
}

TEST_F(Copies, FillsSetEveryByteAndNoOther) {
  const Block<uint8_t> block(counted<uint8_t>(300));
  ASSERT_ACL(aclrtMemset(block.at(100), 100, 0xab, 100));
  const auto got = block.get();
  for (size_t i = 0; i < 300; ++i) {
    EXPECT_EQ(got[i], i >= 100 && i < 200 ? 0xab : static_cast<uint8_t>(i));
  }
}

TEST_F(Copies, RowsWithPitches) {
  const auto sent = counted<uint8_t>(16 * 8);
  const Block<uint8_t> block(std::vector<uint8_t>(32 * 8, 0xff));
  ASSERT_ACL(aclrtMemcpy2d(block.at(), 32, sent.data(), 16, 16, 8, ACL_MEMCPY_HOST_TO_DEVICE));
  const auto got = block.get();
  for (size_t i = 0; i < got.size(); ++i) {
    EXPECT_EQ(got[i], i % 32 < 16 ? sent[i / 32 * 16 + i % 32] : 0xff);
  }
}

TEST_F(Copies, AsynchronousCopiesAndFillsKeepTheirOrder) {
  const aclrtStream stream = create_stream();
  const Block<int> a(1000), b(1000);
  const auto sent = counted<int>(1000);
  std::vector<int> got(1000);
  const size_t bytes = a.bytes();
  ASSERT_ACL(
      aclrtMemcpyAsync(a.at(), bytes, sent.data(), bytes, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  ASSERT_ACL(aclrtMemcpyAsync(b.at(), bytes, a.at(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  ASSERT_ACL(aclrtMemsetAsync(a.at(), bytes, 0, bytes, stream));
  ASSERT_ACL(aclrtMemcpyAsync(got.data(), bytes, b.at(), bytes, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(got, sent);
  EXPECT_EQ(a.get(), std::vector<int>(1000));
}

TEST_F(Copies, RowsWithPitchesInStreamOrder) {
  const aclrtStream stream = create_stream();
  const Block<uint8_t> block(counted<uint8_t>(32 * 8));
  std::vector<uint8_t> got(16 * 8);
  ASSERT_ACL(
      aclrtMemcpy2dAsync(got.data(), 16, block.at(), 32, 16, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  for (size_t i = 0; i < got.size(); ++i) EXPECT_EQ(got[i], i / 16 * 32 + i % 16);
}

TEST_F(Copies, BatchesToAndFromTheDevice) {
  const aclrtStream stream = create_stream();
  auto sent = counted<int>(200);
  std::vector<int> got(200);
  const Block<int> a(100), b(100);
  void *device[] = {a.at(), b.at()}, *from[] = {sent.data(), sent.data() + 100},
       *to[] = {got.data(), got.data() + 100};
  size_t sizes[] = {400, 400}, first = 0, failed = SIZE_MAX;
  const aclrtMemLocation host{0, ACL_MEM_LOCATION_TYPE_HOST},
      there{0, ACL_MEM_LOCATION_TYPE_DEVICE};
  aclrtMemcpyBatchAttr in{there, host, {}}, out{host, there, {}};
  ASSERT_ACL(aclrtMemcpyBatch(device, sizes, from, sizes, 2, &in, &first, 1, &failed));
  ASSERT_ACL(aclrtMemcpyBatchAsync(to, sizes, device, sizes, 2, &out, &first, 1, &failed, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(got, sent);
}

TEST_F(Copies, DescribedInDeviceMemory) {
  const aclrtStream stream = create_stream();
  const Block<int> from(counted<int>(100)), to(100);
  size_t bytes = 0;
  ASSERT_ACL(aclrtGetMemcpyDescSize(ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, &bytes));
  const Block<uint8_t> desc(bytes);
  ASSERT_ACL(aclrtSetMemcpyDesc(desc.at(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, from.at(), to.at(),
                                from.bytes(), nullptr));
  ASSERT_ACL(aclrtMemcpyAsyncWithDesc(desc.at(), ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(to.get(), counted<int>(100));
}

TEST_F(Copies, BetweenDevices) {
  uint32_t count = 0;
  ASSERT_ACL(aclrtGetDeviceCount(&count));
  if (count < 2) GTEST_SKIP() << "there is one device";
  const Block<int> here(counted<int>(1000));
  ASSERT_ACL(aclrtSetDevice(1));
  {
    const Block<int> there(1000);
    ASSERT_ACL(aclrtMemcpy(there.at(), there.bytes(), here.at(), here.bytes(),
                           ACL_MEMCPY_DEVICE_TO_DEVICE));
    EXPECT_EQ(there.get(), counted<int>(1000));
  }
  ASSERT_ACL(aclrtResetDevice(1));
  ASSERT_ACL(aclrtSetDevice(0));
  ASSERT_ACL(aclrtResetDevice(0));
}

TEST_F(Copies, ReductionsInStreamOrder) {
  const aclrtStream stream = create_stream();
  const Block<float> to(counted<float>(64)), from(counted<float>(64, 10));
  ASSERT_ACL(aclrtReduceAsync(to.at(), from.at(), to.bytes(), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                              ACL_FLOAT, stream, nullptr));
  ASSERT_ACL(aclrtSynchronizeStream(stream));
  EXPECT_EQ(to.get(), counted<float>(64, 11));
}

}  // namespace
}  // namespace conformance
