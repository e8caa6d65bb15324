// SPDX-License-Identifier: Apache-2.0
// Pools, managed memory, access to mapped memory and its sharing, as C programs call them.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

#include "acl/acl.h"
#include "acl/acl_rt_memory_soma.h"
#include "acl/rt/managed_memory.h"
#include "acl/rt/memory_map.h"
#include "acl/rt/shared_memory.h"
#include "base/align.h"

namespace anynpu::acl {
namespace {

constexpr size_t kMiB = size_t{1} << 20;
constexpr size_t kPage = 2 * kMiB;

class MemoryCalls : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
  }
  static aclrtMemPoolProps pool_props() {
    aclrtMemPoolProps props = {};
    props.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return props;
  }
  static aclrtPhysicalMemProp physical_prop() {
    aclrtPhysicalMemProp prop = {};
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return prop;
  }
  static uint64_t attribute(aclrtMemPool pool, aclrtMemPoolAttr which) {
    uint64_t value = 0;
    EXPECT_EQ(aclrtMemPoolGetAttr(pool, which, &value), ACL_SUCCESS);
    return value;
  }
  aclrtStream stream = nullptr;
};

TEST_F(MemoryCalls, APoolLendsInTheOrderOfAStream) {
  const aclrtMemPoolProps props = pool_props();
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  void *block = nullptr, *again = nullptr;
  ASSERT_EQ(aclrtMemPoolMallocAsync(&block, 1 << 20, pool, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(block, 1 << 20, 1, 1 << 20, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID) << "the pool's";
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT), uint64_t{1} << 20);
  EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolFreeAsync(block, stream), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemPoolMallocAsync(&again, 1 << 20, pool, stream), ACL_SUCCESS);
  EXPECT_EQ(again, block) << "reuse within a stream";
  EXPECT_EQ(aclrtMemPoolFreeAsync(again, stream), ACL_SUCCESS);
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), uint64_t{1} << 20);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 0u) << "threshold 0";
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH), uint64_t{1} << 20);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_ERROR_RT_INVALID_HANDLE);
}

