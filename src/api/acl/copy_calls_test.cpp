// SPDX-License-Identifier: Apache-2.0
// Copies and fills beyond the single one, symbols, cache descriptions, freeing behind work and
// queries of memory, as C programs call them.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "acl/rt/memory_copy.h"
#include "acl/rt/memory_map.h"
#include "acl/rt/memory_query.h"

namespace anynpu::acl {
namespace {

class CopyCalls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMalloc(&block, 4096, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
    ASSERT_EQ(aclrtMallocHost(&pinned, 4096), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
    EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
  std::vector<uint32_t> words(size_t count) const {
    std::vector<uint32_t> read(count);
    EXPECT_EQ(aclrtMemcpy(read.data(), count * 4, block, count * 4, ACL_MEMCPY_DEVICE_TO_HOST), 0);
    return read;
  }
  void* block = nullptr;
  void* pinned = nullptr;
};

TEST_F(CopyCalls, MemsetD32WritesWords) {
  EXPECT_EQ(aclrtMemsetD32(block, 16, 7, 4), ACL_SUCCESS);
  EXPECT_EQ(words(4), (std::vector<uint32_t>{7, 7, 7, 7}));
  EXPECT_EQ(aclrtMemsetD32(block, 15, 7, 4), ACL_ERROR_RT_PARAM_INVALID) << "bytes >= 4N";
  EXPECT_EQ(aclrtMemsetD32(pinned, 8, 9, 2), ACL_SUCCESS);
  EXPECT_EQ(static_cast<uint32_t*>(pinned)[1], 9u);
  uint32_t own[2];
  EXPECT_EQ(aclrtMemsetD32(own, 8, 9, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetD32Async(block, 16, 5, 2, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetD32Async(pinned, 8, 3, 2, nullptr), ACL_SUCCESS);
  EXPECT_EQ(static_cast<uint32_t*>(pinned)[0], 3u) << "host memory is set at once";
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(words(4), (std::vector<uint32_t>{5, 5, 7, 7}));
}

TEST_F(CopyCalls, BatchesOfVersion2HaveNoFailIndex) {
  uint32_t from[2] = {1, 2};
  void* dsts[] = {block, static_cast<char*>(block) + 4};
  void* srcs[] = {&from[0], &from[1]};
  size_t room[] = {4, 4}, sizes[] = {4, 4}, indexes[] = {0};
  aclrtMemcpyBatchAttr attr = {};
  attr.dstLoc = {0, ACL_MEM_LOCATION_TYPE_DEVICE};
  attr.srcLoc = {0, ACL_MEM_LOCATION_TYPE_HOST};
  EXPECT_EQ(aclrtMemcpyBatchV2(dsts, room, srcs, sizes, 2, &attr, indexes, 1), ACL_SUCCESS);
  EXPECT_EQ(words(2), (std::vector<uint32_t>{1, 2}));
  from[1] = 8;
  EXPECT_EQ(aclrtMemcpyBatchAsyncV2(dsts, room, srcs, sizes, 2, &attr, indexes, 1, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(words(2), (std::vector<uint32_t>{1, 8}));
  indexes[0] = 1;
  EXPECT_EQ(aclrtMemcpyBatchV2(dsts, room, srcs, sizes, 2, &attr, indexes, 1),
            ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyCalls, OffsetsAreAddedToPointersInDeviceMemory) {
  auto* bytes = static_cast<char*>(block);
  void* pointers[2] = {bytes + 1024, bytes + 2048};
  const uint32_t value = 99;
  EXPECT_EQ(aclrtMemcpy(block, 16, pointers, 16, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemcpy(bytes + 2048 + 8, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE), ACL_SUCCESS);
  auto** dst = reinterpret_cast<void**>(bytes);
  auto** src = reinterpret_cast<const void**>(bytes + 8);
  EXPECT_EQ(
      aclrtMemcpyAsyncWithOffset(dst, 4, 4, src, 4, 8, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, nullptr),
      ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  uint32_t read = 0;
  EXPECT_EQ(aclrtMemcpy(&read, 4, bytes + 1024 + 4, 4, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(read, 99u);
  EXPECT_EQ(aclrtMemcpyAsyncWithOffset(dst, 4, 4, src, 4, 8, ACL_MEMCPY_DEVICE_TO_DEVICE, nullptr),
            ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyCalls, UnknownSymbolsAre107043AndBadInput100000) {
  static int variable;
  void* address = nullptr;
  size_t size = 0;
  EXPECT_EQ(aclrtGetSymbolAddress(&variable, &address), ACL_ERROR_RT_INVALID_SYMBOL);
  EXPECT_EQ(aclrtGetSymbolSize(&variable, &size), ACL_ERROR_RT_INVALID_SYMBOL);
  EXPECT_EQ(aclrtGetSymbolAddress(nullptr, &address), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetSymbolSize(&variable, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyToSymbol(&variable, &size, 4, 0, ACL_MEMCPY_HOST_TO_DEVICE),
            ACL_ERROR_RT_INVALID_SYMBOL);
  EXPECT_EQ(aclrtMemcpyToSymbol(&variable, &size, 4, 0, ACL_MEMCPY_DEVICE_TO_HOST),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyFromSymbol(&size, 4, &variable, 4, 0, ACL_MEMCPY_DEFAULT),
            ACL_ERROR_RT_INVALID_SYMBOL);
  EXPECT_EQ(aclrtMemcpyToSymbolAsync(&variable, nullptr, 4, 0, ACL_MEMCPY_DEFAULT, nullptr),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyFromSymbolAsync(&size, 4, nullptr, 4, 0, ACL_MEMCPY_DEFAULT, nullptr),
            ACL_ERROR_INVALID_PARAM);
}

TEST_F(CopyCalls, CacheDescriptionsTakePrefetchAlone) {
  size_t size = 0;
  EXPECT_EQ(aclrtCmoGetDescSize(&size), ACL_SUCCESS);
  ASSERT_LE(size, 1024u);
  EXPECT_EQ(aclrtCmoSetDesc(block, static_cast<char*>(block) + 1024, 512), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoAsyncWithDesc(block, ACL_RT_CMO_TYPE_PREFETCH, nullptr, nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtCmoAsyncWithDesc(block, ACL_RT_CMO_TYPE_INVALID, nullptr, nullptr),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCmoAsyncWithDesc(block, ACL_RT_CMO_TYPE_PREFETCH, nullptr, block),
            ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyCalls, FreeWithDevSyncWaitsForTheDevice) {
  void *device = nullptr, *host = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&host, 64), ACL_SUCCESS);
  aclrtStream stream = nullptr;
  ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(device, 1 << 20, 1, 1 << 20, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeWithDevSync(device), ACL_SUCCESS);
  aclrtStreamStatus status;
  EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtFreeWithDevSync(nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreeHostWithDevSync(host), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
}

TEST_F(CopyCalls, AnAddressIsFoundInItsBlock) {
  void* base = nullptr;
  size_t size = 0;
  EXPECT_EQ(aclrtMemGetAddressRange(static_cast<char*>(block) + 100, &base, &size), ACL_SUCCESS);
  EXPECT_EQ(base, block);
  EXPECT_GE(size, 4096u);
  EXPECT_EQ(aclrtMemGetAddressRange(pinned, &base, nullptr), ACL_SUCCESS);
  EXPECT_EQ(base, pinned);
  EXPECT_EQ(aclrtMemGetAddressRange(block, nullptr, nullptr), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemGetAddressRange(&size, &base, &size), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(CopyCalls, UsageTypesAndCapabilities) {
  aclrtMemUsageInfo infos[4];
  size_t got = 0;
  EXPECT_EQ(aclrtGetMemUsageInfo(0, infos, 4, &got), ACL_SUCCESS);
  ASSERT_GE(got, 1u);
  EXPECT_STRNE(infos[0].name, "");
  for (size_t i = 1; i < got; ++i) EXPECT_GE(infos[i - 1].curMemSize, infos[i].curMemSize);
  EXPECT_EQ(aclrtGetMemUsageInfo(0, infos, 1, &got), ACL_SUCCESS);
  EXPECT_EQ(got, 1u);
  EXPECT_EQ(aclrtGetMemUsageInfo(77, infos, 1, &got), ACL_ERROR_RT_INVALID_DEVICEID);
  void* addresses[] = {block, static_cast<char*>(block) + 8};
  uint32_t ok = 7;
  EXPECT_EQ(aclrtCheckMemType(addresses, 2, 2, &ok, 0), ACL_SUCCESS);
  EXPECT_EQ(ok, 1u);
  addresses[1] = pinned;
  EXPECT_EQ(aclrtCheckMemType(addresses, 2, 2 | 8 | 16, &ok, 0), ACL_SUCCESS);
  EXPECT_EQ(ok, 0u);
  EXPECT_EQ(aclrtCheckMemType(addresses, 2, 2, &ok, 1), ACL_ERROR_RT_PARAM_INVALID);
  aclrtHostMemMapCapability capability = ACL_RT_HOST_MEM_MAP_NOT_SUPPORTED;
  EXPECT_EQ(aclrtHostMemMapCapabilities(0, ACL_RT_HAC_TYPE_AIC, &capability), ACL_SUCCESS);
  EXPECT_EQ(capability, ACL_RT_HOST_MEM_MAP_SUPPORTED);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtDeviceL2CacheFlush(block), ACL_ERROR_INVALID_PARAM);
}

}  // namespace
}  // namespace anynpu::acl