TEST_F(MemoryCalls, APoolHasALimitAndItsBlocksFollowEvents) {
  aclrtMemPoolProps props = pool_props();
  props.maxSize = 4 * kMiB;
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  void *first = nullptr, *second = nullptr;
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  ASSERT_EQ(aclrtCreateStream(&other), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateEventExWithFlag(&event, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolMallocAsync(&first, 3 * kMiB, pool, stream), ACL_SUCCESS);
  EXPECT_NE(aclrtMemPoolMallocAsync(&second, 3 * kMiB, pool, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolFreeAsync(first, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolMallocAsync(&second, 3 * kMiB, pool, other), ACL_SUCCESS);
  EXPECT_EQ(second, first);
  EXPECT_EQ(aclrtMemPoolFreeAsync(second, other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(MemoryCalls, AttributesOfAPool) {
  const aclrtMemPoolProps props = pool_props();
  aclrtMemPool pool = nullptr;
  ASSERT_EQ(aclrtMemPoolCreate(&pool, &props), ACL_SUCCESS);
  uint64_t threshold = 8 * kMiB, zero = 0, one = 1;
  uint32_t off = 0, read = 7;
  EXPECT_EQ(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD, &threshold), 0);
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_RELEASE_THRESHOLD), 8 * kMiB);
  EXPECT_EQ(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &off), 0);
  EXPECT_EQ(aclrtMemPoolGetAttr(pool, ACL_RT_MEM_POOL_REUSE_ALLOW_OPPORTUNISTIC, &read), 0);
  EXPECT_EQ(read, 0u);
  EXPECT_EQ(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_CURRENT, &zero),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &one),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemPoolSetAttr(pool, ACL_RT_MEM_POOL_ATTR_USED_MEM_HIGH, &zero), ACL_SUCCESS);
  void *kept = nullptr, *freed = nullptr;
  ASSERT_EQ(aclrtMemPoolMallocAsync(&kept, kMiB, pool, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtMemPoolMallocAsync(&freed, kMiB, pool, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolFreeAsync(freed, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), 2 * kMiB);
  EXPECT_EQ(aclrtMemPoolTrimTo(pool, 0), ACL_SUCCESS);
  EXPECT_EQ(attribute(pool, ACL_RT_MEM_POOL_ATTR_RESERVED_MEM_CURRENT), kMiB) << "one is in use";
  EXPECT_EQ(aclrtMemPoolFreeAsync(kept, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemPoolMallocAsync(&kept, 0, pool, stream), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemPoolDestroy(pool), ACL_SUCCESS);
  aclrtMemPoolProps wrong = props;
  wrong.reserved[31] = 1;
  EXPECT_EQ(aclrtMemPoolCreate(&pool, &wrong), ACL_ERROR_RT_PARAM_INVALID);
  wrong = props;
  wrong.location.type = ACL_MEM_LOCATION_TYPE_HOST;
  EXPECT_EQ(aclrtMemPoolCreate(&pool, &wrong), ACL_ERROR_RT_PARAM_INVALID);
}

TEST_F(MemoryCalls, ManagedMemoryIsValidOnBothSides) {
  void* block = nullptr;
  EXPECT_EQ(aclrtMemAllocManaged(&block, 0, ACL_RT_MEM_ATTACH_GLOBAL), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemAllocManaged(&block, 1, 2), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemAllocManaged(&block, 1, ACL_RT_MEM_ATTACH_GLOBAL), ACL_SUCCESS);
  std::memset(block, 5, kPage);
  EXPECT_EQ(aclrtMemsetAsync(block, kPage, 6, 8, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(static_cast<char*>(block)[7], 6);
  EXPECT_EQ(static_cast<char*>(block)[8], 5);
  const aclrtMemManagedLocation device = {ACL_MEM_LOCATIONTYPE_DEVICE, 0};
  EXPECT_EQ(aclrtMemManagedAdvise(block, kPage, ACL_MEM_ADVISE_SET_PREFERRED_LOCATION, device), 0);
  EXPECT_EQ(aclrtMemManagedAdvise(block, 4096, ACL_MEM_ADVISE_SET_READ_MOSTLY, device),
            ACL_ERROR_RT_PARAM_INVALID);
  int32_t place = 7, mostly = 7;
  EXPECT_EQ(
      aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, block, kPage, &place, 4),
      ACL_SUCCESS);
  EXPECT_EQ(place, 0);
  aclrtMemManagedRangeAttribute which[] = {ACL_MEM_RANGE_ATTRIBUTE_READ_MOSTLY,
                                           ACL_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE};
  void* data[] = {&mostly, &place};
  size_t sizes[] = {4, 4};
  EXPECT_EQ(aclrtMemManagedGetAttrs(which, 2, block, kPage, data, sizes), ACL_SUCCESS);
  EXPECT_EQ(mostly, 0);
  EXPECT_EQ(place, ACL_MEM_LOCATIONTYPE_DEVICE);
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(block, kPage, device, 0, stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(block, 1, device, 0, stream), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemManagedPrefetchAsync(block, kPage, device, 1, stream), ACL_ERROR_INVALID_PARAM);
  const void* ranges[] = {block};
  size_t lengths[] = {kPage}, indexes[] = {0};
  aclrtMemManagedLocation places[] = {device};
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(ranges, lengths, 1, places, indexes, 1, 0, stream),
            ACL_SUCCESS);
  indexes[0] = 1;
  EXPECT_EQ(aclrtMemManagedPrefetchBatchAsync(ranges, lengths, 1, places, indexes, 1, 0, stream),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemManagedGetAttr(ACL_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, block, kPage,
                                   &place, 4),
            ACL_SUCCESS);
  EXPECT_EQ(place, 0);
  EXPECT_EQ(aclrtFree(block), ACL_SUCCESS);
}

TEST_F(MemoryCalls, WithoutAccessMappedMemoryIsUnusable) {
  void* address = nullptr;
  aclrtDrvMemHandle handle = nullptr, same = nullptr;
  const aclrtPhysicalMemProp prop = physical_prop();
  ASSERT_EQ(aclrtReserveMemAddress(&address, 2 * kPage, 0, nullptr, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocPhysical(&handle, kPage, &prop, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemMapNoAccess(nullptr, kPage, 0, handle, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemMapNoAccess(address, 0, 0, handle, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemMapNoAccess(address, kPage, 0, nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemMapNoAccess(address, kPage, 0, handle, 1), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtMemMapNoAccess(address, kPage, 0, handle, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(address, kPage, 1, 8), ACL_ERROR_RT_PARAM_INVALID);
  aclrtMemAccessDesc desc = {};
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READ;
  desc.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  EXPECT_EQ(aclrtMemSetAccess(address, kPage, &desc, 1), ACL_ERROR_RT_PARAM_INVALID);
  desc.flags = ACL_RT_MEM_ACCESS_FLAGS_READWRITE;
  EXPECT_EQ(aclrtMemSetAccess(address, kMiB, &desc, 1), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtMemSetAccess(address, kPage, &desc, 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemset(address, kPage, 1, 8), ACL_SUCCESS);
  aclrtMemLocation host = {0, ACL_MEM_LOCATION_TYPE_HOST};
  uint64_t flag = 9;
  EXPECT_EQ(aclrtMemGetAccess(address, &desc.location, &flag), ACL_SUCCESS);
  EXPECT_EQ(flag, 3u);
  EXPECT_EQ(aclrtMemGetAccess(address, &host, &flag), ACL_SUCCESS);
  EXPECT_EQ(flag, 0u);
  EXPECT_EQ(aclrtMemRetainAllocationHandle(address, &same), ACL_SUCCESS);
  aclrtPhysicalMemProp read = {};
  EXPECT_EQ(aclrtMemGetAllocationPropertiesFromHandle(same, &read), ACL_SUCCESS);
  EXPECT_EQ(read.memAttr, ACL_HBM_MEM_HUGE);
  EXPECT_EQ(read.location.type, ACL_MEM_LOCATION_TYPE_DEVICE);
  EXPECT_EQ(aclrtUnmapMem(address), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(same), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS) << "once for each";
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_ERROR_RT_INVALID_HANDLE);
  EXPECT_EQ(aclrtReleaseMemAddress(address), ACL_SUCCESS);
}

// As an allocator does whose segments grow.
TEST_F(MemoryCalls, MemoryMappedBehindEachOtherIsOneRange) {
  void* address = nullptr;
  aclrtDrvMemHandle handles[2] = {};
  const aclrtPhysicalMemProp prop = physical_prop();
  const size_t each = size_t{2} << 20;
  ASSERT_EQ(aclrtReserveMemAddress(&address, 2 * each, 0, nullptr, 1), ACL_SUCCESS);
  auto* second = static_cast<char*>(address) + each;
  for (int i = 0; i < 2; ++i) {
    ASSERT_EQ(aclrtMallocPhysical(&handles[i], each, &prop, 0), ACL_SUCCESS);
    ASSERT_EQ(aclrtMapMem(i ? second : address, each, 0, handles[i], 0), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtMemset(address, 2 * each, 7, 2 * each), ACL_SUCCESS);
  char seen = 0;
  EXPECT_EQ(aclrtMemcpy(&seen, 1, second + each - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(seen, 7);
  EXPECT_NE(aclrtMemset(address, 2 * each + 1, 7, 2 * each + 1), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(second), ACL_SUCCESS);
  EXPECT_NE(aclrtMemset(address, 2 * each, 7, 2 * each), ACL_SUCCESS);
  EXPECT_EQ(aclrtUnmapMem(address), ACL_SUCCESS);
  for (aclrtDrvMemHandle handle : handles) EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtReleaseMemAddress(address), ACL_SUCCESS);
}

// As an allocator asks at import whether segments can grow.
TEST(MemoryCallsWithoutDevice, AddressesAreReservedWithoutAContext) {
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  aclrtContext context = nullptr;
  EXPECT_NE(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  void* address = nullptr;
  ASSERT_EQ(aclrtReserveMemAddress(&address, 0x200, 0, nullptr, 1), ACL_SUCCESS);
  EXPECT_NE(address, nullptr);
  EXPECT_EQ(aclrtReleaseMemAddress(address), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

// A multiple of `bytes` with as many free bytes behind it.
void* free_place(size_t bytes) {
  void* const found =
      mmap(nullptr, 2 * bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  EXPECT_NE(found, MAP_FAILED);
  munmap(found, 2 * bytes);
  return reinterpret_cast<void*>(round_up(reinterpret_cast<uintptr_t>(found), uintptr_t{bytes}));
}

TEST_F(MemoryCalls, PlacesAndLinks) {
  const size_t giga = size_t{1} << 30;
  void *address = nullptr, *expected = free_place(giga);
  EXPECT_EQ(aclrtReserveMemAddressNoUCMemory(&address, giga, 0, nullptr, 0),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtReserveMemAddressNoUCMemory(&address, kMiB, 0, expected, 0),
            ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtReserveMemAddressNoUCMemory(&address, giga, 0, expected, 0), ACL_SUCCESS);
  EXPECT_EQ(address, expected);
  EXPECT_EQ(aclrtReserveMemAddressNoUCMemory(&address, giga, 0, expected, 0),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtReleaseMemAddress(expected), ACL_SUCCESS);
  void *source = nullptr, *target = nullptr;
  aclrtDrvMemHandle handle = nullptr;
  const aclrtPhysicalMemProp prop = physical_prop();
  ASSERT_EQ(aclrtReserveMemAddress(&source, kPage, 0, nullptr, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtReserveMemAddress(&target, kPage, 0, nullptr, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocPhysical(&handle, kPage, &prop, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMapMem(source, kPage, 0, handle, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemMapSelectedLink(target, kPage, source, 7),
            ACL_ERROR_RT_LINK_TYPE_NOT_SUPPORTED);
  EXPECT_EQ(aclrtMemMapSelectedLink(target, kPage, source, ACL_RT_MEM_ACCESS_LINK_HCCS), 0);
  EXPECT_EQ(aclrtMemset(source, kPage, 3, 1), ACL_SUCCESS);
  uint8_t byte = 0;
  EXPECT_EQ(aclrtMemcpy(&byte, 1, target, 1, ACL_MEMCPY_DEVICE_TO_HOST), ACL_SUCCESS);
  EXPECT_EQ(byte, 3);
  EXPECT_EQ(aclrtMemMapSetLink(nullptr, ACL_RT_MEM_ACCESS_LINK_SIO), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemMapSetLink(handle, ACL_RT_MEM_ACCESS_LINK_SIO),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtMemP2PMap(source, kPage, 0, 0), ACL_ERROR_RT_PARAM_INVALID) << "no peer access";
  for (void* each : {source, target}) {
    EXPECT_EQ(aclrtUnmapMem(each), ACL_SUCCESS);
    EXPECT_EQ(aclrtReleaseMemAddress(each), ACL_SUCCESS);
  }
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
}

TEST_F(MemoryCalls, OtherServersAndOtherLinksAreNotReached) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, kPage, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  char key[65] = {};
  ASSERT_EQ(aclrtIpcMemGetExportKey(memory, kPage, key, sizeof key, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 1),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_NE(aclrtIpcMemSetAttr(key, ACL_RT_IPC_MEM_ATTR_ACCESS_LINK, 9), ACL_SUCCESS);
  int32_t pid = 1;
  aclrtServerPid server{0, &pid, 1};
  EXPECT_EQ(aclrtIpcMemImportPidInterServer(key, &server, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_NE(std::string(aclGetRecentErrMsg()).find("aclrtIpcMemSetImportPid"), std::string::npos);
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtNotifySetImportPidInterServer(notify, &server, 1),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_SUCCESS);
  EXPECT_EQ(aclrtIpcMemClose(key), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
}

TEST_F(MemoryCalls, AHandleIsExportedOnceAndImportedElsewhere) {
  aclrtDrvMemHandle handle = nullptr, other = nullptr, imported = nullptr;
  const aclrtPhysicalMemProp prop = physical_prop();
  ASSERT_EQ(aclrtMallocPhysical(&handle, kPage, &prop, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocPhysical(&other, kPage, &prop, 0), ACL_SUCCESS);
  uint64_t number = 0;
  aclrtMemFabricHandle fabric;
  EXPECT_EQ(
      aclrtMemExportToShareableHandleV2(handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &number),
      ACL_SUCCESS);
  EXPECT_EQ(
      aclrtMemExportToShareableHandleV2(handle, 0, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &number),
      ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemExportToShareableHandleV2(other, 1, ACL_MEM_SHARE_HANDLE_TYPE_FABRIC, &fabric),
            ACL_SUCCESS);
  int32_t pid = 0;
  ASSERT_EQ(aclrtDeviceGetBareTgid(&pid), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemSetPidToShareableHandleV2(&number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, &pid, 1),
            ACL_SUCCESS);
  EXPECT_EQ(
      aclrtMemImportFromShareableHandleV2(&number, ACL_MEM_SHARE_HANDLE_TYPE_DEFAULT, 0, &imported),
      ACL_ERROR_RT_PARAM_INVALID)
      << "in one process";
  EXPECT_EQ(aclrtMemExportToShareableHandleV2(other, 1, static_cast<aclrtMemSharedHandleType>(3),
                                              &number),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtFreePhysical(handle), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreePhysical(other), ACL_SUCCESS);
}

}  // namespace
}  // namespace anynpu::acl
